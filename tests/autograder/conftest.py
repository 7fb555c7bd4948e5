"""What the tests of grading share."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import text

from autograder.course import Course
from autograder.demo import prepare
from autograder.nbgrader_env import environment
from autograder.sample_class import lab18_class

LAB, CHECK, WRITTEN = "lab18", "check-it", "why"


@pytest.fixture(scope="session")
def sample_class(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Lab 18's sample class, handed in and not graded. It takes seconds to make: read it or copy it."""
    root = Path(__file__).resolve().parents[2]
    return prepare(root, tmp_path_factory.mktemp("sample") / "class", lab18_class())


@pytest.fixture(scope="session")
def empty_gradebook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with nbgrader's tables and one lab: a check of 10 points, a written answer of 3."""
    path = tmp_path_factory.mktemp("gradebook") / "gradebook.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", environment()["PATH"])
        opened = Gradebook(f"sqlite:///{path}")
    with opened as book:
        book.add_assignment(LAB)
        book.add_notebook(LAB, LAB)
        book.add_grade_cell(CHECK, LAB, LAB, max_score=10, cell_type="code")
        book.add_grade_cell(WRITTEN, LAB, LAB, max_score=3, cell_type="markdown")
        book.add_solution_cell(WRITTEN, LAB, LAB)
    return path


@pytest.fixture
def gradebook(empty_gradebook: Path, tmp_path: Path) -> Iterator[Any]:
    """A gradebook of one's own, with the lab and nobody in it."""
    shutil.copy(empty_gradebook, tmp_path / "gradebook.db")
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        book.db.execute(text("PRAGMA synchronous=OFF"))  # nbgrader commits a lot, and nothing here must last
        yield book


@pytest.fixture
def enrol(gradebook: Any) -> Callable[..., None]:
    """Add a student; with `check` or `written` points also a submission, `None` being not given yet."""

    def add(
        student: str,
        check: float | None = 0.0,
        written: float | None = 0.0,
        *,
        handed_in: bool = True,
        penalty: float = 0.0,
        comment: str = "",
        again: bool = False,
        **fields: str,
    ) -> None:
        gradebook.add_student(student, **fields)
        if not handed_in:
            return
        (book,) = gradebook.add_submission(LAB, student).notebooks
        book.late_submission_penalty = penalty
        for grade in book.grades:
            by_person = grade.name == WRITTEN
            points = written if by_person else check
            if by_person:
                grade.manual_score = points
            else:
                grade.auto_score = points
            grade.needs_manual_grade = points is None or (again and by_person)
        for said in book.comments:
            said.manual_comment = comment or None
        gradebook.db.commit()

    return add
