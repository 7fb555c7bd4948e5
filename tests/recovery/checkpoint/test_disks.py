"""Disks that are full, read-only or gone: the error says which, and what was saved before stays."""

from __future__ import annotations

import os
import resource
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from lastgood.recovery import checkpoint
from lastgood.recovery.checkpoint import (
    CheckpointError,
    files,
    hold,
    latest_good,
    leftovers,
    list_checkpoints,
    lock,
    prune,
    read,
    verify,
    write,
)

WriteSteps = Callable[..., list[Path]]
OnDisk = Callable[[str, Callable[[Any], object]], Any]


def of_size(numbers: int) -> dict[str, Any]:
    """A state of some four bytes for each number."""
    return {"w": torch.zeros(numbers)}


def step_found(folder: Path) -> int | None:
    found = latest_good(folder).checkpoint
    return found and found.step


# Full


def save_with_limit(folder: Path, limit: int) -> None:
    """Save step 2 while files may not grow over `limit` bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    write(folder, of_size(50_000), step=2)


@pytest.mark.parametrize("limit", [0, 1, 700, 5_000, 100_000, 200_000, 201_000])
def test_a_file_that_may_not_grow_is_told_and_tidied_up(tmp_path: Path, children: Any, limit: int) -> None:
    write(tmp_path, {"value": 1}, step=1)
    with pytest.raises(CheckpointError) as caught:
        children.ask(lambda: save_with_limit(tmp_path, limit))
    assert caught.value.path == tmp_path / "step-00000002"
    assert caught.value.cause == "no room to write it (File too large)"
    assert "Make room" in caught.value.remedy
    assert os.listdir(tmp_path) == ["step-00000001"]
    verify(tmp_path / "step-00000001")


def test_a_limit_above_the_file_is_no_hindrance(tmp_path: Path, children: Any) -> None:
    children.ask(lambda: save_with_limit(tmp_path, 210_000))
    assert step_found(tmp_path) == 2


def test_a_full_disk_is_told_and_leaves_room_for_a_smaller_save(on_disk: OnDisk) -> None:
    def act(disk: Any) -> None:
        for size in (4, 8000):
            write(disk.path, of_size(size), step=size)
        with pytest.raises(
            CheckpointError, match=r"step-00009000: no room to write it \(No space left on device\)"
        ):
            write(disk.path, of_size(9000), step=9000)
        assert len(os.listdir(disk.path)) == 2
        for path in list_checkpoints(disk.path):
            verify(path)
        write(disk.path, {"value": 3}, step=9001)

    on_disk("size=64k", act)


def fill_bytes(folder: Path) -> None:
    with suppress(OSError), (folder / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(bytes(4096))


def fill_names(folder: Path) -> None:
    with suppress(OSError):
        for number in range(1000):
            (folder / f"filler{number}").touch()


@pytest.mark.parametrize("fill", [fill_bytes, fill_names])
def test_on_a_disk_without_any_room_left_a_prune_makes_some(
    on_disk: OnDisk, fill: Callable[[Path], None], write_steps: WriteSteps
) -> None:
    def act(disk: Any) -> None:
        write_steps(disk.path, 1, 2, 3)
        fill(disk.path)
        with pytest.raises(CheckpointError, match=r"step-00000004: no room .*prune\(folder\) may"):
            write(disk.path, {"value": 4}, step=4)
        assert len(prune(disk.path, keep_last=1)) == 2
        write(disk.path, {"value": 4}, step=4)
        assert step_found(disk.path) == 4

    on_disk("size=64k,nr_inodes=32", act)


def test_a_lock_on_a_full_disk_holds_though_it_cannot_say_whose_it_is(on_disk: OnDisk, children: Any) -> None:
    def act(disk: Any) -> None:
        fill_bytes(disk.path)
        with hold(disk.path), pytest.raises(CheckpointError, match="another process writes here"):
            children.ask(lambda: prune(disk.path))

    on_disk("size=64k", act)


# Read-only


def test_a_read_only_disk_can_be_read_and_says_why_it_cannot_be_written(
    on_disk: OnDisk, write_steps: WriteSteps
) -> None:
    def act(disk: Any) -> None:
        write_steps(disk.path, 1, 2)
        before = sorted(os.listdir(disk.path))
        disk.make_read_only()

        assert step_found(disk.path) == 2
        for path in list_checkpoints(disk.path):
            assert verify(path) == read(path).manifest
        for change in (lambda: write(disk.path, {"value": 3}, step=3), lambda: prune(disk.path, keep_last=1)):
            with pytest.raises(CheckpointError, match=r"disk: .*Read-only file system"):
                change()
        with pytest.raises(CheckpointError, match=r"new: cannot be created \(Read-only file system\)"):
            write(disk.path / "new", {"value": 3}, step=3)
        assert sorted(os.listdir(disk.path)) == before

    on_disk("size=1m", act)


def test_a_disk_that_turns_read_only_in_the_middle_of_a_save_is_told(
    on_disk: OnDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def act(disk: Any) -> None:
        write(disk.path, {"value": 1}, step=1)
        files_sync = files.sync_folder

        def turn(folder: Path) -> None:
            files_sync(folder)
            disk.make_read_only()

        monkeypatch.setattr(files, "sync_folder", turn)  # the files are written, the rename is to come
        # The lock's file is open for writing, and a disk with such a file is not made read-only by asking.
        monkeypatch.setattr(lock, "_lock", lambda path: None)
        with pytest.raises(CheckpointError, match=r"step-00000002: could not be written .*Read-only"):
            write(disk.path, {"value": 2}, step=2)
        found = latest_good(disk.path)
        assert found.checkpoint is not None
        assert found.checkpoint.step == 1
        assert [skip.reason for skip in found.skipped] == [f"being written by process {os.getpid()}"]

    on_disk("size=1m", act)


# Gone


MOMENTS = [
    (checkpoint, "to_plain"),
    (leftovers, "temporary"),
    (files, "write_files"),
    (checkpoint, "_publish"),
]


@pytest.mark.parametrize(("place", "name"), MOMENTS)
def test_a_folder_that_vanishes_during_a_save_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: ModuleType, name: str
) -> None:
    folder = tmp_path / "run"
    write(folder, {"value": 1}, step=1)
    original = getattr(place, name)

    def vanish(*arguments: Any, **more: Any) -> Any:
        shutil.rmtree(folder)
        (tmp_path / "parent").mkdir()
        return original(*arguments, **more)

    monkeypatch.setattr(place, name, vanish)
    if name == "to_plain":  # before anything is written: it is made again
        write(folder, {"value": 2}, step=2)
    else:
        with pytest.raises(CheckpointError, match=r"run(/step-00000002)?: (does not exist|could not be wri)"):
            write(folder, {"value": 2}, step=2)
        assert os.listdir(tmp_path) == ["parent"]
    monkeypatch.undo()
    write(folder, {"value": 3}, step=3)
    assert step_found(folder) == 3


def test_a_folder_that_vanishes_between_list_and_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    write(folder, {"value": 1}, step=1)
    read_manifest = files.read_manifest

    def vanish(path: Path) -> Any:
        shutil.rmtree(folder, ignore_errors=True)
        return read_manifest(path)

    monkeypatch.setattr(files, "read_manifest", vanish)
    with pytest.raises(CheckpointError, match="run: does not exist"):
        latest_good(folder)
    monkeypatch.undo()
    with pytest.raises(CheckpointError, match="run: does not exist"):
        prune(folder)
