"""Real processes killed while they save, replace and prune: what is left is good."""

from __future__ import annotations

import itertools
import os
import random
import select
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from lastgood.recovery.checkpoint import latest_good, list_checkpoints, prune, verify, write
from lastgood.recovery.checkpoint.asynchronous import AsyncWriter

CHANGES = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir"}


def state_of(value: int, size: int = 4) -> dict[str, Any]:
    return {"value": value, "w": torch.full((size,), float(value))}


def value_of(state: dict[str, Any]) -> int:
    value: int = state["value"]
    assert torch.equal(state["w"], torch.full_like(state["w"], value))
    return value


def save_for_ever(folder: Path, first: int, report: int) -> None:
    for step in itertools.count(first):
        write_and_prune(folder, state_of(step, size=100_000), step=step)
        os.write(report, step.to_bytes(4, "big"))


def save_for_ever_in_a_thread(folder: Path, first: int, report: int) -> None:
    saves = AsyncWriter(folder, writer=write_and_prune)
    for step in itertools.count(first):
        saves.write(state_of(step, size=100_000), step=step)  # which waits for the save before
        if step > first:
            os.write(report, (step - 1).to_bytes(4, "big"))


def write_and_prune(folder: Path, state: dict[str, Any], /, *, step: int) -> Path:
    path = write(folder, state, step=step)
    prune(folder, keep_last=2)
    return path


SAVERS = {"in the foreground": save_for_ever, "in the background": save_for_ever_in_a_thread}


# lightning#688: killed in the middle of writing, and the latest file was torn. The interval is one step here.
@pytest.mark.parametrize(
    "kills",
    [
        10,
        pytest.param(60, marks=pytest.mark.slow),
        pytest.param(200, marks=[pytest.mark.slow, pytest.mark.nightly]),
    ],
)
@pytest.mark.parametrize("saver", SAVERS.values(), ids=SAVERS)
def test_a_kill_at_any_moment_loses_at_most_one_interval(
    tmp_path: Path, children: Any, kills: int, saver: Callable[[Path, int, int], None]
) -> None:
    rng = random.Random(18)
    saved, torn = -1, 0
    for _ in range(kills):
        pid, reading = children.fork(partial(saver, tmp_path, saved + 1))
        for _ in range(rng.randint(1, 3)):
            report = os.read(reading, 4)
            assert report, "the child failed of itself"
            saved = int.from_bytes(report, "big")
        select.select([], [], [], rng.uniform(0, 0.03))  # the moment of the kill is what is drawn here
        children.kill(pid)
        rest = children.drain(reading)
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


def killed_before_change(children: Any, number: int, action: Callable[[], object]) -> bool:
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

    pid, reading = children.fork(child)
    through = children.drain(reading) == b"through"
    status = children.wait(pid)
    assert through or status == -signal.SIGKILL, "the child failed of itself"
    return not through


def kill_at_each_change(
    children: Any, prepare: Callable[[Path], object], act: Callable[[Path], object], root: Path
) -> Iterator[Path]:
    """Yield, for each change to the file system that `act` makes, a folder where it was killed before it."""
    for number in itertools.count():
        folder = root / str(number)
        folder.mkdir()
        prepare(folder)
        if not killed_before_change(children, number, partial(act, folder)):
            return
        yield folder


def write_in_a_thread(folder: Path, state: dict[str, Any], /, *, step: int) -> None:
    with AsyncWriter(folder) as saves:
        saves.write(state, step=step)


# lightning#688 again, at moments that are enumerated instead of drawn.
@pytest.mark.parametrize(("step", "changes"), [(2, 6), (1, 11)], ids=["a new step", "a step written again"])
@pytest.mark.parametrize("save", [write, pytest.param(write_in_a_thread, marks=pytest.mark.slow)])
def test_a_save_killed_at_each_change_leaves_the_old_or_the_new(
    tmp_path: Path, children: Any, save: Callable[..., object], step: int, changes: int
) -> None:
    def prepare(folder: Path) -> None:
        write(folder, state_of(1), step=1)

    def act(folder: Path) -> None:
        save(folder, state_of(2), step=step)

    seen = []
    for folder in kill_at_each_change(children, prepare, act, tmp_path):
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
    assert seen.count(2) == (1 if step == 2 else 6)  # a new step's last change but the lock makes it good
    assert len(seen) >= changes


def test_a_prune_killed_at_each_change_leaves_each_checkpoint_whole_or_gone(
    tmp_path: Path, children: Any
) -> None:
    def prepare(folder: Path) -> None:
        for step in (1, 2, 3):
            write(folder, state_of(step), step=step)

    killed = 0
    act = partial(prune, keep_last=1)
    for folder in kill_at_each_change(children, prepare, act, tmp_path):
        for path in list_checkpoints(folder):
            verify(path)
        found = latest_good(folder).checkpoint
        assert found is not None
        assert found.step == 3
        prune(folder, keep_last=1)
        assert os.listdir(folder) == ["step-00000003"]
        killed += 1
    assert killed >= 8


def test_what_a_living_process_writes_is_named_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_progress = []

    def look(folder: Path) -> None:
        if folder != tmp_path:
            in_progress.extend(latest_good(tmp_path).skipped)
            assert prune(tmp_path) == []

    monkeypatch.setattr("lastgood.recovery.checkpoint.files.sync_folder", look)
    path = write(tmp_path, state_of(1), step=1)
    assert [skip.reason for skip in in_progress] == [f"being written by process {os.getpid()}"]
    verify(path)
