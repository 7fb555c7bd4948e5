"""A class of odd submissions, graded by one plain `nbgrader autograde`: each is graded or explained.

One test, because the class takes most of a minute and workers of a parallel run would each grade it.
"""

import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.course import CONFIG, Course
from autograder.intake import notes_of
from autograder.nbgrader_env import run_nbgrader

from .odd import ODD
from .small_lab import LAB, answered, master, without, write

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs_bwrap,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),  # nbgrader's own, in this process
]
ROOT = Path(__file__).resolve().parents[3]
UNREAD = ("link", "pipe", "folder-named-so", "no-folder", "empty", "binary", "cut-off", "another-lab")
RUN = (
    *("honest", "link-beside", "tags-in-name", "format-3", "lone-surrogate", "input", "forged-note"),
    *("tests-deleted", "written-deleted", "test-emptied", "answer-twice", "no-marks-no-ids"),
    *("points-not-a-number", "test-as-answer", "other-schema", "no-date"),
)
CLASS = (*UNREAD, *RUN)
AGAIN = "handed-in-again"  # first all of it, then without what earned the points


def test_each_of_a_class_has_its_points_and_the_reason(tmp_path: Path) -> None:
    course = graded(tmp_path)
    marks = {name: points(course, name) for name in CLASS}
    assert marks == {name: ODD[name].earns for name in CLASS}
    said = {name: "\n".join(notes_of(notebook(course, name))) for name in CLASS}
    unsaid = {name: [part for part in ODD[name].says if part not in said[name]] for name in CLASS}
    assert {name: parts for name, parts in unsaid.items() if parts} == {}
    assert {name for name, words in said.items() if words} == {name for name in CLASS if ODD[name].says}

    assert points(course, AGAIN) == (0.0, 0.0)  # none of an earlier submission's is left
    waits = {name for name in CLASS if grades(course, name)["why"].needs_manual_grade}
    assert waits == {name for name in RUN if name != "written-deleted"}  # where there is an answer to read
    sources = {cell.id: cell.source for cell in notebook(course, "test-emptied").cells}
    assert "HIDDEN TESTS" in sources["check-double"]
    honest = [cell.id for cell in notebook(course, "honest").cells]
    assert honest == [cell["id"] for cell in answered()["cells"]]
    page = feedback(course, "tags-in-name")
    assert "About this submission" in page
    assert "<b>small" not in page


def graded(folder: Path) -> Course:
    """The class, after one command."""
    course, log = Course(folder / "course"), folder / "log"
    course.root.mkdir()
    shutil.copy(ROOT / CONFIG, course.root)
    write(course.folder("source", LAB), master())
    course.generate_assignment(LAB, log)
    mine = course.folder("submitted", LAB, AGAIN)
    write(mine, answered())
    course.autograde(LAB, AGAIN, log)
    assert points(course, AGAIN) == (2.0, 3.0)
    write(mine, without(answered(), "double", "check-double", "area", "check-area"))
    for name in CLASS:
        ODD[name].hand_in(course.folder("submitted", LAB, name))
    run_nbgrader("autograde", LAB, "--force", root=course.root, timeout=540)
    return course


def grades(course: Course, student: str) -> dict[str, Any]:
    with course.gradebook() as gradebook:
        (book,) = gradebook.find_submission(LAB, student).notebooks
        return {grade.name: grade for grade in book.grades}


def points(course: Course, student: str) -> tuple[float, float]:
    found = grades(course, student)
    return found["check-double"].auto_score, found["check-area"].auto_score


def notebook(course: Course, student: str) -> nbformat.NotebookNode:
    return nbformat.read(course.folder("autograded", LAB, student) / f"{LAB}.ipynb", as_version=4)


def feedback(course: Course, student: str) -> str:
    course.generate_feedback(LAB, student, course.root.parent / "log")
    return (course.folder("feedback", LAB, student) / f"{LAB}.html").read_text(encoding="utf-8")
