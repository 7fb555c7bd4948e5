"""What was handed in travels whole, and nothing that is not a file is read."""

import os
from pathlib import Path

import pytest

from autograder.runner.parcel import digest, lay_out, packed

LIMIT = 10**6


@pytest.fixture
def handed_in(tmp_path: Path) -> Path:
    folder = tmp_path / "handed-in"
    (folder / "data").mkdir(parents=True)
    (folder / "lab18.ipynb").write_bytes(b"{}")
    (folder / "data/é\n.csv").write_bytes(b"1,2")
    return folder


def test_files_and_folders_arrive_as_they_were(handed_in: Path, tmp_path: Path) -> None:
    (handed_in / os.fsdecode(b"latin-\xe9.txt")).write_bytes(b"\xff")
    parcel = packed(handed_in, LIMIT)
    lay_out(parcel, tmp_path / "there")
    assert packed(tmp_path / "there", LIMIT) == parcel
    assert (tmp_path / "there/data/é\n.csv").read_bytes() == b"1,2"


def test_a_link_travels_as_a_link_and_what_it_points_to_does_not(handed_in: Path, tmp_path: Path) -> None:
    secret = tmp_path / "gradebook.db"
    secret.write_bytes(b"everybody's grades")
    (handed_in / "link.txt").symlink_to(secret)
    (handed_in / "folder").symlink_to(tmp_path)
    parcel = packed(handed_in, LIMIT)
    assert b"everybody" not in b"".join(entry.content for entry in parcel)
    lay_out(parcel, tmp_path / "there")
    assert (tmp_path / "there/link.txt").is_symlink()
    assert (tmp_path / "there/folder").is_symlink()


def test_a_pipe_is_not_waited_for(handed_in: Path, tmp_path: Path) -> None:
    os.mkfifo(handed_in / "pipe.ipynb")
    lay_out(packed(handed_in, LIMIT), tmp_path / "there")
    assert (tmp_path / "there/pipe.ipynb").is_fifo()


def test_a_file_beyond_the_limit_travels_as_its_size(handed_in: Path, tmp_path: Path) -> None:
    (handed_in / "z.bin").write_bytes(bytes(1001))
    parcel = packed(handed_in, 1000)
    assert sum(len(entry.content) for entry in parcel) < 1000
    lay_out(parcel, tmp_path / "there")
    assert (tmp_path / "there/z.bin").stat().st_size == 1001


def test_of_very_many_files_no_more_are_looked_at_than_a_submission_may_have(
    handed_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.runner.parcel.ENTRIES", 20)
    for number in range(30):
        (handed_in / "data" / str(number)).touch()
    assert len(packed(handed_in, LIMIT)) == 20


@pytest.mark.parametrize("what", ["a link", "a file", "nothing"])
def test_a_submission_that_is_no_folder_is_empty(what: str, handed_in: Path, tmp_path: Path) -> None:
    place = tmp_path / "submission"
    if what == "a link":
        place.symlink_to(handed_in)
    elif what == "a file":
        place.touch()
    assert packed(place, LIMIT) == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "lab18.ipynb").write_bytes(b"{ }"),
        lambda folder: (folder / "lab18.ipynb").rename(folder / "lab19.ipynb"),
        lambda folder: (folder / "more").mkdir(),
        lambda folder: (folder / "data/é\n.csv").unlink(),
    ],
)
def test_the_digest_tells_one_submission_from_another(handed_in: Path, change: object) -> None:
    before = digest(packed(handed_in, LIMIT))
    assert digest(packed(handed_in, LIMIT)) == before
    change(handed_in)
    assert digest(packed(handed_in, LIMIT)) != before
