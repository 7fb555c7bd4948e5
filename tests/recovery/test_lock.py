"""One process writes to a folder; the others are told which; a death frees it at once."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import random
import shutil
import signal
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from lastgood.recovery import lock, processes
from lastgood.recovery.checkpoint import CheckpointError, hold, latest_good, prune, verify, write

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def state_of(value: int) -> dict[str, Any]:
    return {"value": value, "w": torch.full((4,), float(value))}


def taken(folder: Path) -> bool:
    """Does another process hold the folder, in the eyes of this one?"""
    try:
        with hold(folder):
            return False
    except CheckpointError:
        return True


def hold_until_killed(folder: Path, report: int) -> None:
    with hold(folder):
        os.write(report, b"held")
        signal.pause()


def holder(children: Any, folder: Path, action: Callable[[Path, int], None] = hold_until_killed) -> int:
    """A child that holds the folder."""
    pid, reading = children.fork(lambda report: action(folder, report))
    assert os.read(reading, 4) == b"held"
    os.close(reading)
    return int(pid)


# Two writers


CHANGES: dict[str, Callable[[Path], object]] = {
    "write": lambda folder: write(folder, state_of(2), step=2),
    "write the same": lambda folder: write(folder, state_of(1), step=1),
    "prune": prune,
    "hold": lambda folder: hold(folder).__enter__(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_second_writer_is_refused_and_told_who_the_first_is(
    tmp_path: Path, children: Any, change: Callable[[Path], object]
) -> None:
    write(tmp_path, state_of(1), step=1)
    pid = holder(children, tmp_path)
    with pytest.raises(CheckpointError) as caught:
        change(tmp_path)
    error = caught.value
    assert error.path == tmp_path
    host, start = socket.gethostname(), processes.started(pid)
    assert error.cause == f"process {pid} on {host} (started at tick {start}) writes here"
    assert "end it" in error.remedy
    assert [path.name for path in tmp_path.iterdir() if path.name != ".lock"] == ["step-00000001"]


def test_readers_need_no_lock(tmp_path: Path, children: Any) -> None:
    path = write(tmp_path, state_of(1), step=1)
    holder(children, tmp_path)
    verify(path)
    found = latest_good(tmp_path)
    assert found.checkpoint is not None
    assert found.skipped == []


def test_whoever_holds_it_writes_and_the_folder_is_clean_afterwards(tmp_path: Path, children: Any) -> None:
    with hold(tmp_path), hold(str(tmp_path)), hold(tmp_path / "."):
        for step in (1, 2, 3):
            write(tmp_path, state_of(step), step=step)
        prune(tmp_path, keep_last=1)
        assert children.ask(lambda: taken(tmp_path)), "an inner block took the outer one's lock away"
    assert not children.ask(lambda: taken(tmp_path))
    assert os.listdir(tmp_path) == ["step-00000003"]


def test_a_link_to_a_folder_is_that_folder(tmp_path: Path, children: Any) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "link").symlink_to("run")
    with hold(tmp_path / "run"):
        write(tmp_path / "link", state_of(1), step=1)
    holder(children, tmp_path / "link")
    assert taken(tmp_path / "run")


def test_folders_do_not_get_into_each_others_way(tmp_path: Path, children: Any) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    holder(children, tmp_path / "one")
    assert not taken(tmp_path / "two")


# Deaths and forks


def test_a_death_by_sigkill_frees_it(tmp_path: Path, children: Any) -> None:
    pid = holder(children, tmp_path)
    assert taken(tmp_path)
    children.kill(pid)
    assert (tmp_path / ".lock").exists()
    write(tmp_path, state_of(1), step=1)
    assert os.listdir(tmp_path) == ["step-00000001"]


def hold_with_a_child(fork: Callable[[], int]) -> Callable[[Path, int], None]:
    def action(folder: Path, report: int) -> None:
        with hold(folder):
            if fork() == 0:
                os.write(report, b"held")  # the fork is through, in the child too
            signal.pause()  # the child outlives its parent, until all of the group is killed

    return action


@pytest.fixture
def group(children: Any) -> Any:
    """Children of children: what is still there at the end is killed."""
    leaders = []

    def start(folder: Path, fork: Callable[[], int]) -> int:
        def action(folder: Path, report: int) -> None:
            os.setpgid(0, 0)
            hold_with_a_child(fork)(folder, report)

        leaders.append(holder(children, folder, action))
        return leaders[-1]

    yield start
    for leader in leaders:
        os.killpg(leader, signal.SIGKILL)


def test_a_child_that_outlives_the_killed_writer_does_not_keep_its_successor_out(
    tmp_path: Path, children: Any, group: Any
) -> None:
    pid = group(tmp_path, os.fork)
    assert taken(tmp_path)
    children.kill(pid)
    assert not taken(tmp_path)


def test_a_child_that_c_code_forked_keeps_it_and_is_told_of(
    tmp_path: Path, children: Any, group: Any
) -> None:
    pid = group(tmp_path, ctypes.PyDLL(None).fork)  # without Python's hooks
    children.kill(pid)
    with pytest.raises(
        CheckpointError, match=rf"process {pid} on .* has ended, but a process that it forked still holds"
    ):
        write(tmp_path, state_of(1), step=1)


def test_a_child_that_c_code_forked_keeps_nothing_once_the_writer_is_done(
    tmp_path: Path, children: Any
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
    tmp_path: Path, children: Any
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


def test_a_program_that_the_writer_starts_does_not_inherit_it(tmp_path: Path, children: Any) -> None:
    with hold(tmp_path):
        pid = os.posix_spawn("/bin/sleep", ["sleep", "1000"], {})
    try:
        assert not children.ask(lambda: taken(tmp_path))
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


# Files and folders that come and go


def test_a_holder_that_removes_its_file_just_now_is_not_joined_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, children: Any
) -> None:
    flock = fcntl.flock

    def late(descriptor: int, operation: int) -> None:
        monkeypatch.undo()
        (tmp_path / ".lock").unlink()
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with hold(tmp_path):
        assert children.ask(lambda: taken(tmp_path))


def test_a_folder_that_vanished_and_was_made_again_is_locked_again(tmp_path: Path, children: Any) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with hold(folder):
        shutil.rmtree(folder)
        folder.mkdir()
        pid = holder(children, folder)
        with pytest.raises(CheckpointError, match=f"process {pid}"):
            write(folder, state_of(1), step=1)
        children.kill(pid)
        write(folder, state_of(1), step=1)
    assert os.listdir(folder) == ["step-00000001"]


def test_whoever_leaves_a_folder_that_is_gone_does_not_unlock_its_successor(
    tmp_path: Path, children: Any
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with hold(folder):
        shutil.rmtree(folder)
        folder.mkdir()
        holder(children, folder)
    assert taken(folder)


def test_a_file_that_cannot_be_removed_locks_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, children: Any
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, "no", str(path))

    with hold(tmp_path):
        monkeypatch.setattr(os, "unlink", refuse)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == [".lock"]
    assert not children.ask(lambda: taken(tmp_path))


def test_a_folder_that_was_moved_is_still_held(tmp_path: Path, children: Any) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with hold(folder):
        folder = folder.rename(tmp_path / "moved")
        write(folder, state_of(1), step=1)
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
        write(folder, state_of(1), step=1)
    assert os.listdir(folder) == [".lock"]
    assert "thesis" not in os.listdir(tmp_path) or (tmp_path / "thesis").read_text() == "mine"


@pytest.mark.parametrize("said", [b"", b"\xff", b"[]", b'{"pid": "x"}', b"[" * 5000], ids=repr)
def test_a_lock_that_does_not_say_whose_it_is_holds_all_the_same(
    tmp_path: Path, children: Any, said: bytes
) -> None:
    holder(children, tmp_path)
    (tmp_path / ".lock").write_bytes(said)
    with pytest.raises(CheckpointError, match="another process writes here"):
        prune(tmp_path)


def test_the_dead_of_another_host_cannot_be_told_from_here(tmp_path: Path, children: Any) -> None:
    holder(children, tmp_path)
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
        path = write(tmp_path, state_of(1), step=1)
    verify(path)
    assert os.listdir(tmp_path) == [path.name]


def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match="nowhere: does not exist"), hold(tmp_path / "nowhere"):
        pass
    with pytest.raises(CheckpointError, match="file: not a folder"), hold(tmp_path / "file"):
        pass


# Many at once


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
                write(tmp_path, state_of(rng.randint(0, 9)), step=rng.randint(1, 2))
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
