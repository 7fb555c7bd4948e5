"""A death frees the lock at once, whatever the dead process forked."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lastgood.recovery.checkpoint import CheckpointError, hold, write

Holder = Callable[[Path], int]
HolderWithAChild = Callable[[Path, Callable[[], int]], int]
Taken = Callable[[Path], bool]


def test_a_death_by_sigkill_frees_it(tmp_path: Path, children: Any, holder: Holder, taken: Taken) -> None:
    pid = holder(tmp_path)
    assert taken(tmp_path)
    children.kill(pid)
    assert (tmp_path / ".lock").exists()
    write(tmp_path, {"value": 1}, step=1)
    assert os.listdir(tmp_path) == ["step-00000001"]


@pytest.fixture
def holder_with_a_child(children: Any) -> Iterator[HolderWithAChild]:
    """Start a child that holds a folder and forks a child, which may outlive it; return its id."""
    leaders: list[int] = []

    def start(folder: Path, fork: Callable[[], int]) -> int:
        def hold_and_fork(report: int) -> None:
            os.setpgid(0, 0)
            with hold(folder):
                if fork() == 0:
                    os.write(report, b"held")  # the fork is through, in the child too
                signal.pause()

        pid, reading = children.fork(hold_and_fork)
        leaders.append(pid)
        assert os.read(reading, 4) == b"held"
        os.close(reading)
        return pid

    yield start
    for leader in leaders:
        os.killpg(leader, signal.SIGKILL)


def test_a_child_that_outlives_the_killed_writer_does_not_keep_its_successor_out(
    tmp_path: Path, children: Any, holder_with_a_child: HolderWithAChild, taken: Taken
) -> None:
    pid = holder_with_a_child(tmp_path, os.fork)
    assert taken(tmp_path)
    children.kill(pid)
    assert not taken(tmp_path)


def test_a_child_that_c_code_forked_keeps_it_and_is_told_of(
    tmp_path: Path, children: Any, holder_with_a_child: HolderWithAChild
) -> None:
    pid = holder_with_a_child(tmp_path, ctypes.PyDLL(None).fork)  # without Python's hooks
    children.kill(pid)
    with pytest.raises(
        CheckpointError, match=rf"process {pid} on .* has ended, but a process that it forked still holds"
    ):
        write(tmp_path, {"value": 1}, step=1)


def test_a_child_that_c_code_forked_keeps_nothing_once_the_writer_is_done(
    tmp_path: Path, children: Any, taken: Taken
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with hold(folder):
        pid = ctypes.PyDLL(None).fork()
        if pid == 0:
            signal.pause()
        folder = folder.rename(tmp_path / "moved")  # so that the lock's file stays
    try:
        assert not children.ask(lambda: taken(folder))
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_a_forked_child_is_another_process_and_leaves_its_parents_lock_alone(
    tmp_path: Path, children: Any, taken: Taken
) -> None:
    def leave_the_block(report: int) -> None:
        block.__exit__(None, None, None)
        os.write(report, b"taken" if taken(tmp_path) else b"free")

    block = hold(tmp_path)
    with block:
        _, reading = children.fork(leave_the_block)
        assert children.drain(reading) == b"taken"
        assert children.ask(lambda: taken(tmp_path))
        (tmp_path / ".lock").stat()
    assert not children.ask(lambda: taken(tmp_path))


def test_a_program_that_the_writer_starts_does_not_inherit_it(
    tmp_path: Path, children: Any, taken: Taken
) -> None:
    with hold(tmp_path):
        pid = os.posix_spawn("/bin/sleep", ["sleep", "1000"], {})
    try:
        assert not children.ask(lambda: taken(tmp_path))
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
