"""The file for a spreadsheet: nbgrader's columns, and what stands in the way of a score."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.export.sheet import SheetExporter

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
Enrol = Callable[..., None]


def export(gradebook: Any, path: Path, delimiter: str = ",", **options: Any) -> list[dict[str, str]]:
    SheetExporter(to=str(path), assignment=["lab18"], **options).write(gradebook)
    with open(path, newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file, delimiter=delimiter, strict=True))


def test_every_student_has_a_row_with_a_status(gradebook: Any, enrol: Enrol, tmp_path: Path) -> None:
    enrol("ada", 10, 3, penalty=1.5, first_name="Ada", email="a@x.org")
    enrol("bob", 10, None)
    enrol("cy", None, None)
    enrol("dee", handed_in=False)
    rows = export(gradebook, tmp_path / "x.csv", partial=True)
    keys = ("student_id", "raw_score", "late_submission_penalty", "score", "max_score", "status")
    assert [[row[key] for key in keys] for row in rows] == [
        ["ada", "13", "1.5", "11.5", "13", "final"],
        ["bob", "10", "0", "10", "13", "waits for a person"],
        ["cy", "", "", "", "13", "not graded"],
        ["dee", "", "", "", "13", "missing"],
    ]
    assert (rows[0]["first_name"], rows[0]["email"]) == ("Ada", "a@x.org")


def test_the_columns_are_those_of_nbgraders_own_export_and_status(
    gradebook: Any, enrol: Enrol, tmp_path: Path
) -> None:
    from nbgrader.plugins import CsvExportPlugin

    enrol("ada", 10, 3, penalty=1)
    CsvExportPlugin(to=str(tmp_path / "theirs.csv")).export(gradebook)
    with open(tmp_path / "theirs.csv", newline="") as file:
        (theirs,) = csv.DictReader(file)
    (ours,) = export(gradebook, tmp_path / "x.csv")
    assert list(ours) == [*theirs, "status"]
    for key in ("raw_score", "late_submission_penalty", "score", "max_score"):
        assert float(ours[key]) == float(theirs[key])


def test_excel_is_told_that_it_is_utf_8(gradebook: Any, enrol: Enrol, tmp_path: Path) -> None:
    enrol("ada", 10, 3, last_name="Żółć")
    (row,) = export(gradebook, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_bytes().startswith(b"\xef\xbb\xbfassignment,")
    assert row["last_name"] == "Żółć"


def test_semicolons_come_with_decimal_commas(gradebook: Any, enrol: Enrol, tmp_path: Path) -> None:
    enrol("ada", 9.5, 3, last_name="a,=1;=2")
    (row,) = export(gradebook, tmp_path / "x.csv", ";", semicolons=True)
    assert (row["score"], row["max_score"]) == ("12,5", "13")
    assert row["last_name"] == "a,'=1;'=2"
