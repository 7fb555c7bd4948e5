"""What the gradebook says of a lab: for each student the score, and what still stands in its way."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from autograder.export.errors import ExportError


@dataclass(frozen=True)
class Person:
    """A student as nbgrader's table has them; what it does not know is empty."""

    id: str
    first_name: str
    last_name: str
    email: str
    lms_user_id: str

    @property
    def name(self) -> str:
        """`Last, First`, or the one that is known, or nothing."""
        return ", ".join(filter(None, (self.last_name.strip(), self.first_name.strip())))


@dataclass(frozen=True)
class Work:
    """A submission as it stands in the gradebook. Points are nbgrader's own sums.

    `waiting` are the answers that no person has judged yet, `again` those judged before the last grading,
    which nbgrader wants looked at again, `unread` the checks that no grading has given points: it failed.
    """

    raw: float
    penalty: float
    timestamp: datetime | None
    waiting: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    comments: tuple[tuple[str, str], ...] = ()  # (answer, what a person wrote about it)

    @property
    def score(self) -> float:
        """Points after the late penalty, never below 0, as nbgrader exports them."""
        return max(0.0, self.raw - self.penalty)

    @property
    def graded(self) -> bool:
        return not self.unread


@dataclass(frozen=True)
class Book:
    """A lab: its points in all, its due date, and what each student has in it; None is nothing handed in."""

    lab: str
    worth: float
    due: datetime | None
    works: dict[str, Work | None]


def read_people(gradebook: Any, chosen: Collection[str] = ()) -> list[Person]:
    """The students of a gradebook by id; of `chosen`, if any. Raises ExportError where one is not there."""
    people = [_person(student) for student in gradebook.students]
    unknown = sorted(set(chosen) - {person.id for person in people})
    if unknown:
        raise ExportError(
            f"not in the gradebook: {', '.join(map(repr, unknown))}; "
            "`nbgrader db student list` shows who is, `nbgrader db student add` adds one"
        )
    return sorted(
        (person for person in people if not chosen or person.id in chosen), key=lambda person: person.id
    )


def read_book(gradebook: Any, lab: str, people: Collection[Person]) -> Book:
    """A lab for these students. Raises ExportError where the gradebook does not know the lab."""
    from nbgrader.api import Grade, MissingEntry, SubmittedAssignment, SubmittedNotebook
    from sqlalchemy.orm import selectinload

    try:
        assignment = gradebook.find_assignment(lab)
    except MissingEntry as error:
        raise ExportError(
            f"{lab} is not in the gradebook: `nbgrader generate_assignment {lab}` enters it"
        ) from error
    of_book = selectinload(SubmittedAssignment.notebooks)
    found = (
        gradebook.db.query(SubmittedAssignment)
        .filter(SubmittedAssignment.assignment_id == assignment.id)
        .options(
            of_book.selectinload(SubmittedNotebook.grades).joinedload(Grade.cell),
            of_book.selectinload(SubmittedNotebook.comments),
        )
    )
    solutions = {cell.name for book in assignment.notebooks for cell in book.solution_cells}
    by_student = {submission.student_id: _work(submission, solutions) for submission in found}
    works = {person.id: by_student.get(person.id) for person in people}
    return Book(lab, float(assignment.max_score or 0.0), assignment.duedate, works)


def unfinished(book: Book) -> Iterator[tuple[str, str]]:
    """(student, what is to be done) for each submission whose score is not final."""
    for student, work in book.works.items():
        if work is None:
            continue
        if work.unread:
            yield student, "could not be graded, or not yet: `autograder grade` says why"
        if work.waiting:
            yield student, f"waits for a person: {', '.join(work.waiting)}"
        if work.again:
            yield student, f"judged before it was graded again, look once more: {', '.join(work.again)}"


def _person(student: Any) -> Person:
    known = (student.first_name, student.last_name, student.email, student.lms_user_id)
    return Person(str(student.id), *("" if field is None else str(field) for field in known))


def _work(submission: Any, solutions: Collection[str]) -> Work:
    waiting: list[str] = []
    again: list[str] = []
    unread: list[str] = []
    comments: list[tuple[str, str]] = []
    for book in submission.notebooks:
        for grade in book.grades:
            by_person = grade.name in solutions or grade.cell.type != "GradeCell"
            if grade.auto_score is None and grade.manual_score is None:
                (waiting if by_person else unread).append(grade.name)
            elif grade.needs_manual_grade:
                (again if grade.manual_score is not None else waiting).append(grade.name)
        said = ((comment.name, (comment.manual_comment or "").strip()) for comment in book.comments)
        comments += [(name, text) for name, text in said if text]
    return Work(
        raw=float(submission.score),
        penalty=float(submission.late_submission_penalty),
        timestamp=submission.timestamp,
        waiting=tuple(sorted(waiting)),
        again=tuple(sorted(again)),
        unread=tuple(sorted(unread)),
        comments=tuple(sorted(comments)),
    )
