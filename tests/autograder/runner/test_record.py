"""A submission is recorded whole or not at all, whatever kills the writer. A person's work is left alone."""

import os
import signal
import sqlite3
import stat
import sys
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import OperationalError

from autograder.course import Course
from autograder.runner.record import RecordError

from .conftest import CHECK, LAB, WRITTEN, Begin, grades, outcome

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own
DUE = datetime(2026, 5, 1)


def test_an_outcome_becomes_rows_and_a_folder(course: Course, recorder: Begin) -> None:
    begun = recorder()
    assert not begun.has("ada")
    begun.record(outcome(), "d1")
    assert begun.has("ada")
    assert grades(course) == {"ada": {CHECK: (7.0, None, False), WRITTEN: (None, None, True)}}
    folder = course.folder("autograded", LAB, "ada")
    assert sorted(p.name for p in folder.iterdir()) == ["data", f"{LAB}.ipynb"]
    assert (folder / "data/notes.txt").read_text() == "Because."
    assert stat.S_IMODE((folder / f"{LAB}.ipynb").stat().st_mode) == 0o444


def test_another_grade_takes_the_place_of_the_first(course: Course, recorder: Begin) -> None:
    begun = recorder()
    begun.record(outcome(points=2.0, answer="?"), "d1")
    begun.record(outcome(points=7.0), "d2")
    assert grades(course)["ada"][CHECK] == (7.0, None, False)
    assert (course.folder("autograded", LAB, "ada") / "data/notes.txt").read_text() == "Because."


def test_what_a_person_gave_is_left_alone(course: Course, recorder: Begin) -> None:
    begun = recorder()
    begun.record(outcome(points=2.0), "d1")
    with course.gradebook() as gradebook:
        written = gradebook.find_grade(WRITTEN, LAB, LAB, "ada")
        written.manual_score, written.extra_credit, written.needs_manual_grade = 2.5, 1.0, False
        gradebook.find_comment(WRITTEN, LAB, LAB, "ada").manual_comment = "Nearly."
        gradebook.db.commit()
    recorder().record(outcome(points=7.0), "d1")
    with course.gradebook() as gradebook:
        written = gradebook.find_grade(WRITTEN, LAB, LAB, "ada")
        assert (written.manual_score, written.extra_credit, written.needs_manual_grade) == (2.5, 1.0, False)
        assert gradebook.find_comment(WRITTEN, LAB, LAB, "ada").comment == "Nearly."
        assert gradebook.find_submission(LAB, "ada").score == 7.0 + 2.5 + 1.0


def test_another_answer_waits_for_the_person_who_judged_the_last_one(course: Course, recorder: Begin) -> None:
    begun = recorder()
    begun.record(outcome(), "d1")
    with course.gradebook() as gradebook:
        written = gradebook.find_grade(WRITTEN, LAB, LAB, "ada")
        written.manual_score, written.needs_manual_grade = 2.5, False
        gradebook.db.commit()
    recorder().record(outcome(answer="Because of the seed."), "d2")
    assert grades(course)["ada"][WRITTEN] == (None, 2.5, True)


def late(course: Course, student: str = "ada") -> float | None:
    with course.gradebook() as gradebook:
        (book,) = gradebook.find_submission(LAB, student).notebooks
        return book.late_submission_penalty


def set_due(course: Course, due: datetime | None) -> None:
    with course.gradebook() as gradebook:
        gradebook.find_assignment(LAB).duedate = due
        gradebook.db.commit()


def test_a_late_penalty_follows_the_due_date(course: Course, recorder: Begin) -> None:
    course.config.LateSubmissionPlugin.penalty_method = "zero"
    set_due(course, DUE)
    recorder().record(outcome(submitted=DUE + timedelta(hours=1)), "d1")
    assert late(course) == 7.0
    set_due(course, DUE + timedelta(days=1))
    assert recorder().penalize("ada")
    assert late(course) is None
    assert not recorder().penalize("ada")
    set_due(course, DUE - timedelta(days=1))
    assert recorder().penalize("ada")
    assert late(course) == 7.0
    set_due(course, None)
    recorder().record(outcome(), "d1")
    assert late(course) is None


