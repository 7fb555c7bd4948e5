"""The file for Moodle, read as PHP's fgetcsv with a backslash for an escape reads it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.export.errors import ExportError
from autograder.export.moodle import MoodleExporter

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
Enrol = Callable[..., None]


def fgetcsv(text: str) -> list[list[str]]:
    """Rows as PHP reads them: within quotes, a backslash keeps a quotation mark from ending the cell."""
    rows: list[list[str]] = [[]]
    cell, quoted, at = "", False, 0
    while at < len(text):
        char = text[at]
        if quoted and char == "\\" and text[at + 1 : at + 2] == '"':
            cell, at = cell + '\\"', at + 1
        elif quoted and text[at : at + 2] == '""':
            cell, at = cell + '"', at + 1
        elif char == '"' and (quoted or not cell):
            quoted = not quoted
        elif char == "," and not quoted:
            rows[-1].append(cell)
            cell = ""
        elif char == "\n" and not quoted:
            rows[-1].append(cell)
            rows.append([])
            cell = ""
        else:
            cell += char
        at += 1
    assert not quoted
    return [row for row in rows if row]


def export(gradebook: Any, path: Path, **options: Any) -> tuple[list[list[str]], str]:
    done = MoodleExporter(to=str(path), assignment=["lab18"], **options).write(gradebook)
    return fgetcsv(path.read_bytes().decode().replace("\r\n", "\n")), "\n".join(done.remarks)


def test_a_grade_and_a_feedback_for_each_student(gradebook: Any, enrol: Enrol, tmp_path: Path) -> None:
    enrol("ada", 10, 2.5, first_name="Ada", last_name="Lovelace", penalty=2, comment="Say, \nwhy?")
    enrol("bob", handed_in=False)
    rows, said = export(gradebook, tmp_path / "x.csv")
    assert rows == [
        ["Username", "First name", "Last name", "lab18", "lab18 (feedback)"],
        ["ada", "Ada", "Lovelace", "10.5", "why: Say, why? Late: 2 of 12.5 points taken off."],
        ["bob", "", "", "-", "Nothing was handed in."],
    ]
    assert "map from “Username” to “username”" in said


@pytest.mark.parametrize(
    ("id_is", "heading", "found"),
    [
        ("username", "Username", "ada"),
        ("idnumber", "ID number", "ada"),
        ("email", "Email address", "a@x.org"),
    ],
)
def test_students_are_identified_by_the_field_that_was_asked_for(
    gradebook: Any, enrol: Enrol, tmp_path: Path, id_is: str, heading: str, found: str
) -> None:
    enrol("ada", 10, 3, email="a@x.org")
    rows, _ = export(gradebook, tmp_path / "x.csv", id_is=id_is)
    assert [row[0] for row in rows] == [heading, found]


def test_a_student_without_an_address_is_refused_where_addresses_identify(
    gradebook: Any, enrol: Enrol, tmp_path: Path
) -> None:
    enrol("ada", 10, 3, email="a@x.org")
    enrol("bob", 10, 3)
    with pytest.raises(ExportError, match="'bob': the email '' is empty"):
        export(gradebook, tmp_path / "x.csv", id_is="email")


@pytest.mark.parametrize(
    ("student", "why"),
    [
        ("0", "takes the id '0' for none"),
        ("=1", "finds nobody"),
        ("+49", "finds nobody"),
        ('a\\",b', "backslash"),
    ],
)
def test_an_id_that_moodle_cannot_match_is_refused_even_raw(
    gradebook: Any, enrol: Enrol, tmp_path: Path, student: str, why: str
) -> None:
    enrol(student, 10, 3)
    with pytest.raises(ExportError, match=why):
        export(gradebook, tmp_path / "x.csv", raw_ids=True)


def test_names_and_comments_with_backslashes_and_quotes_stay_in_their_cells(
    gradebook: Any, enrol: Enrol, tmp_path: Path
) -> None:
    pieces = ["\\", '"', ",", '\\"', "a\\", '\\",\\"', "\n\\", '"\\\n"', "=\\"]
    for number, piece in enumerate(pieces):
        enrol(f"s{number}", 1, 1, first_name=piece, last_name=f"x{piece},", comment=f"{piece}, y{piece}")
    rows, _ = export(gradebook, tmp_path / "x.csv")
    assert [row[0] for row in rows[1:]] == [f"s{number}" for number in range(len(pieces))]
    assert {len(row) for row in rows} == {5}
    assert {row[3] for row in rows[1:]} == {"2"}
    assert not [cell for row in rows for cell in row if "\\" in cell]


def test_feedback_is_what_a_person_wrote_and_says_what_is_not_final(
    gradebook: Any, enrol: Enrol, tmp_path: Path
) -> None:
    enrol("ada", 10, None)
    enrol("bob", None, None)
    gradebook.find_comment("why", "lab18", "lab18", "ada").auto_comment = "No response."
    gradebook.db.commit()
    rows, _ = export(gradebook, tmp_path / "x.csv", partial=True)
    assert [row[3:] for row in rows[1:]] == [
        ["10", "Not final: an answer waits to be read."],
        ["-", "Not graded yet."],
    ]
