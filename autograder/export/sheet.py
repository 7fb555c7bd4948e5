"""Scores for a person's spreadsheet or script: nbgrader's own columns, quoted, and what stands in the way.

UTF-8 with a byte order mark, without which Excel reads the names of half the world as gibberish.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from traitlets import Bool

from autograder.export.base import Exporter
from autograder.export.book import Book, Person, Work
from autograder.export.cells import number, shown

COLUMNS = (
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
    "status",
)
FINAL, MISSING, NOT_GRADED, WAITS = "final", "missing", "not graded", "waits for a person"


class SheetExporter(Exporter):
    """A row for each student and lab, with the columns of `nbgrader export` and `status`."""

    semicolons = Bool(False, help="`;` between cells and decimal commas, as many languages have them.").tag(
        config=True
    )

    suffix = "grades"
    encoding = "utf-8-sig"

    def rows(self, people: Sequence[Person], books: Sequence[Book]) -> Iterator[list[str]]:
        yield list(COLUMNS)
        for book in books:
            for person in people:
                work = book.works[person.id]
                yield [
                    shown(self.heading(book.lab)),
                    _time(book.due),
                    _time(work.timestamp if work else None),
                    person.id,
                    *map(shown, (person.last_name, person.first_name, person.email)),
                    *self._points(work),
                    self._number(book.worth),
                    _status(work),
                ]

    def faults(self, people: Sequence[Person], books: Sequence[Book]) -> Iterator[str]:
        yield from self.faults_of_ids([(person.id, person.id) for person in people], "the id")
        yield from self.faults_of_headings(books)

    def _points(self, work: Work | None) -> list[str]:
        """Raw score, late penalty and score."""
        score = self.score(work)
        if score is None:
            return ["", "", ""]
        raw, penalty = (work.raw, work.penalty) if work else (score, 0.0)
        return [self._number(points) for points in (raw, penalty, score)]

    def _number(self, points: float) -> str:
        return number(points, "," if self.semicolons else ".")

    @property
    def delimiter(self) -> str:
        return ";" if self.semicolons else ","


def _time(when: datetime | None) -> str:
    """A time as nbgrader keeps it, in UTC; it does not say so itself."""
    return f"{when.isoformat(sep=' ', timespec='seconds')} UTC" if when else ""


def _status(work: Work | None) -> str:
    if work is None:
        return MISSING
    if not work.graded:
        return NOT_GRADED
    return WAITS if work.waiting or work.again else FINAL
