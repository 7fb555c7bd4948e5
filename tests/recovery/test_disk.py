"""What is said to be on the disk was synced, contents and names alike."""

import os
from pathlib import Path

import pytest

from lastgood.recovery.disk import sync_folder, write_synced


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of what was synced, as the disk has them."""
    names: list[str] = []
    monkeypatch.setattr(
        os, "fsync", lambda fd: names.append(os.path.basename(os.readlink(f"/proc/self/fd/{fd}")))
    )
    return names


def test_a_file_is_written_over_what_was_there_and_synced_whole(tmp_path: Path, synced: list[str]) -> None:
    path = tmp_path / "notes"
    path.write_bytes(b"an older and a longer text")
    write_synced(path, b"text")
    assert path.read_bytes() == b"text"
    assert synced == ["notes"]


def test_a_folder_is_synced_and_left_closed(tmp_path: Path, synced: list[str]) -> None:
    before = len(os.listdir("/proc/self/fd"))
    sync_folder(tmp_path)
    assert synced == [tmp_path.name]
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        sync_folder(tmp_path / "nowhere")
