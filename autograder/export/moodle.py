r"""Scores in a form that Moodle's grade import takes: Grades, Import, CSV file.

Read from Moodle's own source, `grade/import/csv/classes/load_data.php`, `lib/csvlib.class.php` and
`lib/classes/dataformat.php` of moodle/moodle, in today's form and an older one:

- The instructor says which column identifies students, and as what: username, ID number or email address.
  The import stops at the first student that it does not find. Older ones give a row *without* an id, or with
  the id `0`, to the student of the row before.
- Cells are trimmed. A byte order mark is removed; none is written, for none is needed.
- The importer itself puts an apostrophe before a cell that begins with `=`, `+`, `-` or `@`: such an id never
  matches there.
- A backslash before a quotation mark hides it from PHP's reader of CSV files.
- `-` is no grade, in a column that exists and in a new one.
- A decimal point is read whatever the language, a comma only where the language has it.
- A feedback column without its grade column erases the grades.
"""

from collections.abc import Iterator, Sequence

from traitlets import Enum

from autograder.export.base import Exporter
from autograder.export.book import Book, Person, Work
from autograder.export.cells import is_formula, number, shown

USERNAME, IDNUMBER, EMAIL = "username", "idnumber", "email"
NO_GRADE = "-"
_HEADINGS = {USERNAME: "Username", IDNUMBER: "ID number", EMAIL: "Email address"}
_MAPS_TO = {USERNAME: "username", IDNUMBER: "useridnumber", EMAIL: "useremail"}


class MoodleExporter(Exporter):
    """A file for Moodle. Students are identified by their id in nbgrader, or by their address (`email`)."""

    id_is = Enum(
        (USERNAME, IDNUMBER, EMAIL), USERNAME, help="What a student's id is to Moodle; `email`: the email."
    ).tag(config=True)

    suffix = "moodle"

    def rows(self, people: Sequence[Person], books: Sequence[Book]) -> Iterator[list[str]]:
        grades = [f"{self.heading(book.lab)}{kind}" for book in books for kind in ("", " (feedback)")]
        yield [_HEADINGS[self.id_is], "First name", "Last name", *grades]
        for person in people:
            row = [self._identity(person), _plain(person.first_name), _plain(person.last_name)]
            for book in books:
                work = book.works[person.id]
                score = self.score(work)
                row += [NO_GRADE if score is None else number(score), _feedback(work)]
            yield row

    def faults(self, people: Sequence[Person], books: Sequence[Book]) -> Iterator[str]:
        what = "the email" if self.id_is == EMAIL else "the id"
        ids = [(person.id, self._identity(person)) for person in people]
        computed = {student for student, name in ids if is_formula(name)}
        for student in sorted(computed):
            yield (
                f"{student!r}: {what} begins like a formula; Moodle's import changes that and finds nobody: "
                "identify students by another field (--id-is), or leave this one out (--students)"
            )
        rest = [(student, name) for student, name in ids if student not in computed]
        yield from self.faults_of_ids(rest, what)
        for student, name in rest:
            if name == "0":
                yield f"{student!r}: Moodle takes the id '0' for none"
            if "\\" in name and set(name) & set('",'):
                yield f"{student!r}: Moodle cannot read {what} {name!r}, a backslash beside a quote or comma"
        yield from self.faults_of_headings(books)

    def remarks(self, people: Sequence[Person], books: Sequence[Book]) -> Iterator[str]:
        yield (
            f"in Moodle: encoding UTF-8, separator comma, map from “{_HEADINGS[self.id_is]}” to "
            f"“{_MAPS_TO[self.id_is]}”; map each grade column, and its feedback column only along with it"
        )
        if self.id_is == EMAIL:
            yield "Moodle compares addresses letter by letter, capitals too"
        yield "“-” is no grade: the import clears a grade that Moodle has there"

    def _identity(self, person: Person) -> str:
        return person.email if self.id_is == EMAIL else person.id


def _feedback(work: Work | None) -> str:
    """What a person wrote, and what became of the points. Nothing that a learner's notebook put out."""
    if work is None:
        return "Nothing was handed in."
    said = [f"{name}: {text}" for name, text in work.comments]
    if work.penalty:
        said.append(f"Late: {number(work.penalty)} of {number(work.raw)} points taken off.")
    if work.unread:
        said.append("Not graded yet.")
    elif work.waiting or work.again:
        said.append("Not final: an answer waits to be read.")
    return _plain(" ".join(said))


def _plain(text: str) -> str:
    return shown(text.replace("\\", "/"))
