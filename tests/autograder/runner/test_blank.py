"""A worker's gradebook knows the lab as the class's does, and nobody's grades."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook, MissingEntry

from autograder.course import Course
from autograder.runner.blank import BlankError, blank
from autograder.runner.private import private

from .conftest import CHECK, LAB, WRITTEN

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own


@pytest.fixture
def worker(course: Course, tmp_path: Path) -> Path:
    """The file that a worker gets, of a class in which somebody was graded, of a lab that was due."""
    with course.gradebook() as gradebook:
        gradebook.add_student("ada")
        gradebook.add_submission(LAB, "ada")
        gradebook.find_assignment(LAB).duedate = datetime(2026, 5, 1)
        gradebook.add_assignment("another")
        gradebook.db.commit()
        path = tmp_path / "worker.db"
        path.write_bytes(blank(gradebook, LAB))
    return path


def test_it_has_the_labs_cells_and_no_student(worker: Path) -> None:
    with Gradebook(f"sqlite:///{worker}") as gradebook:
        (notebook,) = gradebook.find_assignment(LAB).notebooks
        assert {cell.name: cell.max_score for cell in notebook.grade_cells} == {CHECK: 10, WRITTEN: 3}
        assert [cell.name for cell in notebook.solution_cells] == [WRITTEN]
        assert [assignment.name for assignment in gradebook.assignments] == [LAB]
        assert gradebook.students == []


def test_nobody_is_late_there(worker: Path) -> None:
    with Gradebook(f"sqlite:///{worker}") as gradebook:
        assert gradebook.find_assignment(LAB).duedate is None


def test_nbgrader_takes_it_for_one_of_its_own_version(worker: Path, course: Course) -> None:
    def version(path: Path) -> list[tuple[str]]:
        with closing(sqlite3.connect(path)) as rows:
            return rows.execute("SELECT version_num FROM alembic_version").fetchall()

    assert version(worker) == version(course.root / "gradebook.db") != []


def test_a_lab_that_was_never_released_is_refused(course: Course) -> None:
    with course.gradebook() as gradebook, pytest.raises(BlankError, match="generate_assignment lab99"):
        blank(gradebook, "lab99")


@pytest.fixture
def opened(worker: Path) -> Iterator[str]:
    with private(worker) as url:
        yield url


def test_opened_quickly_it_takes_what_nbgrader_writes(worker: Path, opened: str) -> None:
    for _ in range(2):
        with Gradebook(opened, "") as gradebook:
            gradebook.update_or_create_student("bob")
            gradebook.update_or_create_submission(LAB, "bob")
    with closing(sqlite3.connect(worker)) as rows:
        assert rows.execute("SELECT count(*) FROM grade").fetchone() == (2,)


def test_while_it_is_open_no_other_gradebook_is(opened: str, course: Course) -> None:
    with (
        pytest.raises(ValueError, match=r"nothing else: sqlite:///.*course/gradebook\.db"),
        course.gradebook(),
    ):
        pass


def test_afterwards_gradebooks_open_as_ever(worker: Path, course: Course) -> None:
    with private(worker):
        pass
    with course.gradebook() as gradebook:
        assert gradebook.find_student("ada").id == "ada"
    with pytest.raises(MissingEntry), Gradebook(f"sqlite:///{worker}") as gradebook:
        gradebook.find_student("ada")