def test_an_extension_counts(course: Course, recorder: Begin) -> None:
    course.config.LateSubmissionPlugin.penalty_method = "zero"
    set_due(course, DUE)
    recorder().record(outcome(submitted=DUE + timedelta(hours=1)), "d1")
    with course.gradebook() as gradebook:
        gradebook.grant_extension(LAB, "ada", hours=2)
    recorder().penalize("ada")
    assert late(course) is None
    with course.gradebook() as gradebook:  # with an extension and without a due date nobody is late
        gradebook.find_assignment(LAB).duedate = None
        gradebook.db.commit()
    assert not recorder().penalize("ada")


def test_a_release_with_one_more_exercise_gives_every_submission_a_row_for_it(
    course: Course, recorder: Begin
) -> None:
    recorder().record(outcome(), "d1")
    with course.gradebook() as gradebook:
        gradebook.add_grade_cell("check-more", LAB, LAB, max_score=1, cell_type="code")
    recorder().record(outcome(), "d1")
    assert set(grades(course)["ada"]) == {CHECK, WRITTEN, "check-more"}


def test_students_are_not_made_up_where_the_course_forbids_it(course: Course, recorder: Begin) -> None:
    course.config.Autograde.create_student = False
    with pytest.raises(RecordError, match="ada is not in the gradebook"):
        recorder().record(outcome(), "d1")
    assert grades(course) == {}


def test_a_gradebook_that_is_locked_for_a_moment_is_asked_again(
    course: Course, recorder: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.runner.record.PAUSE_S", 0.0)
    begun, locked = recorder(), [True, True]

    def refuse(*_: Any) -> None:
        if locked and locked.pop():
            raise OperationalError("COMMIT", {}, sqlite3.OperationalError("database is locked"))

    event.listen(begun._gradebook.db, "before_commit", refuse)
    begun.record(outcome(), "d1")
    assert grades(course)["ada"][CHECK] == (7.0, None, False)
    assert (course.folder("autograded", LAB, "ada") / f"{LAB}.ipynb").is_file()


def test_a_gradebook_that_stays_locked_says_so_and_nothing_is_recorded(
    course: Course, recorder: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.runner.record.PAUSE_S", 0.0)
    begun = recorder()
    with closing(sqlite3.connect(course.root / "gradebook.db", isolation_level=None)) as other:
        other.execute("PRAGMA busy_timeout = 0")
        begun._gradebook.db.execute(text("PRAGMA busy_timeout = 0"))
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(RecordError, match="database is locked"):
            begun.record(outcome(), "d1")
    assert grades(course) == {}


class Killed:
    """Kills this process at its `when`-th chance: an open file, a rename, a removal, a commit."""

    EVENTS = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod")

    def __init__(self, when: int) -> None:
        self._left = when

    def chance(self, *_: Any) -> None:
        self._left -= 1
        if self._left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(self, name: str, _: Any) -> None:
        if name in self.EVENTS:
            self.chance()


def recorded_and_killed(course: Course, begin: Begin, when: int) -> bool:
    """Record in a fork that is killed at its `when`-th chance; whether it was."""
    begin.stop()  # what is open is not to be in two processes
    child = os.fork()
    if child == 0:
        try:
            begun = begin()
            killed = Killed(when)
            event.listen(begun._gradebook.db, "before_commit", killed.chance)
            event.listen(begun._gradebook.db, "after_commit", killed.chance)
            sys.addaudithook(killed.hook)
            begun.record(outcome(points=7.0, answer="New."), "d2")
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.slow
def test_killed_at_any_moment_the_next_run_ends_as_if_nothing_had_happened(
    course: Course, recorder: Begin
) -> None:
    """Each step of recording over an older grade, from the first file to the last."""
    begun = recorder()
    begun.record(outcome(points=2.0, answer="Old."), "d1")
    before = grades(course)
    folder = course.folder("autograded", LAB, "ada")
    seen = set()
    for when in range(1000):
        killed = recorded_and_killed(course, recorder, when)
        now = grades(course)
        seen.add(now == before)
        assert now["ada"][CHECK][0] in (2.0, 7.0), "half of a grade"
        if not killed:
            break
        again = recorder()
        if again._ledger.graded("ada") != "d2":
            assert folder.is_dir(), "neither the old folder nor the new one is there"
            again.record(outcome(points=7.0, answer="New."), "d2")
        assert grades(course) == {"ada": {CHECK: (7.0, None, False), WRITTEN: (None, None, True)}}
        assert (folder / "data/notes.txt").read_text() == "New."
        again.record(outcome(points=2.0, answer="Old."), "d1")
        assert again._ledger.graded("ada") == "d1"
    assert when > 15
    assert seen == {True, False}
