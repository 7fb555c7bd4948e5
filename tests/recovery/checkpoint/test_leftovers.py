"""Whose temporary entry is this, and does its owner still live?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lastgood.recovery.checkpoint import leftovers, processes
from lastgood.recovery.checkpoint.leftovers import recognise, remove, temporary


def ended_process() -> int:
    pid = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(pid, 0)
    return pid


def test_what_this_process_writes_is_recognised_as_its_own(tmp_path: Path) -> None:
    for removing in (False, True):
        path = temporary(tmp_path / "step-00000120.r2", removing=removing)
        leftover = recognise(path)
        assert leftover is not None
        assert (leftover.pid, leftover.alive, leftover.removing) == (os.getpid(), True, removing)
        assert path.name.startswith(".step-00000120.")
        assert temporary(tmp_path / "step-00000120", removing=removing) != path


@pytest.mark.parametrize(
    "name", ["step-00000120", ".step-00000120.tmp", ".nfs0001", ".step-1.2-3-abcdef01.tmp"]
)
def test_other_names_are_foreign(name: str) -> None:
    assert recognise(Path(name)) is None


def test_a_process_that_ended_is_dead() -> None:
    leftover = recognise(Path(f".step-00000120.{ended_process()}-5-0badcafe.tmp"))
    assert leftover is not None
    assert not leftover.alive
    assert "ended before it was done" in str(leftover)


@pytest.mark.parametrize("pid", [os.getpid(), 10**30], ids=["used again", "impossible"])
def test_a_process_id_that_another_process_has_now_is_dead(pid: int) -> None:
    leftover = recognise(Path(f".step-00000120.{pid}-1-0badcafe.del"))
    assert leftover is not None
    assert not leftover.alive


def test_a_zombie_is_dead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = os.posix_spawn("/bin/sleep", ["sleep", "1000"], {})
    monkeypatch.setattr(os, "getpid", lambda: pid)
    path = temporary(tmp_path / "step-00000120")
    monkeypatch.undo()
    alive = recognise(path)
    assert alive is not None
    assert alive.alive
    os.kill(pid, 9)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # ended, and not yet reaped
    dead = recognise(path)
    os.waitpid(pid, 0)
    assert dead is not None
    assert not dead.alive


def test_without_proc_a_process_of_that_id_counts_as_the_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "started", lambda pid: None)
    path = temporary(Path("step-00000120"))
    assert path.name.startswith(f".step-00000120.{os.getpid()}-0-")
    leftover = recognise(path)
    assert leftover is not None
    assert leftover.alive


def test_the_new_names_are_on_the_disk_before_anything_is_erased(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / f"step-0000000{step}" for step in (1, 2)]
    for path in paths:
        path.mkdir()
    seen: list[list[str]] = []

    def look(folder: Path) -> None:
        seen.append([name[:6] for name in os.listdir(folder)])

    monkeypatch.setattr(leftovers, "sync_folder", look)
    remove(paths)
    remove([])
    assert seen == [[".step-", ".step-"]]
    assert os.listdir(tmp_path) == []
