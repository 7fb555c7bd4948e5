"""Validate, in the learner's own kernel, and the grader, behind walls, agree on honest work."""

import asyncio
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import pytest

from autograder.course import CONFIG, Course
from autograder.mutants import Variant, master_text, variants
from autograder.notebooks import master_notebook, to_bytes
from autograder.runner.places import place
from autograder.runner.run import Begun, grade
from autograder.sample_class import BLANK, RIGHT, Student, hand_in, submission
from lastgood.server.validation import validate

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs_bwrap,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),  # nbgrader's own
]
ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("lab", "names"),
    [
        pytest.param("lab17", ["each-tensor-by-itself"], marks=pytest.mark.nightly),
        pytest.param("lab18", ["no-rng"], marks=pytest.mark.nightly),
    ],
)
def test_both_give_the_same_points_for_each_cell(lab: str, names: list[str], tmp_path: Path) -> None:
    known = {variant.name: variant for variant in variants(lab)}
    students = [
        Student(RIGHT, Variant(RIGHT, "the master's own code", ()), {}),
        Student(BLANK, None, None),
        *(Student(name, known[name], known[name].loses) for name in names),
    ]
    course = class_of(lab, students, tmp_path)
    with place(course, lab, 2) as workers, closing(grade(course, lab, workers)) as events:
        assert [event for event in events if not isinstance(event, Begun) and event.fault] == []
    by_grader = graded(course, lab)
    assert by_grader == {student.name: validated(course, lab, student.name) for student in students}
    assert sum(by_grader[BLANK].values()) == 0
    assert all(sum(by_grader[RIGHT].values()) > sum(by_grader[name].values()) > 0 for name in names)


def class_of(lab: str, students: list[Student], root: Path) -> Course:
    """A course in which these have handed in the lab."""
    course, master = Course(root), master_text(ROOT, lab)
    settings = (ROOT / CONFIG).read_text(encoding="utf-8")
    (root / CONFIG).write_text(settings + "\nc.Execute.timeout = 120  # on a busy machine\n")
    source = course.folder("source", lab) / f"{lab}.ipynb"
    source.parent.mkdir(parents=True)
    source.write_bytes(to_bytes(master_notebook(master)))
    course.generate_assignment(lab, root / "release.log")
    released = nbformat.read(course.folder("release", lab) / f"{lab}.ipynb", as_version=4)
    for student in students:
        folder = course.folder("submitted", lab, student.name).parent
        hand_in(folder, lab, submission(released, master, student), datetime.now(UTC))
    return course


def graded(course: Course, lab: str) -> dict[str, dict[str, float]]:
    """The grader's points by student and cell, for cells that no person grades."""
    with course.gradebook() as gradebook:
        return {
            submission.student.id: {
                grade.name: grade.auto_score
                for book in submission.notebooks
                for grade in book.grades
                if grade.cell.cell_type == "code"
            }
            for submission in gradebook.assignment_submissions(lab)
        }


def validated(course: Course, lab: str, student: str) -> dict[str, float]:
    """Validate's points by cell."""
    notebook = course.folder("submitted", lab, student) / f"{lab}.ipynb"
    result = asyncio.run(validate(notebook, course.root))
    return {cell.name: cell.earned for cell in result.scored}
