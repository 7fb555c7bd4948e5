"""Real processes killed while they save, replace and prune, and disks that are full: what is left is good."""

from __future__ import annotations

import itertools
import os
import pickle
import random
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from lastgood.recovery.checkpoint import (
    CheckpointError,
    latest_good,
    list_checkpoints,
    prune,
    verify,
    write,
)

# Forked children find torch imported. They neither compute nor take a lock that a thread of torch may hold.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

CHANGES = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir"}


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # a fork of a process that computed with several would hang
    yield
    torch.set_num_threads(threads)


def state_of(value: int, size: int = 4) -> dict[str, Any]:
    return {"value": value, "w": torch.full((size,), float(value))}


def value_of(state: dict[str, Any]) -> int:
    value: int = state["value"]
    assert torch.equal(state["w"], torch.full_like(state["w"], value))
    return value


def fork(action: Callable[[int], object]) -> tuple[int, int]:
    """Run `action`, given one end of a pipe, in a child; return its id and the other end."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    try:
        action(writing)
    finally:
        os._exit(0)


def drain(reading: int) -> bytes:
    """Read until the child has gone."""
    with os.fdopen(reading, "rb") as pipe:
        return pipe.read()


def save_for_ever(folder: Path, first: int, report: int) -> None:
    for step in itertools.count(first):
        write(folder, state_of(step, size=100_000), step=step)
        os.write(report, step.to_bytes(4, "big"))
        prune(folder, keep_last=2)


def test_a_kill_at_any_moment_loses_nothing_that_was_saved(tmp_path: Path) -> None:
    rng = random.Random(18)
    saved, torn = -1, 0
    for _ in range(15):
        pid, reading = fork(partial(save_for_ever, tmp_path, saved + 1))
        for _ in range(rng.randint(1, 3)):
            report = os.read(reading, 4)
            assert report, "the child failed of itself"
            saved = int.from_bytes(report, "big")
        select.select([], [], [], rng.uniform(0, 0.03))  # the moment of the kill is what is drawn here
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        rest = drain(reading)
        saved = int.from_bytes(rest[-4:], "big") if rest else saved

        found = latest_good(tmp_path)
        assert found.checkpoint is not None
        assert found.checkpoint.step == value_of(found.checkpoint.state) >= saved
        assert all("ended before it was done" in skip.reason for skip in found.skipped)
        torn += len(found.skipped) > 0
        saved = found.checkpoint.step
    assert torn, "no kill fell into a save, so this test has shown nothing"
    prune(tmp_path, keep_last=2)
    assert len(os.listdir(tmp_path)) == len(list_checkpoints(tmp_path)) == 2


def killed_before_change(number: int, action: Callable[[], object]) -> bool:
    """Run `action` in a child that dies before its file system change `number`; False if it got through."""

    def child(report: int) -> None:
        left = itertools.count(number, -1)

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            reads = event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR)
            if event in CHANGES and not reads and next(left) == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        action()
        os.write(report, b"through")

    pid, reading = fork(child)
    through = drain(reading) == b"through"
    status = os.waitpid(pid, 0)[1]
    assert through or os.WTERMSIG(status) == signal.SIGKILL, "the child failed of itself"
    return not through


def kill_at_each_change(
    prepare: Callable[[Path], object], act: Callable[[Path], object], root: Path
) -> Iterator[Path]:
    """Yield, for each change to the file system that `act` makes, a folder where it was killed before it."""
    for number in itertools.count():
        folder = root / str(number)
        folder.mkdir()
        prepare(folder)
        if not killed_before_change(number, partial(act, folder)):
            return
        yield folder


@pytest.mark.parametrize(("step", "changes"), [(2, 4), (1, 9)], ids=["a new step", "a step written again"])
def test_a_save_killed_at_each_change_leaves_the_old_or_the_new(
    tmp_path: Path, step: int, changes: int
) -> None:
    def prepare(folder: Path) -> None:
        write(folder, state_of(1), step=1)

    def act(folder: Path) -> None:
        write(folder, state_of(2), step=step)

    seen = []
    for folder in kill_at_each_change(prepare, act, tmp_path):
        found = latest_good(folder).checkpoint
        assert found is not None
        seen.append(value_of(found.state))
        assert prune(folder, keep_last=1) or len(os.listdir(folder)) == 1
        assert len(os.listdir(folder)) == 1
        act(folder)  # who comes next can go on
        again = latest_good(folder).checkpoint
        assert again is not None
        assert value_of(again.state) == 2
    assert seen == sorted(seen)
    assert set(seen) == ({1} if step == 2 else {1, 2})  # the last change of a new step makes it good
    assert len(seen) >= changes


def test_a_prune_killed_at_each_change_leaves_each_checkpoint_whole_or_gone(tmp_path: Path) -> None:
    def prepare(folder: Path) -> None:
        for step in (1, 2, 3):
            write(folder, state_of(step), step=step)

    killed = 0
    for folder in kill_at_each_change(prepare, lambda folder: prune(folder, keep_last=1), tmp_path):
        for path in list_checkpoints(folder):
            verify(path)
        found = latest_good(folder).checkpoint
        assert found is not None
        assert found.step == 3
        prune(folder, keep_last=1)
        assert os.listdir(folder) == ["step-00000003"]
        killed += 1
    assert killed >= 8


def save_with_limit(folder: Path, limit: int) -> CheckpointError | None:
    """Save step 2 in a child whose files may not grow over `limit` bytes; return its error."""

    def child(report: int) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        error = None
        try:
            write(folder, state_of(2, size=50_000), step=2)
        except CheckpointError as caught:
            error = caught
        os.write(report, pickle.dumps(error))

    pid, reading = fork(child)
    result: CheckpointError | None = pickle.loads(drain(reading))
    os.waitpid(pid, 0)
    return result


@pytest.mark.parametrize("limit", [0, 1, 700, 5_000, 100_000, 200_000, 201_000])
def test_a_file_that_may_not_grow_is_told_and_tidied_up(tmp_path: Path, limit: int) -> None:
    write(tmp_path, state_of(1), step=1)
    error = save_with_limit(tmp_path, limit)
    assert error is not None
    assert error.path == tmp_path / "step-00000002"
    assert error.cause == "no room to write it (File too large)"
    assert "Make room" in error.remedy
    assert os.listdir(tmp_path) == ["step-00000001"]
    verify(tmp_path / "step-00000001")


def test_a_limit_above_the_file_is_no_hindrance(tmp_path: Path) -> None:
    assert save_with_limit(tmp_path, 210_000) is None


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs the right to mount a tmpfs")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_told_and_leaves_room_for_a_smaller_save(small_disk: Path) -> None:
    for size in (4, 8000):
        write(small_disk, state_of(1, size), step=size)
    with pytest.raises(
        CheckpointError, match=r"step-00009000: no room to write it \(No space left on device\)"
    ):
        write(small_disk, state_of(2, 9000), step=9000)
    assert len(os.listdir(small_disk)) == 2
    for path in list_checkpoints(small_disk):
        verify(path)
    write(small_disk, state_of(3), step=9001)


def test_what_a_living_process_writes_is_named_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_progress = []

    def look(folder: Path) -> None:
        if folder != tmp_path:
            in_progress.extend(latest_good(tmp_path).skipped)
            assert prune(tmp_path) == []

    monkeypatch.setattr("lastgood.recovery.files.sync_folder", look)
    path = write(tmp_path, state_of(1), step=1)
    assert [skip.reason for skip in in_progress] == [f"being written by process {os.getpid()}"]
    verify(path)
