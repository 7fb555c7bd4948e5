"""What every format shares: nothing half-done leaves unasked, and the file is whole, private and readable."""

import csv
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.export.base import Exporter
from autograder.export.errors import ExportError
from autograder.export.formats import FORMATS

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
Enrol = Callable[..., None]
KINDS = pytest.mark.parametrize("kind", FORMATS.values(), ids=FORMATS)


def exported(kind: type[Exporter], gradebook: Any, path: Path, **options: Any) -> list[list[str]]:
    kind(to=str(path), assignment=["lab18"], **options).write(gradebook)
    delimiter = ";" if options.get("semicolons") else ","
    with open(path, newline="", encoding=kind.encoding) as file:
        return list(csv.reader(file, delimiter=delimiter, strict=True))


@KINDS
def test_scores_that_are_not_final_are_listed_and_nothing_is_written(
    kind: type[Exporter], gradebook: Any, enrol: Enrol, tmp_path: Path
) -> None:
    enrol("ada", 10, None)
    enrol("bob", None, None)
    enrol("cy", 10, 3)
    path = tmp_path / "grades.csv"
    path.write_text("the last export")
    with pytest.raises(ExportError) as caught:
        kind(to=str(path), assignment=["lab18"]).write(gradebook)
    assert "--partial" in str(caught.value)
    assert "lab18: ada waits for a person: why" in str(caught.value)
    assert "lab18: bob could not be graded" in str(caught.value)
    assert "cy" not in str(caught.value)
    assert path.read_text() == "the last export"
    assert [found.name for found in tmp_path.glob("*.csv")] == ["grades.csv"]


@KINDS
def test_partial_exports_what_there_is_and_says_whose_is_not_final(
    kind: type[Exporter], gradebook: Any, enrol: Enrol, tmp_path: Path
) -> None:
    enrol("ada", 10, None)
    enrol("bob", None, None)
    done = kind(to=str(tmp_path / "x.csv"), assignment=["lab18"], partial=True).write(gradebook)
    said = " ".join(done.remarks)
    assert "ada waits for a person" in said
    assert "bob could not be graded" in said
    with open(done.path, newline="", encoding=kind.encoding) as file:
        ada, bob = [row for row in csv.reader(file) if {"ada", "bob"} & set(row)]
    assert "10" in ada
    assert not {"0", "10"} & set(bob)


@KINDS
def test_nothing_handed_in_is_empty_or_zero_and_said(
    kind: type[Exporter], gradebook: Any, enrol: Enrol, tmp_path: Path
) -> None:
    enrol("ada", 10, 3)
    enrol("bob", handed_in=False)
    for missing in ("empty", "zero"):
        done = kind(to=str(tmp_path / "x.csv"), assignment=["lab18"], missing=missing).write(gradebook)
        with open(done.path, newline="", encoding=kind.encoding) as file:
            (bob,) = [row for row in csv.reader(file) if "bob" in row]
        assert ("0" in bob) == (missing == "zero")
        assert "1 who handed in nothing: bob" in " ".join(done.remarks)


@KINDS
def test_the_file_is_readable_by_its_owner_alone(
    kind: type[Exporter], gradebook: Any, enrol: Enrol, tmp_path: Path
) -> None:
    enrol("ada", 10, 3)
    exported(kind, gradebook, tmp_path / "x.csv")
    assert stat.S_IMODE(os.stat(tmp_path / "x.csv").st_mode) == 0o600


@KINDS
def test_ids_that_cannot_be_safe_and_match_are_refused_by_name(
    kind: type[Exporter], gradebook: Any, enrol: Enrol, tmp_path: Path
) -> None:
    names = ["=1+1", "+4915", "-x", "@ada", "a;=1", "a\tb", "a\nb", "ada "]
    for name in names:
        enrol(name, 10, 3)
    with pytest.raises(ExportError) as caught:
        exported(kind, gradebook, tmp_path / "x.csv")
    assert {name for name in names if repr(name) in str(caught.value)} == set(names)
    assert not (tmp_path / "x.csv").exists()


@KINDS
def test_names_arrive_safe_whatever_they_hold_and_ids_as_they_are(
    kind: type[Exporter], gradebook: Any, enrol: Enrol, tmp_path: Path
) -> None:
    nasty = [
        "a,b",
        'say "hi"',
        "two\nlines",
        "\r=1",
        "=1+1",
        "李小龍",
        "Zoë;=1",
        "'",
        '"',
        "\\",
        "Points Possible",
    ]
    ids = [
        "007",
        "o'neill",
        "Łukasz",
        "李",
        "a,b",
        'q"q',
        "x@y.org",
        "DOMAIN\\ada",
        "00123456789012345678",
        "1.5",
    ]
    for number, (first, last) in enumerate(zip(nasty, [*nasty[1:], nasty[0]], strict=True)):
        student = ids[number] if number < len(ids) else f"s{number}"
        enrol(student, 10, 3, first_name=first, last_name=last)
    rows = exported(kind, gradebook, tmp_path / "x.csv")
    assert len({len(row) for row in rows}) == 1
    found = {cell for row in rows for cell in row}
    assert set(ids) <= found
    assert not [cell for cell in found if cell[:1] in "=+@\t\r\n" and cell]
    assert not [cell for cell in found if cell[:1] == "-" and cell != "-"]
    assert not [cell for cell in found if "\n" in cell or "\r" in cell]


@KINDS
def test_only_the_students_and_labs_that_were_asked_for(
    kind: type[Exporter], gradebook: Any, enrol: Enrol, tmp_path: Path
) -> None:
    gradebook.add_assignment("lab19")
    for student in ("ada", "bob", "cy"):
        enrol(student, 10, 3)
    rows = exported(kind, gradebook, tmp_path / "x.csv", student=["ada", "cy"])
    text = repr(rows)
    assert "ada" in text
    assert "bob" not in text
    assert "lab19" not in text


@KINDS
def test_headings_that_would_not_arrive_are_refused(
    kind: type[Exporter], gradebook: Any, enrol: Enrol, tmp_path: Path
) -> None:
    enrol("ada", 10, 3)
    for heading in ("=1", "a\nb", ""):
        with pytest.raises(ExportError, match="change the heading"):
            exported(kind, gradebook, tmp_path / "x.csv", column={"lab18": heading})
    with pytest.raises(ExportError, match="'lab99', which is not exported"):
        exported(kind, gradebook, tmp_path / "x.csv", column={"lab99": "x"})


def test_a_folder_that_is_not_there_is_an_error_and_leaves_nothing(
    gradebook: Any, enrol: Enrol, tmp_path: Path
) -> None:
    enrol("ada", 10, 3)
    with pytest.raises(ExportError, match="cannot write"):
        exported(FORMATS["csv"], gradebook, tmp_path / "no" / "x.csv")


def test_an_empty_gradebook_has_nothing_to_export(gradebook: Any, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="holds no students"):
        exported(FORMATS["csv"], gradebook, tmp_path / "x.csv")
