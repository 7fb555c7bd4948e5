"""A save that failed in the background is told, once, to whoever asks next."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from lastgood.recovery.checkpoint import CheckpointError, hold, list_checkpoints
from lastgood.recovery.checkpoint.asynchronous import AsyncWriter


def limited(folder: Path) -> None:
    """Files may not grow any more, by the second save."""
    saves = AsyncWriter(folder)
    saves.write({"value": 1}, step=1)
    saves.wait()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, hard))
    saves.write({"w": torch.zeros(50_000)}, step=2)
    with pytest.raises(CheckpointError, match=r"step-00000002: no room to write it"):
        saves.write({"value": 3}, step=3)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    saves.write({"value": 4}, step=4)
    saves.close()


def test_a_full_disk_is_told_at_the_next_save_and_the_one_after_goes_through(
    tmp_path: Path, children: Any
) -> None:
    children.ask(lambda: limited(tmp_path))
    assert [path.name for path in list_checkpoints(tmp_path)] == ["step-00000001", "step-00000004"]


@pytest.mark.parametrize("end", ["write", "wait", "close", "leaving the block"])
def test_a_folder_that_vanishes_is_told_once_wherever_one_asks_next(
    tmp_path: Path, end: str, gate: Any
) -> None:
    folder = tmp_path / "parent" / "run"
    folder.mkdir(parents=True)
    saves = AsyncWriter(folder, writer=gate)
    saves.write({"value": 1}, step=1)
    gate.wait_until_reached()
    shutil.rmtree(folder.parent)
    gate.open()
    asks = {
        "write": lambda: saves.write({"value": 2}, step=2),
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
        saves.write({"value": 1}, step=1)
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
    saves.write({"value": 1}, step=1)
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
        saves.write({"value": 1}, step=1)
    with pytest.raises(CheckpointError, match="its writer is closed"):
        saves.write({"value": 2}, step=2)
    assert len(list_checkpoints(tmp_path)) == 1


def test_an_error_of_the_training_is_not_hidden_by_one_of_the_save(tmp_path: Path) -> None:
    broken = CheckpointError(tmp_path, "broken", "Mend it.")

    def train() -> None:
        with AsyncWriter(tmp_path, writer=fails(broken)) as saves:
            saves.write({"value": 1}, step=1)
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
    saves.write({"w": torch.zeros(4)}, step=1)
    assert saves._thread is not None
    saves._thread.join()
    assert seen[0]() is None
    with pytest.raises(CheckpointError, match="MemoryError"):
        saves.wait()


def test_an_error_that_nobody_asks_for_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], gate: Any
) -> None:
    def writer(folder: Path, state: dict[str, Any], /, *, step: int) -> Path:
        gate(folder, state, step=step)
        raise MemoryError

    saves = AsyncWriter(tmp_path, writer=writer)
    saves.write({"value": 1}, step=1)
    thread = saves._thread
    assert thread is not None
    del saves  # the thread holds it on
    gate.open()
    thread.join()
    del thread
    said = capsys.readouterr().err
    assert said.startswith(f"A checkpoint was not saved: {tmp_path}/step-00000001: ")
    assert said.count("\n") == 1
