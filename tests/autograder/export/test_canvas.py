"""The file for Canvas, read as Canvas's importer reads one (lib/gradebook_importer.rb of canvas-lms)."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.export.canvas import CanvasExporter, as_canvas_reads
from autograder.export.errors import ExportError

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
Enrol = Callable[..., None]
HEADING = "Lab 18 (4711)"


def imported(path: Path) -> dict[tuple[str, str, str], str]:
    """(ID, SIS User ID, SIS Login ID) -> grade, or an AssertionError where the importer would refuse."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [[as_canvas_reads(cell) for cell in row] for row in csv.reader(file, strict=True)]
    head, worth, *students = rows
    assert head[:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert "Points Possible" in worth[0]
    assert not [row for row in students if "Points Possible" in row[0]]
    assert len({len(row) for row in rows}) == 1
    return {(row[1], row[2], row[3]): row[5] for row in students}


def export(gradebook: Any, path: Path, **options: Any) -> tuple[str, ...]:
    options.setdefault("column", {"lab18": HEADING})
    return CanvasExporter(to=str(path), assignment=["lab18"], **options).write(gradebook).remarks


def test_the_file_is_what_canvas_exports_itself(gradebook: Any, enrol: Enrol, tmp_path: Path) -> None:
    enrol("ada", 9.5, 3, first_name="Ada", last_name="Lovelace", lms_user_id="12")
    enrol("bob", 10, 3, penalty=2)
    enrol("cy", handed_in=False)
    export(gradebook, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_bytes().decode() == (
        "Student,ID,SIS User ID,SIS Login ID,Section,Lab 18 (4711)\r\n"
        "    Points Possible,,,,,13\r\n"
        '"Lovelace, Ada",12,,ada,,12.5\r\n'
        "bob,,,bob,,11\r\n"
        "cy,,,cy,,\r\n"
    )


@pytest.mark.parametrize(("id_is", "place"), [("login", 2), ("sis", 1)])
def test_ids_come_through_canvas_unchanged(
    gradebook: Any, enrol: Enrol, tmp_path: Path, id_is: str, place: int
) -> None:
    ids = [
        "007",
        "ada",
        "1.5",
        "x,y",
        "o'neill",
        'q"q',
        "李",
        "DOMAIN\\ada",
        "00012345678901234567890",
        "a b",
    ]
    for number, student in enumerate(ids):
        enrol(student, number, 0)
    export(gradebook, tmp_path / "x.csv", id_is=id_is)
    assert {key[place]: grade for key, grade in imported(tmp_path / "x.csv").items()} == {
        student: str(number) for number, student in enumerate(ids)
    }


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        ("007", "007"),
        ("12.5", "12.5"),
        ("12,5", "12.5"),
        ("1.234,5", "1234.5"),
        ("2024.001.7", "2024001.7"),
        ("5.", "5"),
        (".5", ".5"),
        ("50%", "50%"),
        ("a1,5", "a1,5"),
        (",", ""),
    ],
)
def test_canvas_reads_digits_commas_and_points_as_one_number(cell: str, read: str) -> None:
    assert as_canvas_reads(cell) == read


@pytest.mark.parametrize("student", ["12,34", "2024.001.7", "5."])
def test_an_id_that_canvas_would_read_as_another_is_refused(
    gradebook: Any, enrol: Enrol, tmp_path: Path, student: str
) -> None:
    enrol(student, 10, 3)
    with pytest.raises(ExportError, match="Canvas's import would read this id as"):
        export(gradebook, tmp_path / "x.csv")


@pytest.mark.parametrize("number", ["12abc", "0", "-1", "1.5", "٣"])
def test_an_lms_user_id_must_be_canvas_number(
    gradebook: Any, enrol: Enrol, tmp_path: Path, number: str
) -> None:
    enrol("ada", 10, 3, lms_user_id=number)
    with pytest.raises(ExportError, match="lms_user_id"):
        export(gradebook, tmp_path / "x.csv")


def test_two_students_with_one_number_are_refused(gradebook: Any, enrol: Enrol, tmp_path: Path) -> None:
    enrol("ada", 10, 3, lms_user_id="7")
    enrol("bob", 0, 0, lms_user_id="7")
    with pytest.raises(ExportError, match="'bob': the lms_user_id '7' is 'ada''s too"):
        export(gradebook, tmp_path / "x.csv")


def test_a_name_is_never_the_row_of_points(gradebook: Any, enrol: Enrol, tmp_path: Path) -> None:
    enrol("ada", 1, 0, last_name="    Points Possible")
    enrol("bob", 10, 3)
    export(gradebook, tmp_path / "x.csv")
    assert list(imported(tmp_path / "x.csv").values()) == ["1", "13"]


@pytest.mark.parametrize("heading", ["Final Score", "Lab Current Grade", "Section", "Override Score (Fall)"])
def test_a_heading_that_canvas_takes_for_its_own_is_refused(
    gradebook: Any, enrol: Enrol, tmp_path: Path, heading: str
) -> None:
    enrol("ada", 10, 3)
    with pytest.raises(ExportError, match="one of its own"):
        export(gradebook, tmp_path / "x.csv", column={"lab18": heading})


def test_what_canvas_will_go_by_is_said(gradebook: Any, enrol: Enrol, tmp_path: Path) -> None:
    enrol("ada", 10, 3, last_name="Li", lms_user_id="7")
    enrol("bob", 10, 3, last_name="Li")
    enrol("cy", handed_in=False)
    said = "\n".join(export(gradebook, tmp_path / "x.csv", column={}))
    assert "lab18: Canvas takes the assignment of just this title" in said
    assert "2 of 3 students by their id as login" in said
    assert "two students of one name: bob" in said
    assert "an empty cell clears a score" in said
    assert "the id stands in its place" in said
    said = "\n".join(export(gradebook, tmp_path / "x.csv", missing="zero"))
    assert "just this title" not in said
    assert "empty cell" not in said
