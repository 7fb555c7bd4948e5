"""The ledger says what a grade stands on, and after a kill that there is none."""

from pathlib import Path

import pytest

from autograder.runner.ledger import FOLDER, Ledger, LedgerError


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path, "lab18")


def at(tmp_path: Path, student: str) -> Path:
    return tmp_path / student / "lab18"


def test_a_grade_stands_on_the_files_that_it_was_recorded_with(ledger: Ledger, tmp_path: Path) -> None:
    with ledger.open(lambda student: at(tmp_path, student)):
        assert ledger.graded("ada") == ""
        ledger.recording("ada")
        ledger.done("ada", "d1")
    assert Ledger(tmp_path, "lab18").graded("ada") == "d1"
    assert Ledger(tmp_path, "lab19").graded("ada") == ""


@pytest.mark.parametrize("after", ["recording", "failed"])
def test_a_grade_that_is_being_recorded_or_has_failed_is_not_relied_on(
    ledger: Ledger, tmp_path: Path, after: str
) -> None:
    with ledger.open(lambda student: at(tmp_path, student)):
        ledger.done("ada", "d1")
        if after == "recording":
            ledger.recording("ada")
        else:
            ledger.failed("ada", "not JSON")
        assert ledger.graded("ada") == ""


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"graded": '])
def test_a_damaged_entry_is_no_grade(ledger: Ledger, tmp_path: Path, text: str) -> None:
    with ledger.open(lambda student: at(tmp_path, student)):
        ledger.done("ada", "d1")
        (tmp_path / FOLDER / "lab18/ada.json").write_text(text)
        assert ledger.graded("ada") == ""


def test_two_runs_of_a_lab_in_one_folder_are_refused(ledger: Ledger, tmp_path: Path) -> None:
    with (
        ledger.open(lambda student: at(tmp_path, student)),
        pytest.raises(LedgerError, match="another `autograder grade` is at work on lab18"),
        Ledger(tmp_path, "lab18").open(lambda student: at(tmp_path, student)),
    ):
        pass


def test_a_folder_that_was_moved_away_goes_back_unless_there_is_a_new_one(
    ledger: Ledger, tmp_path: Path
) -> None:
    with ledger.open(lambda student: at(tmp_path, student)):
        for student in "ada", "bob":
            ledger.replaced(student).mkdir()
            (ledger.replaced(student) / "old").touch()
            at(tmp_path, student).parent.mkdir()
        at(tmp_path, "bob").mkdir()
        ledger.staged("chi").mkdir()
    with ledger.open(lambda student: at(tmp_path, student)):
        assert (at(tmp_path, "ada") / "old").exists()
        assert list(at(tmp_path, "bob").iterdir()) == []
        left = {path.name for path in (tmp_path / FOLDER / "lab18").iterdir()}
        assert left == {"lock"}
