"""One process writes to a folder; the others are told which."""

from __future__ import annotations

import os
import random
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lastgood.recovery.checkpoint import (
    CheckpointError,
    hold,
    latest_good,
    lock,
    processes,
    prune,
    verify,
    write,
)

Holder = Callable[[Path], int]
Taken = Callable[[Path], bool]


CHANGES: dict[str, Callable[[Path], object]] = {
    "write": lambda folder: write(folder, {"value": 2}, step=2),
    "write the same": lambda folder: write(folder, {"value": 1}, step=1),
    "prune": prune,
    "hold": lambda folder: hold(folder).__enter__(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_second_writer_is_refused_and_told_who_the_first_is(
    tmp_path: Path, change: Callable[[Path], object], holder: Holder
) -> None:
    write(tmp_path, {"value": 1}, step=1)
    pid = holder(tmp_path)
    with pytest.raises(CheckpointError) as caught:
        change(tmp_path)
    error = caught.value
    assert error.path == tmp_path
    host, start = socket.gethostname(), processes.started(pid)
    assert error.cause == f"process {pid} on {host} (started at tick {start}) writes here"
    assert "end it" in error.remedy
    assert [path.name for path in tmp_path.iterdir() if path.name != ".lock"] == ["step-00000001"]


def test_readers_need_no_lock(tmp_path: Path, holder: Holder) -> None:
    path = write(tmp_path, {"value": 1}, step=1)
    holder(tmp_path)
    verify(path)
    found = latest_good(tmp_path)
    assert found.checkpoint is not None
    assert found.skipped == []


def test_whoever_holds_it_writes_and_the_folder_is_clean_afterwards(
    tmp_path: Path, children: Any, taken: Taken
) -> None:
    with hold(tmp_path), hold(str(tmp_path)), hold(tmp_path / "."):
        for step in (1, 2, 3):
            write(tmp_path, {"value": step}, step=step)
        prune(tmp_path, keep_last=1)
        assert children.ask(lambda: taken(tmp_path)), "an inner block took the outer one's lock away"
    assert not children.ask(lambda: taken(tmp_path))
    assert os.listdir(tmp_path) == ["step-00000003"]


def test_a_link_to_a_folder_is_that_folder(tmp_path: Path, holder: Holder, taken: Taken) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "link").symlink_to("run")
    with hold(tmp_path / "run"):
        write(tmp_path / "link", {"value": 1}, step=1)
    holder(tmp_path / "link")
    assert taken(tmp_path / "run")


def test_folders_do_not_get_into_each_others_way(tmp_path: Path, holder: Holder, taken: Taken) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    holder(tmp_path / "one")
    assert not taken(tmp_path / "two")


def test_of_many_processes_one_at_a_time_is_inside(tmp_path: Path, children: Any) -> None:
    witness = tmp_path / "inside"

    def compete(report: int) -> None:
        entered = 0
        while entered < 40:
            try:
                with hold(tmp_path):
                    os.close(os.open(witness, os.O_CREAT | os.O_EXCL))  # raises if another is inside
                    witness.unlink()
                    entered += 1
            except CheckpointError:
                os.sched_yield()
        os.write(report, b"done")

    readings = [children.fork(compete)[1] for _ in range(4)]
    assert [children.drain(reading) for reading in readings] == [b"done"] * 4
    assert os.listdir(tmp_path) == []


def test_threads_of_one_process_take_turns(tmp_path: Path) -> None:
    errors: list[BaseException] = []
    start = threading.Barrier(4)

    def work(seed: int) -> None:
        rng = random.Random(seed)
        start.wait()
        try:
            for _ in range(8):
                write(tmp_path, {"value": rng.randint(0, 9)}, step=rng.randint(1, 2))
                prune(tmp_path, keep_last=1)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(os.listdir(tmp_path)) == 1
    assert not lock._held
