"""The lock's file and its folder may come, go, move and be odd."""

from __future__ import annotations

import errno
import fcntl
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lastgood.recovery.checkpoint import CheckpointError, hold, prune, verify, write

Holder = Callable[[Path], int]
Taken = Callable[[Path], bool]


def test_a_holder_that_removes_its_file_just_now_is_not_joined_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, children: Any, taken: Taken
) -> None:
    flock = fcntl.flock

    def late(descriptor: int, operation: int) -> None:
        monkeypatch.undo()
        (tmp_path / ".lock").unlink()
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with hold(tmp_path):
        assert children.ask(lambda: taken(tmp_path))


def test_a_folder_that_vanished_and_was_made_again_is_locked_again(
    tmp_path: Path, children: Any, holder: Holder
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with hold(folder):
        shutil.rmtree(folder)
        folder.mkdir()
        pid = holder(folder)
        with pytest.raises(CheckpointError, match=f"process {pid}"):
            write(folder, {"value": 1}, step=1)
        children.kill(pid)
        write(folder, {"value": 1}, step=1)
    assert os.listdir(folder) == ["step-00000001"]


def test_whoever_leaves_a_folder_that_is_gone_does_not_unlock_its_successor(
    tmp_path: Path, holder: Holder, taken: Taken
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with hold(folder):
        shutil.rmtree(folder)
        folder.mkdir()
        holder(folder)
    assert taken(folder)


def test_a_file_that_cannot_be_removed_locks_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, children: Any, taken: Taken
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, "no", str(path))

    with hold(tmp_path):
        monkeypatch.setattr(os, "unlink", refuse)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == [".lock"]
    assert not children.ask(lambda: taken(tmp_path))


def test_a_folder_that_was_moved_is_still_held(tmp_path: Path, children: Any, taken: Taken) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with hold(folder):
        folder = folder.rename(tmp_path / "moved")
        write(folder, {"value": 1}, step=1)
        assert children.ask(lambda: taken(folder))
    assert os.listdir(folder) == ["step-00000001"]


def link_elsewhere(path: Path) -> None:
    (path.parent.parent / "thesis").write_text("mine")
    path.symlink_to("../thesis")


@pytest.mark.parametrize("make", [Path.mkdir, link_elsewhere], ids=["a folder", "a link"])
def test_what_is_no_lock_file_is_told_and_left_alone(tmp_path: Path, make: Callable[[Path], object]) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    make(folder / ".lock")
    with pytest.raises(CheckpointError, match=r"run: cannot be locked for writing .*\.lock in it"):
        write(folder, {"value": 1}, step=1)
    assert os.listdir(folder) == [".lock"]
    assert "thesis" not in os.listdir(tmp_path) or (tmp_path / "thesis").read_text() == "mine"


@pytest.mark.parametrize("said", [b"", b"\xff", b"[]", b'{"pid": "x"}', b"[" * 5000], ids=repr)
def test_a_lock_that_does_not_say_whose_it_is_holds_all_the_same(
    tmp_path: Path, said: bytes, holder: Holder
) -> None:
    holder(tmp_path)
    (tmp_path / ".lock").write_bytes(said)
    with pytest.raises(CheckpointError, match="another process writes here"):
        prune(tmp_path)


def test_the_dead_of_another_host_cannot_be_told_from_here(tmp_path: Path, holder: Holder) -> None:
    holder(tmp_path)
    (tmp_path / ".lock").write_text('{"pid": 1, "started": 5, "host": "node7"}')
    with pytest.raises(CheckpointError, match=r"process 1 on node7 \(started at tick 5\) writes here"):
        prune(tmp_path)


def no_locks(descriptor: int, operation: int) -> None:
    raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


def another_number_each_time(path: Path) -> os.stat_result:
    return os.stat_result([0o100644, random.getrandbits(60), 1, 1, 0, 0, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("module", "name", "odd"), [(fcntl, "flock", no_locks), (os, "lstat", another_number_each_time)]
)
def test_on_a_file_system_without_locks_one_is_warned_and_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, odd: Any
) -> None:
    monkeypatch.setattr(module, name, odd)
    with pytest.warns(RuntimeWarning, match="without locks"):
        path = write(tmp_path, {"value": 1}, step=1)
    verify(path)
    assert os.listdir(tmp_path) == [path.name]


def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match="nowhere: does not exist"), hold(tmp_path / "nowhere"):
        pass
    with pytest.raises(CheckpointError, match="file: not a folder"), hold(tmp_path / "file"):
        pass
