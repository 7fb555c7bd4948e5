"""What every export shares: which students and labs, what is not final yet, ids, and the file itself."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from nbgrader.plugins import ExportPlugin
from traitlets import Bool, Dict, Enum, Unicode

from autograder.export.book import Book, Person, Work, read_book, read_people, unfinished
from autograder.export.cells import fault_of_id, is_formula, shown
from autograder.export.errors import ExportError
from autograder.export.files import replace

EMPTY, ZERO = "empty", "zero"


@dataclass(frozen=True)
class Exported:
    """The file that was written, how many students stand in it, and what to know before it is used."""

    path: Path
    students: int
    remarks: tuple[str, ...]


class Exporter(ExportPlugin):  # type: ignore[misc]  # nbgrader has no types
    """Writes one CSV file with the scores of some labs, a row for each student.

    `export` is nbgrader's entry: it logs, and ends the program where the export is refused. `write` raises.
    """

    partial = Bool(False, help="Export although some submissions are not final.").tag(config=True)
    missing = Enum((EMPTY, ZERO), EMPTY, help="What stands where nothing was handed in.").tag(config=True)
    raw_ids = Bool(False, help="Write ids that a spreadsheet would compute.").tag(config=True)
    column = Dict(
        key_trait=Unicode(), value_trait=Unicode(), help="The heading of a lab's column; by default its name."
    ).tag(config=True)

    suffix: ClassVar[str]  # of the file's name
    encoding: ClassVar[str] = "utf-8"

    def export(self, gradebook: Any) -> None:
        try:
            exported = self.write(gradebook)
        except ExportError as error:
            for line in str(error).splitlines():
                self.log.error(line)
            raise SystemExit(1) from error
        self.log.info("%d students in %s", exported.students, exported.path)
        for remark in exported.remarks:
            self.log.warning(remark)

    def write(self, gradebook: Any) -> Exported:
        """Write the file. Raises ExportError, writing nothing, where a score is not final or an id unfit."""
        people = read_people(gradebook, [str(student) for student in self.student])
        labs = [str(lab) for lab in self.assignment] or [found.name for found in gradebook.assignments]
        if not people or not labs:
            raise ExportError(f"the gradebook holds no {'labs' if people else 'students'}: nothing to export")
        books = [read_book(gradebook, lab, people) for lab in labs]
        faults = [*self._unfinished(books), *self.faults(people, books)]
        if faults:
            raise ExportError("\n".join(faults))
        rows = list(self.rows(people, books))
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=self.delimiter).writerows(rows)
        path = Path(self.to or f"{labs[0] if len(labs) == 1 else 'grades'}-{self.suffix}.csv")
        replace(path, text.getvalue().encode(self.encoding))
        return Exported(path, len(people), (*self._remarks(books), *self.remarks(people, books)))

    def rows(self, people: Sequence[Person], books: Sequence[Book]) -> Iterator[list[str]]:
        """The file's rows, the headings first."""
        raise NotImplementedError

    def faults(self, people: Sequence[Person], books: Sequence[Book]) -> Iterator[str]:
        """Why this file cannot be written, beyond scores that are not final."""
        raise NotImplementedError

    def remarks(self, people: Sequence[Person], books: Sequence[Book]) -> Iterator[str]:
        """What the instructor should know of this file."""
        yield from ()

    @property
    def delimiter(self) -> str:
        return ","

    def heading(self, lab: str) -> str:
        return str(self.column.get(lab, lab))

    def score(self, work: Work | None) -> float | None:
        """Points that count; None where there are none to export."""
        if work is None:
            return 0.0 if self.missing == ZERO else None
        return work.score if work.graded else None

    def faults_of_ids(self, ids: Sequence[tuple[str, str]], what: str) -> Iterator[str]:
        """A line for each of the (student, id) that is unfit as `what`, or that two students share."""
        owners: dict[str, str] = {}
        for student, name in ids:
            fault = fault_of_id(name, raw=self.raw_ids)
            if fault:
                hint = "; --raw-ids writes it all the same" if is_formula(name) and "formula" in fault else ""
                yield f"{student!r}: {what} {name!r} {fault}{hint}"
            elif name in owners:
                other = owners[name]
                yield f"{student!r}: {what} {name!r} is {other!r}'s too: their grades would be mixed up"
            owners.setdefault(name, student)

    def faults_of_headings(self, books: Sequence[Book]) -> Iterator[str]:
        """A line for each heading that would not arrive as it is, or that two labs share."""
        for lab in sorted(set(self.column) - {book.lab for book in books}):
            yield f"a heading is given for {lab!r}, which is not exported"
        seen = set()
        for book in books:
            heading = self.heading(book.lab)
            if not heading or shown(heading) != heading:
                yield f"{book.lab}: change the heading {heading!r}: empty, a formula, or with line breaks"
            if heading in seen:
                yield f"{book.lab}: two columns are headed {heading!r}"
            seen.add(heading)

    def _unfinished(self, books: Sequence[Book]) -> Iterator[str]:
        if self.partial:
            return
        found = [f"{book.lab}: {student} {what}" for book in books for student, what in unfinished(book)]
        if found:
            yield "these scores are not final: finish them, or export all the same with --partial"
            yield from (f"  {line}" for line in found)

    def _remarks(self, books: Sequence[Book]) -> Iterator[str]:
        stands = "0" if self.missing == ZERO else "no score"
        for book in books:
            if nothing := [student for student, work in book.works.items() if work is None]:
                yield f"{book.lab}: {stands} for {len(nothing)} who handed in nothing: {', '.join(nothing)}"
            for student, what in unfinished(book):
                yield f"{book.lab}: exported all the same, {student} {what}"
            if late := [student for student, work in book.works.items() if work and work.penalty]:
                yield f"{book.lab}: the late penalty is taken off for {', '.join(late)}"
