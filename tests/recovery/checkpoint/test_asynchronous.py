"""Training goes on while a checkpoint is written, and neither disturbs the other."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from lastgood.recovery import state
from lastgood.recovery.audit import AUDIT_CONFIG
from lastgood.recovery.checkpoint import CheckpointError, hold, latest_good, list_checkpoints, read, write
from lastgood.recovery.checkpoint.asynchronous import AsyncWriter
from lastgood.recovery.components import digests
from lastgood.training.run import Run

PATIENCE = 60.0  # seconds, reached by a failing test only


# What is written


def live(run: Run) -> dict[str, Any]:
    """The state of a run by reference: what a `capture` that forgets to copy returns."""
    model, optimizer = dict(run.model.state_dict()), run.optimizer.state_dict()
    return state.capture(run) | {state.MODEL: model, state.OPTIMIZER: optimizer}


# pytorch#144657: an asynchronous save of CPU tensors took no copy, so later training changed the checkpoint.
def test_training_on_does_not_change_what_is_written(tmp_path: Path, gate: Any) -> None:
    run = Run(AUDIT_CONFIG, seed=5)
    for _ in range(3):
        run.advance()
    then = digests(run)
    reference = write(tmp_path / "reference", state.capture(run), step=3)
    with AsyncWriter(tmp_path / "run", writer=gate) as saves:
        saves.write(live(run), step=3)
        gate.wait_until_reached()
        for _ in range(4):
            run.advance()
        gate.open()
        path = saves.wait()
    assert path == tmp_path / "run" / "step-00000003"
    assert (path / "state.pt").read_bytes() == (reference / "state.pt").read_bytes()
    resumed = Run(AUDIT_CONFIG, seed=6)
    state.restore(resumed, read(path).state)
    assert digests(resumed) == then


def test_a_run_that_saves_in_the_background_is_the_same_run(tmp_path: Path) -> None:
    alone = Run(AUDIT_CONFIG, seed=5)
    losses = [alone.advance().loss for _ in range(6)]
    end = digests(alone)
    run = Run(AUDIT_CONFIG, seed=5)
    with AsyncWriter(tmp_path) as saves:
        for loss in losses:
            assert run.advance().loss == loss
            saves.write(live(run), step=run.step)
        assert digests(run) == end
    assert len(list_checkpoints(tmp_path)) == 6


@pytest.mark.slow
def test_training_stands_still_for_hardly_more_than_one_copy(tmp_path: Path) -> None:
    weights = {f"layer{number}": torch.rand(2**19) for number in range(32)}  # 64 MiB

    def nowhere(folder: Path, state: dict[str, Any], /, *, step: int) -> Path:
        return folder

    def copy_once() -> None:
        _ = [tensor.clone() for tensor in weights.values()]

    def seconds(action: Callable[[], object]) -> float:
        saves.wait()
        start = time.perf_counter()
        action()
        return time.perf_counter() - start

    saves = AsyncWriter(tmp_path, writer=nowhere)
    pairs = [(seconds(copy_once), seconds(lambda: saves.write(weights, step=1))) for _ in range(15)]
    once, stall = (min(times) for times in zip(*pairs, strict=True))
    assert stall < 1.5 * once, f"training stood still for {stall:.3f} s, one copy takes {once:.3f} s"


# One at a time


def test_a_save_waits_for_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gate: Any) -> None:
    events: list[str] = []

    def writer(folder: Path, state: dict[str, Any], /, *, step: int) -> Path:
        events.append(f"{step} begins")
        path = gate(folder, state, step=step)
        events.append(f"{step} ends")
        return path

    saves = AsyncWriter(tmp_path, writer=writer)
    saves.write({"value": 1}, step=1)
    gate.wait_until_reached()
    wait = saves.wait

    def waits() -> Path | None:
        events.append("2 waits")
        gate.open()
        return wait()

    monkeypatch.setattr(saves, "wait", waits)
    saves.write({"value": 2}, step=2)
    assert events[:3] == ["1 begins", "2 waits", "1 ends"]
    assert wait() == tmp_path / "step-00000002"
    assert events[3:] == ["2 begins", "2 ends"]


def test_nothing_was_saved_yet_is_none(tmp_path: Path) -> None:
    with AsyncWriter(tmp_path) as saves:
        assert saves.wait() is None


def test_the_holder_of_a_folder_saves_in_the_background_too(tmp_path: Path) -> None:
    with hold(tmp_path), AsyncWriter(tmp_path) as saves:
        saves.write({"value": 1}, step=1)
    assert len(list_checkpoints(tmp_path)) == 1


# The end of a process


PROGRAM = """
import os, sys, threading
from pathlib import Path
from lastgood.recovery.checkpoint import asynchronous
from lastgood.recovery import checkpoint

def after_main(folder, state, /, *, step):
    threading.main_thread().join()  # all of the program has run by then
    os.write(1, b"the program has ended\\n")  # in one piece: there are two threads
    if folder.name == "bad":
        folder.rmdir()
        folder.write_text("in the way")
    return checkpoint.write(folder, state, step=step)

for name in ("good", "bad"):
    folder = Path(sys.argv[1], name)
    folder.mkdir()
    saves = asynchronous.AsyncWriter(folder, writer=after_main)
    saves.write({"x": 1}, step=1)
    globals()[name] = saves  # kept until the end, like a variable of a script
"""


def test_exit_waits_for_the_last_save_and_tells_its_error(tmp_path: Path) -> None:
    program = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout == "the program has ended\n" * 2, done.stderr
    found = latest_good(tmp_path / "good").checkpoint
    assert found is not None
    assert found.state == {"x": 1}
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"A checkpoint was not saved: {tmp_path}/bad: not a folder.")


def test_a_daemon_threads_save_is_waited_for_all_the_same(tmp_path: Path, gate: Any) -> None:
    seen: list[threading.Thread | None] = []

    def train() -> None:
        saves = AsyncWriter(tmp_path, writer=gate)
        saves.write({"value": 1}, step=1)
        seen.append(saves._thread)
        gate.open()
        saves.close()

    trainer = threading.Thread(target=train, daemon=True)
    trainer.start()
    trainer.join()
    assert [thread.daemon for thread in seen] == [False]


def test_where_no_thread_can_be_started_it_is_written_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    saves = AsyncWriter(tmp_path)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    saves.write({"value": 1}, step=1)
    assert len(list_checkpoints(tmp_path)) == 1
    shutil.rmtree(tmp_path)
    tmp_path.touch()
    with pytest.raises(CheckpointError, match="not a folder"):
        saves.write({"value": 2}, step=2)


def test_a_forked_child_does_not_take_its_parents_save_for_its_own(
    tmp_path: Path, children: Any, gate: Any
) -> None:
    with AsyncWriter(tmp_path, writer=gate) as saves:
        saves.write({"value": 1}, step=1)
        gate.wait_until_reached()
        with pytest.raises(CheckpointError, match="of another process"):
            children.ask(saves.wait)
        gate.open()
    assert len(list_checkpoints(tmp_path)) == 1
