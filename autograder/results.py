"""A graded lab as a table: students, exercises, points, and the reason for each point that was lost.

Points come from the gradebook, reasons from the autograded notebooks. Nothing here writes.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.course import Course
from autograder.intake import notes_of
from autograder.notebooks import grade_id
from autograder.reasons import reason

_SECTION = re.compile(r"^## ([A-Z])\. ", re.MULTILINE)


class ResultsError(Exception):
    """A lab's results cannot be read; the message says which file or row is missing and what makes it."""


@dataclass(frozen=True)
class Exercise:
    """A graded cell. `label` is the letter of its part of the lab, numbered where there are several."""

    grade_id: str
    label: str
    title: str
    worth: float
    by_person: bool  # a written answer: points come from a person


@dataclass(frozen=True)
class Mark:
    """What a student got in an exercise. `points` is None while a written answer waits for a person."""

    points: float | None
    worth: float
    reason: str = ""

    @property
    def lost(self) -> float:
        return 0.0 if self.points is None else self.worth - self.points


@dataclass(frozen=True)
class Row:
    """A student's marks, by grade_id. None at all where the submission could not be graded.

    `notes` are what was odd about the files that were handed in, in sentences.
    """

    student: str
    marks: dict[str, Mark]
    notes: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        return sum(mark.points or 0.0 for mark in self.marks.values())

    @property
    def waiting(self) -> float:
        """Points that a person still has to give or withhold."""
        return sum(mark.worth for mark in self.marks.values() if mark.points is None)


@dataclass(frozen=True)
class Results:
    """A lab's exercises in the notebook's order, and a row for each student."""

    lab: str
    exercises: tuple[Exercise, ...]
    rows: tuple[Row, ...]

    @property
    def worth(self) -> float:
        return sum(exercise.worth for exercise in self.exercises)


def read_results(course: Course, lab: str, students: Sequence[str] | None = None) -> Results:
    """The results of `students` in their order; by default of all who submitted `lab`, by name.

    Raises ResultsError where the lab was never released in this course.
    """
    released = course.folder("release", lab) / f"{lab}.ipynb"
    if not released.is_file():
        raise ResultsError(f"{released} is missing: `nbgrader generate_assignment {lab}` makes it")
    exercises = exercises_of(nbformat.read(released, as_version=4))
    with course.gradebook() as gradebook:
        grades = {
            submission.student.id: {
                grade.name: grade for book in submission.notebooks for grade in book.grades
            }
            for submission in gradebook.assignment_submissions(lab)
        }
        rows = tuple(
            _row(course, lab, name, grades.get(name, {}), exercises)
            for name in students or course.students(lab)
        )
    return Results(lab, exercises, rows)


def exercises_of(released: NotebookNode) -> tuple[Exercise, ...]:
    """The graded cells of a released lab, labelled by the lettered part (`## B. …`) that each stands in."""
    found: list[tuple[str, NotebookNode]] = []
    part = ""
    for cell in released.cells:
        about = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "markdown" and (letters := _SECTION.findall(cell.source)):
            part = letters[-1]
        if (about.get("grade") or about.get("task")) and about.get("points"):
            found.append((part, cell))
    parts = Counter(part for part, _ in found)
    seen: Counter[str] = Counter()
    exercises = []
    for part, cell in found:
        seen[part] += 1
        about = cell.metadata.nbgrader
        exercises.append(
            Exercise(
                about.grade_id,
                part if part and parts[part] == 1 else f"{part}{seen[part]}",
                about.grade_id.removeprefix("check-").replace("-", " "),
                float(about.points),
                bool(about.solution or about.get("task")),
            )
        )
    return tuple(exercises)


def _row(
    course: Course, lab: str, student: str, grades: dict[str, Any], exercises: tuple[Exercise, ...]
) -> Row:
    """A student's marks. Where grading failed, nbgrader removes the autograded notebook, and not the row."""
    path = course.folder("autograded", lab, student) / f"{lab}.ipynb"
    if not path.is_file():
        return Row(student, {})
    graded = nbformat.read(path, as_version=4)
    cells = graded.cells
    marks = {}
    for exercise in exercises:
        grade = grades.get(exercise.grade_id)
        if grade is None:  # graded before the release that added this exercise, or in another gradebook
            continue
        waits = grade.auto_score is None and grade.manual_score is None
        mark = Mark(None if waits else float(grade.score), exercise.worth)
        if mark.lost:
            mark = replace(mark, reason=_reason(cells, exercise, grade))
        marks[exercise.grade_id] = mark
    return Row(student, marks, notes_of(graded))


def _reason(cells: list[NotebookNode], exercise: Exercise, grade: Any) -> str:
    names = [grade_id(cell) for cell in cells]
    if exercise.grade_id not in names:
        return "The cell was deleted from the notebook."
    if grade.manual_score is not None:
        return "A person's judgement."
    if exercise.by_person:
        return "Not answered."
    at = names.index(exercise.grade_id)
    return reason(cells[at], cells[:at])
