"""What the tests of the class runner share: a course of one lab without a sandbox, and made-up outcomes."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

import pytest
from nbformat import writes
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from traitlets.config import Config

from autograder.course import Course
from autograder.runner.job import Outcome, Remark, Score
from autograder.runner.ledger import Ledger
from autograder.runner.record import Recorder

LAB, CHECK, WRITTEN = "lab18", "check-it", "why"


@pytest.fixture
def course(tmp_path: Path, empty_gradebook: Path) -> Course:
    """A course in an empty folder, whose gradebook knows one lab: a check of 10, a written answer of 3."""
    root = tmp_path / "course"
    root.mkdir()
    shutil.copy(empty_gradebook, root / "gradebook.db")
    url = f"sqlite:///{root / 'gradebook.db'}"
    return Course(root, Config({"CourseDirectory": {"root": str(root), "db_url": url, "course_id": ""}}))


class Begin:
    """Begins to record, as a run does when it starts; what was begun before is stopped."""

    def __init__(self, course: Course) -> None:
        self._course, self._open = course, ExitStack()

    def __call__(self) -> Recorder:
        self.stop()
        ledger = Ledger(self._course.autograded, LAB)
        recorder = Recorder(self._course, LAB, self._open.enter_context(self._course.gradebook()), ledger)
        self._open.enter_context(ledger.open(recorder.place))
        return recorder

    def stop(self) -> None:
        self._open.pop_all().close()


@pytest.fixture
def recorder(course: Course) -> Iterator[Begin]:
    begin = Begin(course)
    yield begin
    begin.stop()


def outcome(
    student: str = "ada",
    points: float = 7.0,
    answer: str = "Because.",
    submitted: datetime | None = None,
    written: float | None = None,
) -> Outcome:
    """What a worker gives back for a submission of the course's lab."""
    check = new_code_cell("check.it(f)", metadata={"nbgrader": {"grade_id": CHECK, "grade": True}})
    why = new_markdown_cell(answer, metadata={"nbgrader": {"grade_id": WRITTEN, "grade": True}})
    text = writes(new_notebook(cells=[check, why])).encode()
    return Outcome(
        student,
        files=(("data/notes.txt", answer.encode()), (f"{LAB}.ipynb", text)),
        submitted=submitted,
        scores=(Score(LAB, CHECK, points), Score(LAB, WRITTEN, written)),
        remarks=(Remark(LAB, WRITTEN, None),),
    )


def grades(course: Course) -> dict[str, dict[str, tuple[float | None, float | None, bool]]]:
    """Of each student and cell: the grader's points, a person's points, whether a person has to look."""
    with course.gradebook() as gradebook:
        return {
            submission.student.id: {
                grade.name: (grade.auto_score, grade.manual_score, grade.needs_manual_grade)
                for book in submission.notebooks
                for grade in book.grades
            }
            for submission in gradebook.assignment_submissions(LAB)
        }
