"""Training goes on while a checkpoint is written, and neither disturbs the other."""

from __future__ import annotations

import copy
import gc
import os
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from lastgood.recovery import state
from lastgood.recovery.asynchronous import AsyncWriter
from lastgood.recovery.audit import AUDIT_CONFIG
from lastgood.recovery.checkpoint import CheckpointError, hold, latest_good, list_checkpoints, read, write
from lastgood.recovery.components import digests
from lastgood.recovery.plain import snapshot, to_plain
from lastgood.training.run import Run

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

PATIENCE = 60.0  # seconds, reached by a failing test only


def state_of(value: int, size: int = 4) -> dict[str, Any]:
    return {"value": value, "w": torch.full((size,), float(value))}


class Gate:
    """A writer that waits to be let through."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def __call__(self, folder: Path, state: dict[str, Any], /, *, step: int) -> Path:
        self.reached.set()
        assert self.opened.wait(PATIENCE)
        return write(folder, state, step=step)


# What is written


def live(run: Run) -> dict[str, Any]:
    """The state of a run by reference: what a `capture` that forgets to copy returns."""
    model, optimizer = dict(run.model.state_dict()), run.optimizer.state_dict()
    return state.capture(run) | {state.MODEL: model, state.OPTIMIZER: optimizer}


# pytorch#144657: an asynchronous save of CPU tensors took no copy, so later training changed the checkpoint.
def test_training_on_does_not_change_what_is_written(tmp_path: Path) -> None:
    run = Run(AUDIT_CONFIG, seed=5)
    for _ in range(3):
        run.advance()
    then = digests(run)
    reference = write(tmp_path / "reference", state.capture(run), step=3)
    gate = Gate()
    with AsyncWriter(tmp_path / "run", writer=gate) as saves:
        saves.write(live(run), step=3)
        assert gate.reached.wait(PATIENCE)
        for _ in range(4):
            run.advance()
        gate.opened.set()
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


def test_a_snapshot_shares_memory_inside_and_none_outside() -> None:
    base = torch.arange(12.0)
    names = ("whole", "part", "turned", "half", "parameter", "empty", "bits", "lazy", "negative")
    tensors = (
        base,
        base[3:7],
        base.view(3, 4).T,
        torch.ones(2, dtype=torch.bfloat16),
        torch.nn.Parameter(torch.ones(3)),
        torch.zeros(0, 5),
        torch.arange(4).to(torch.uint8).view(torch.float8_e4m3fn),
        torch.tensor([1 + 2j]).conj(),
        torch.tensor([1 + 2j]).conj().imag,
    )
    plain = to_plain({"t": dict(zip(names, tensors, strict=True)), "more": [1, ("a", None)]}, Path("step"))
    before = copy.deepcopy(plain)
    copied = snapshot(plain)
    for tensor in plain["t"].values():
        tensor.view(torch.uint8).zero_() if tensor.dtype.itemsize == 1 else tensor.zero_()
    assert copied["more"] == [1, ("a", None)]
    for name, expected in before["t"].items():
        found = copied["t"][name]
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert repr(found) == repr(expected)
        assert not found.requires_grad
    storages = {name: copied["t"][name].untyped_storage().data_ptr() for name in names}
    assert storages["whole"] == storages["part"] == storages["turned"] != storages["half"]
    assert copied["t"]["turned"].stride() == (1, 4)


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


def test_a_save_waits_for_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    gate = Gate()

    def writer(folder: Path, state: dict[str, Any], /, *, step: int) -> Path:
        events.append(f"{step} begins")
        path = gate(folder, state, step=step)
        events.append(f"{step} ends")
        return path

    saves = AsyncWriter(tmp_path, writer=writer)
    saves.write(state_of(1), step=1)
    assert gate.reached.wait(PATIENCE)
    wait = saves.wait

    def waits() -> Path | None:
        events.append("2 waits")
        gate.opened.set()
        return wait()

    monkeypatch.setattr(saves, "wait", waits)
    saves.write(state_of(2), step=2)
    assert events[:3] == ["1 begins", "2 waits", "1 ends"]
    assert wait() == tmp_path / "step-00000002"
    assert events[3:] == ["2 begins", "2 ends"]


def test_nothing_was_saved_yet_is_none(tmp_path: Path) -> None:
    with AsyncWriter(tmp_path) as saves:
        assert saves.wait() is None


def test_the_holder_of_a_folder_saves_in_the_background_too(tmp_path: Path) -> None:
    with hold(tmp_path), AsyncWriter(tmp_path) as saves:
        saves.write(state_of(1), step=1)
    assert len(list_checkpoints(tmp_path)) == 1


# Errors


def limited(folder: Path) -> None:
    """Files may not grow any more, by the second save."""
    saves = AsyncWriter(folder)
    saves.write(state_of(1), step=1)
    saves.wait()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, hard))
    saves.write(state_of(2, size=50_000), step=2)
    with pytest.raises(CheckpointError, match=r"step-00000002: no room to write it"):
        saves.write(state_of(3), step=3)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    saves.write(state_of(4), step=4)
    saves.close()


def test_a_full_disk_is_told_at_the_next_save_and_the_one_after_goes_through(
    tmp_path: Path, children: Any
) -> None:
    children.ask(lambda: limited(tmp_path))
    assert [path.name for path in list_checkpoints(tmp_path)] == ["step-00000001", "step-00000004"]


@pytest.mark.parametrize("end", ["write", "wait", "close", "leaving the block"])
def test_a_folder_that_vanishes_is_told_once_wherever_one_asks_next(tmp_path: Path, end: str) -> None:
    folder, gate = tmp_path / "parent" / "run", Gate()
    folder.mkdir(parents=True)
    saves = AsyncWriter(folder, writer=gate)
    saves.write(state_of(1), step=1)
    assert gate.reached.wait(PATIENCE)
    shutil.rmtree(folder.parent)
    gate.opened.set()
    asks = {
        "write": lambda: saves.write(state_of(2), step=2),
        "wait": saves.wait,
        "close": saves.close,
        "leaving the block": lambda: saves.__exit__(None, None, None),
    }
    with pytest.raises(CheckpointError, match="run: cannot be created"):
        asks[end]()
    saves.close()


def test_another_writer_is_named(tmp_path: Path, children: Any) -> None:
    def save(report: int) -> None:
        saves = AsyncWriter(tmp_path)
        saves.write(state_of(1), step=1)
        try:
            saves.wait()
        except CheckpointError as error:
            os.write(report, str(error).encode())

    with hold(tmp_path):
        _, reading = children.fork(save)
        assert f"process {os.getpid()} on " in children.drain(reading).decode()


def fails(error: BaseException) -> Callable[..., Path]:
    def writer(folder: Path, state: dict[str, Any], /, *, step: int) -> Path:
        raise error

    return writer


@pytest.mark.parametrize("error", [MemoryError("no room"), RuntimeError("odd"), SystemExit(3)], ids=repr)
def test_whatever_a_writer_raises_arrives_as_one_kind_of_error(tmp_path: Path, error: BaseException) -> None:
    saves = AsyncWriter(tmp_path, writer=fails(error))
    saves.write(state_of(1), step=1)
    with pytest.raises(CheckpointError) as caught:
        saves.wait()
    assert caught.value.path == tmp_path / "step-00000001"
    assert f"in the background ({type(error).__name__}" in caught.value.cause
    assert caught.value.__cause__ is error
    assert ", in writer\n" in caught.value.__notes__[0]


def test_what_loading_would_refuse_is_refused_at_once(tmp_path: Path) -> None:
    with AsyncWriter(tmp_path) as saves:
        with pytest.raises(CheckpointError, match=r"state\['x'\] is a set"):
            saves.write({"x": {1}}, step=1)
        with pytest.raises(CheckpointError, match="step is -1"):
            saves.write({}, step=-1)
    assert os.listdir(tmp_path) == []


def test_a_closed_writer_takes_nothing_more(tmp_path: Path) -> None:
    with AsyncWriter(tmp_path) as saves:
        saves.write(state_of(1), step=1)
    with pytest.raises(CheckpointError, match="its writer is closed"):
        saves.write(state_of(2), step=2)
    assert len(list_checkpoints(tmp_path)) == 1


def test_an_error_of_the_training_is_not_hidden_by_one_of_the_save(tmp_path: Path) -> None:
    broken = CheckpointError(tmp_path, "broken", "Mend it.")

    def train() -> None:
        with AsyncWriter(tmp_path, writer=fails(broken)) as saves:
            saves.write(state_of(1), step=1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        train()
    assert caught.value.__notes__ == [f"Besides, the last save failed: {broken}"]


def test_a_failed_save_lets_go_of_its_copy(tmp_path: Path) -> None:
    seen: list[weakref.ref[torch.Tensor]] = []

    def writer(folder: Path, state: dict[str, Any], /, *, step: int) -> Path:
        copied = state["w"]
        seen.append(weakref.ref(copied))
        raise MemoryError

    saves = AsyncWriter(tmp_path, writer=writer)
    saves.write(state_of(1), step=1)
    assert saves._thread is not None
    saves._thread.join()
    assert seen[0]() is None
    with pytest.raises(CheckpointError, match="MemoryError"):
        saves.wait()


def test_an_error_that_nobody_asks_for_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gate = Gate()

    def writer(folder: Path, state: dict[str, Any], /, *, step: int) -> Path:
        gate(folder, state, step=step)
        raise MemoryError

    saves = AsyncWriter(tmp_path, writer=writer)
    saves.write(state_of(1), step=1)
    thread = saves._thread
    assert thread is not None
    del saves
    gc.collect()
    gate.opened.set()
    thread.join()
    del thread
    gc.collect()
    said = capsys.readouterr().err
    assert said.startswith(f"A checkpoint was not saved: {tmp_path}/step-00000001: ")
    assert said.count("\n") == 1


# The end of a process


PROGRAM = """
import os, sys, threading
from pathlib import Path
from lastgood.recovery import asynchronous, checkpoint

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
    program = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(tmp_path)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout == "the program has ended\n" * 2, done.stderr
    found = latest_good(tmp_path / "good").checkpoint
    assert found is not None
    assert found.state == {"x": 1}
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"A checkpoint was not saved: {tmp_path}/bad: not a folder.")


def test_a_daemon_threads_save_is_waited_for_all_the_same(tmp_path: Path) -> None:
    gate, seen = Gate(), []

    def train() -> None:
        saves = AsyncWriter(tmp_path, writer=gate)
        saves.write(state_of(1), step=1)
        seen.append(saves._thread)
        gate.opened.set()
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
    saves.write(state_of(1), step=1)
    assert len(list_checkpoints(tmp_path)) == 1
    shutil.rmtree(tmp_path)
    tmp_path.touch()
    with pytest.raises(CheckpointError, match="not a folder"):
        saves.write(state_of(2), step=2)


def test_a_forked_child_does_not_take_its_parents_save_for_its_own(tmp_path: Path, children: Any) -> None:
    gate = Gate()
    with AsyncWriter(tmp_path, writer=gate) as saves:
        saves.write(state_of(1), step=1)
        assert gate.reached.wait(PATIENCE)
        with pytest.raises(CheckpointError, match="of another process"):
            children.ask(saves.wait)
        gate.opened.set()
    assert len(list_checkpoints(tmp_path)) == 1
