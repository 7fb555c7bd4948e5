"""Scores in the form that Canvas's gradebook exports and imports.

Read from Canvas's own source, `lib/gradebook_importer.rb` and `lib/gradebook_exporter.rb` of
instructure/canvas-lms (2025):

- The headings must be `Student`, `ID`, then `SIS Login ID` or `SIS User ID` and `SIS Login ID`, then
  `Section`; the rest are assignments. Sections are not read, and nbgrader knows none: they stay empty.
- `Title (123)` is the assignment whose number is 123. Without a number it is the one of exactly that title,
  else a new one is offered. `Current Score`, `Final Grade` and the like are never assignments.
- A row whose first cell contains `Points Possible` says what assignments are worth.
- A student is looked up by ID, a number (its leading digits are taken!), then by SIS user id, then by login,
  and at last by name: the first of that name.
- Every cell of digits, commas and points is read as a number with a decimal comma: `12,34` becomes `12.34`.
- UTF-8. A byte order mark is not removed by the importer, so none is written.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from traitlets import Enum

from autograder.export.base import EMPTY, Exporter
from autograder.export.book import Book, Person
from autograder.export.cells import number, shown

LOGIN, SIS = "login", "sis"
_POINTS = "Points Possible"
_HEADINGS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
_RESERVED = (*_HEADINGS, "LastName", "FirstName", "Integration ID", "Root Account")
_COMPUTED = re.compile(r"(Current|Final) (Score|Points|Grade)|Override (Score|Grade|Status)")
_NUMBERED = re.compile(r".*\s\(\d+\)")
_NUMERIC = re.compile(r"-?[0-9.,]+%?")


class CanvasExporter(Exporter):
    """A file for Canvas: Grades, Import.

    nbgrader's student id goes where `id_is` says; `lms_user_id`, where it is known, is Canvas's own number.
    """

    id_is = Enum((LOGIN, SIS), LOGIN, help="What a student's id is to Canvas.").tag(config=True)

    suffix = "canvas"

    def rows(self, people: Sequence[Person], books: Sequence[Book]) -> Iterator[list[str]]:
        yield [*_HEADINGS, *(self.heading(book.lab) for book in books)]
        yield [f"    {_POINTS}", "", "", "", "", *(number(book.worth) for book in books)]
        for person in people:
            ids = ("", person.id) if self.id_is == LOGIN else (person.id, "")
            scores = (self.score(book.works[person.id]) for book in books)
            yield [
                _name(person),
                person.lms_user_id,
                *ids,
                "",
                *("" if score is None else number(score) for score in scores),
            ]

    def faults(self, people: Sequence[Person], books: Sequence[Book]) -> Iterator[str]:
        yield from self.faults_of_ids([(person.id, person.id) for person in people], "the id")
        numbers = [(person.id, person.lms_user_id) for person in people if person.lms_user_id]
        yield from self.faults_of_ids(numbers, "the lms_user_id")
        for person in people:
            if person.lms_user_id and not re.fullmatch("[1-9][0-9]*", person.lms_user_id):
                yield (
                    f"{person.id!r}: the lms_user_id {person.lms_user_id!r} is no number, and Canvas's are: "
                    "correct it or clear it"
                )
            if as_canvas_reads(person.id) != person.id:
                yield (
                    f"{person.id!r}: Canvas's import would read this id as {as_canvas_reads(person.id)!r}; "
                    "enter the student's score in Canvas by hand (--students leaves them out)"
                )
        yield from self.faults_of_headings(books)
        for book in books:
            heading = self.heading(book.lab)
            if heading in _RESERVED or _COMPUTED.search(heading):
                yield f"{book.lab}: Canvas takes a column {heading!r} for one of its own: change the heading"

    def remarks(self, people: Sequence[Person], books: Sequence[Book]) -> Iterator[str]:
        loose = [book.lab for book in books if not _NUMBERED.fullmatch(self.heading(book.lab))]
        if loose:
            yield (
                f"{', '.join(loose)}: Canvas takes the assignment of just this title, else offers a new one; "
                "--column 'Title (number)', as its own export heads the column, leaves no doubt"
            )
        unnumbered = [person for person in people if not person.lms_user_id]
        if unnumbered:
            kind = "login" if self.id_is == LOGIN else "SIS user id"
            yield f"Canvas will find {len(unnumbered)} of {len(people)} students by their id as {kind}"
        names = Counter(map(_name, people))
        alike = [person.id for person in unnumbered if names[_name(person)] > 1]
        if alike:
            yield (
                f"two students of one name: {', '.join(alike)}. Where Canvas does not know an id it goes by "
                "name and takes the first: check them in its preview"
            )
        if self.missing == EMPTY and any(work is None for book in books for work in book.works.values()):
            yield "an empty cell clears a score that Canvas has there: its preview shows which change"
        if any(not person.name for person in people):
            yield "where the gradebook knows no name, the id stands in its place"
        yield "import the file as it is: a spreadsheet that saves it drops the leading zeros of ids"


def as_canvas_reads(cell: str) -> str:
    """A cell after Canvas's own reading of numbers, which it applies to ids as well."""
    if not _NUMERIC.fullmatch(cell):
        return cell
    parts = re.split("[.,]", cell)
    while parts and not parts[-1]:  # Ruby's split leaves out what is empty at the end
        parts.pop()
    if not parts:
        return ""
    return f"{''.join(parts[:-1])}.{parts[-1]}" if len(parts) > 1 else parts[0]


def _name(person: Person) -> str:
    """Never a row of points: the importer looks for those two words in the first cell."""
    return shown(person.name or person.id).replace(_POINTS, _POINTS.replace(" ", "_"))
