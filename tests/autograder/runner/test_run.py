"""Who is graded, and what a worker that dies or never ends takes along: with made-up workers."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.course import Course
from autograder.runner import run
from autograder.runner.job import Job, Outcome
from autograder.runner.places import Place
from autograder.runner.run import Begun, Done, RunError, Wish, grade

from .conftest import CHECK, LAB, grades, outcome

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own


class MadeUp(Executor, Place):
    """Workers that grade at once. One who gets a `killer` dies, and the pool with it; `stuck` never ends."""

    def __init__(self, *, killers: Sequence[str] = (), stuck: Sequence[str] = (), many: int = 2) -> None:
        self.executor, self.many = self, many
        self.killers, self.stuck = killers, stuck
        self.asked: list[str] = []
        self.most, self._running, self._broken, self.renewed = 0, 0, False, 0

    def submit(self, function: Callable[..., Outcome], job: Job, /) -> Future[Outcome]:  # type: ignore[override]
        if self._broken:
            raise BrokenProcessPool
        future: Future[Outcome] = Future()
        self.asked.append(job.student)
        self._broken = job.student in self.killers
        if self._broken:
            future.set_exception(BrokenProcessPool())
        elif job.student not in self.stuck:
            future.set_result(function(job))
        return future

    def renew(self) -> None:
        self._broken = False
        self.renewed += 1

    def close(self) -> None:
        pass

    def stop(self) -> None:
        pass


@pytest.fixture
def class_(course: Course, monkeypatch: pytest.MonkeyPatch) -> Course:
    """Four submissions of the course's lab; a worker gives seven points to each that can be read."""
    monkeypatch.setenv("LASTGOOD_UNSAFE", "1")
    (course.root / "release" / LAB).mkdir(parents=True)
    for student in "ada", "bob", "chi", "dov":
        hand_in(course, student, "{}")
    monkeypatch.setattr(run, "work", graded)
    return course


def hand_in(course: Course, student: str, text: str) -> None:
    path = course.folder("submitted", LAB, student) / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def graded(job: Job) -> Outcome:
    (notebook,) = job.parcel
    if notebook.content == b"bad":
        return Outcome(job.student, fault="ValueError: bad", log="a long story\n")
    return replace(outcome(job.student, answer=notebook.content.decode()), notes=("Seen.",))


def events(course: Course, place: Place, **wish: Any) -> tuple[Begun, list[Done]]:
    begun, *done = grade(course, LAB, place, Wish(**wish))
    assert isinstance(begun, Begun)
    return begun, done


def test_everybody_who_has_submitted_is_graded_and_recorded(class_: Course) -> None:
    begun, done = events(class_, MadeUp())
    assert begun.students == ("ada", "bob", "chi", "dov")
    assert [(each.student, each.fault, each.notes) for each in done] == [
        (name, "", ("Seen.",)) for name in begun.students
    ]
    assert {name: row[CHECK][0] for name, row in grades(class_).items()} == dict.fromkeys(begun.students, 7.0)


def test_who_was_graded_from_the_same_files_is_passed_over(class_: Course) -> None:
    events(class_, MadeUp())
    hand_in(class_, "bob", "{ }")
    begun, done = events(class_, MadeUp())
    assert begun.before == ("ada", "chi", "dov")
    assert [each.student for each in done] == ["bob"]
    begun, done = events(class_, MadeUp(), again=True)
    assert begun.before == ()
    assert len(done) == 4


@pytest.mark.parametrize("gone", ["folder", "gradebook"])
def test_a_grade_of_which_a_part_is_gone_is_made_again(
    class_: Course, empty_gradebook: Path, gone: str
) -> None:
    events(class_, MadeUp())
    if gone == "folder":
        class_.folder("autograded", LAB, "chi").rename(class_.root / "elsewhere")
    else:
        (class_.root / "gradebook.db").write_bytes(empty_gradebook.read_bytes())
    begun, _ = events(class_, MadeUp())
    assert begun.students == (("chi",) if gone == "folder" else ("ada", "bob", "chi", "dov"))


def test_one_that_cannot_be_graded_is_reported_and_does_not_stop_the_rest(class_: Course) -> None:
    hand_in(class_, "bob", "bad")
    _, done = events(class_, MadeUp())
    assert [each.fault for each in done] == ["", "ValueError: bad", "", ""]
    assert set(grades(class_)) == {"ada", "chi", "dov"}
    assert (class_.root / "logs/bob.log").read_text() == "a long story\n"
    begun, _ = events(class_, MadeUp())
    assert begun.students == ("bob",), "it is tried again the next time"


def test_an_earlier_grade_outlives_a_submission_that_cannot_be_graded(class_: Course) -> None:
    events(class_, MadeUp())
    hand_in(class_, "bob", "bad")
    events(class_, MadeUp())
    assert grades(class_)["bob"][CHECK][0] == 7.0
    assert class_.folder("autograded", LAB, "bob").is_dir()


@pytest.mark.parametrize("killers", [["ada"], ["bob"], ["dov"], ["bob", "chi"], ["ada", "bob", "chi", "dov"]])
def test_whoever_kills_a_worker_is_found_and_the_others_are_graded(
    class_: Course, killers: list[str]
) -> None:
    place = MadeUp(killers=killers)
    _, done = events(class_, place)
    assert sorted(each.student for each in done) == ["ada", "bob", "chi", "dov"]
    assert sorted(each.student for each in done if "process was killed" in each.fault) == killers
    assert place.renewed <= 2 * len(killers)


def test_one_that_never_ends_is_stopped_and_the_others_are_graded(
    class_: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "SPARE_S", 0.0)
    class_.config.Sandbox.notebook_seconds = 1.0
    _, done = events(class_, MadeUp(stuck=["bob"]))
    assert {each.student: bool(each.fault) for each in done} == {
        "ada": False,
        "bob": True,
        "chi": False,
        "dov": False,
    }


def test_few_submissions_are_in_memory_at_a_time(class_: Course) -> None:
    place = MadeUp(stuck=["ada", "bob", "chi", "dov"], many=1)
    events = grade(class_, LAB, place, Wish())
    next(events)
    monkey = run.wait
    try:
        run.wait = lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
        with pytest.raises(KeyboardInterrupt):
            next(events)
    finally:
        run.wait = monkey
    assert place.asked == ["ada", "bob"]


def test_only_those_named_are_graded_in_their_order(class_: Course) -> None:
    _, done = events(class_, MadeUp(), students=("chi", "ada", "chi"))
    assert [each.student for each in done] == ["chi", "ada"]


@pytest.mark.parametrize(
    ("students", "says"), [(("eve",), "no submission of lab18 by eve"), (("", "ada"), "no submission")]
)
def test_a_name_that_has_submitted_nothing_is_refused(
    class_: Course, students: tuple[str, ...], says: str
) -> None:
    with pytest.raises(RunError, match=says):
        events(class_, MadeUp(), students=students)


def test_a_lab_that_nobody_has_submitted_says_so(course: Course) -> None:
    with pytest.raises(RunError, match="nobody has submitted lab18"):
        events(course, MadeUp())


def test_a_run_that_is_stopped_keeps_what_it_recorded(class_: Course) -> None:
    going = grade(class_, LAB, MadeUp(), Wish())
    next(going)
    next(going)
    going.close()
    assert len(grades(class_)) == 1
    ledger = class_.autograded / ".grading" / LAB / "ada.json"
    assert "graded" in json.loads(ledger.read_text())
    begun, _ = events(class_, MadeUp())
    assert len(begun.students) == 3
