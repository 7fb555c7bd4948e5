"""A date that a learner can write is read as one, or is no date, but never a traceback."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from nbgrader.coursedir import CourseDirectory

from autograder.intake.dates import AHEAD, EARLIEST, handed_in_at, note_on_date, tolerate

NOW = datetime(2026, 11, 30)
BAD = ["", "yesterday", "\0", "2026-13-45", "9" * 400, "9999-12-31 23:59:59 -2300", "\ud83d"]


def dated(folder: Path, said: str) -> Path:
    (folder / "timestamp.txt").write_text(said, encoding="utf-8", errors="surrogatepass")
    return folder


@pytest.mark.parametrize("said", ["2026-01-02 03:04:05 UTC", "2026-01-02T05:04:05+02:00\n"])
def test_a_date_is_read_in_utc(said: str, tmp_path: Path) -> None:
    assert handed_in_at(dated(tmp_path, said)) == datetime(2026, 1, 2, 3, 4, 5)
    assert note_on_date(tmp_path, NOW) == ""


@pytest.mark.parametrize("said", BAD)
def test_what_is_no_date_is_noted(said: str, tmp_path: Path) -> None:
    assert handed_in_at(dated(tmp_path, said)) is None
    assert "holds no date" in note_on_date(tmp_path, NOW)


def test_no_file_is_nothing_to_note(tmp_path: Path) -> None:
    assert (handed_in_at(tmp_path), note_on_date(tmp_path, NOW)) == (None, "")


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    dated(tmp_path / "a", "2026-01-02")
    (tmp_path / "timestamp.txt").symlink_to(tmp_path / "a/timestamp.txt")
    assert handed_in_at(tmp_path) is None


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        (NOW + AHEAD, ""),
        (NOW + AHEAD + timedelta(seconds=1), "still to come"),
        (EARLIEST, ""),
        (EARLIEST - timedelta(seconds=1), "cannot be"),
    ],
)
def test_a_date_that_cannot_be_is_noted(moment: datetime, said: str, tmp_path: Path) -> None:
    note = note_on_date(dated(tmp_path, moment.isoformat()), NOW)
    assert said in note
    assert bool(note) == bool(said)


@pytest.mark.parametrize("said", BAD)
def test_nbgrader_reads_such_a_file_without_a_traceback(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CourseDirectory, "get_existing_timestamp", CourseDirectory.get_existing_timestamp)
    tolerate()
    assert CourseDirectory().get_existing_timestamp(str(dated(tmp_path, said))) is None
