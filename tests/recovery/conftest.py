"""What the tests of recovery share: checkpoints to work on, forked children that are killed, own disks."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest
import torch

from lastgood.recovery.checkpoint import CheckpointError, hold, latest_good, write

PATIENCE = 60.0  # seconds, reached by a failing test only
_CLONE_NEWNS, _CLONE_NEWUSER = 0x20000, 0x10000000  # linux/sched.h
_MS_RDONLY, _MS_REMOUNT, _MS_REC, _MS_PRIVATE = 1, 32, 16384, 1 << 18  # linux/mount.h


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Exact equality needs it, and a fork of a process that computed with several would hang."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def exists() -> Callable[[int], bool]:
    """Is there a process of this id?"""

    def exists(pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True

    return exists


@pytest.fixture(scope="session")
def runs(exists: Callable[[int], bool]) -> Callable[[int], bool]:
    """Does it exist, and is it no zombie? What reaps an orphan, and when, is not ours to decide."""

    def runs(pid: int) -> bool:
        stat = Path(f"/proc/{pid}/stat")
        try:
            return exists(pid) and (
                not Path("/proc").exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
            )
        except FileNotFoundError:
            return False

    return runs


@pytest.fixture(scope="session")
def write_steps() -> Callable[..., list[Path]]:
    """Write a checkpoint for each step, whose state holds the step as `value`; return their paths."""

    def write_steps(folder: Path, *steps: int) -> list[Path]:
        return [write(folder, {"value": step}, step=step) for step in steps]

    return write_steps


@pytest.fixture(scope="session")
def found_in() -> Callable[[Path], tuple[int | None, list[str]]]:
    """Look for the newest good checkpoint; return its step, and the reasons for what was skipped."""

    def found_in(folder: Path) -> tuple[int | None, list[str]]:
        found = latest_good(folder)
        return found.checkpoint and found.checkpoint.step, [skip.reason for skip in found.skipped]

    return found_in


@pytest.fixture(scope="session")
def spoil() -> Callable[[Path], None]:
    """Flip a byte of a checkpoint's state."""

    def spoil(checkpoint: Path) -> None:
        data = bytearray((checkpoint / "state.pt").read_bytes())
        data[300] ^= 0xFF
        (checkpoint / "state.pt").write_bytes(data)

    return spoil


class Children:
    """Forks of this process: they find torch imported. Here they do not compute with torch."""

    def __init__(self) -> None:
        self._pids: list[int] = []

    def fork(self, action: Callable[[int], object]) -> tuple[int, int]:
        """Run `action`, given one end of a pipe, in a child; return its id and the other end."""
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            # A child takes no lock that a thread of torch may hold.
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            pid = os.fork()
        if pid:
            os.close(writing)
            self._pids.append(pid)
            return pid, reading
        try:
            action(writing)
        finally:
            os._exit(0)

    def ask(self, action: Callable[[], Any]) -> Any:
        """Run `action` in a child; return what it returns, raise what it raises."""

        def child(writing: int) -> None:
            try:
                answer = (action(), None)
            except BaseException as error:
                answer = (None, error)
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(answer, pipe)

        pid, reading = self.fork(child)
        value, error = pickle.loads(self.drain(reading))
        self.wait(pid)
        if error is not None:
            raise error
        return value

    @staticmethod
    def drain(reading: int) -> bytes:
        """Read until the child has gone."""
        with os.fdopen(reading, "rb") as pipe:
            return pipe.read()

    def wait(self, pid: int) -> int:
        """Wait for the end of a child; return its exit status, -9 after SIGKILL."""
        self._pids.remove(pid)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def kill(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        assert self.wait(pid) == -signal.SIGKILL, "the child ended of itself"

    def end(self) -> None:
        for pid in self._pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


@pytest.fixture
def children() -> Iterator[Children]:
    children = Children()
    yield children
    children.end()


@pytest.fixture(scope="session")
def taken() -> Callable[[Path], bool]:
    """Does another process hold the folder, in the eyes of the one that asks?"""

    def taken(folder: Path) -> bool:
        try:
            with hold(folder):
                return False
        except CheckpointError:
            return True

    return taken


@pytest.fixture
def holder(children: Children) -> Callable[[Path], int]:
    """Start a child that holds a folder until it is killed; return its id."""

    def holder(folder: Path) -> int:
        def hold_until_killed(report: int) -> None:
            with hold(folder):
                os.write(report, b"held")
                signal.pause()

        pid, reading = children.fork(hold_until_killed)
        assert os.read(reading, 4) == b"held"
        os.close(reading)
        return pid

    return holder


class Gate:
    """A writer for an AsyncWriter that says when it is reached, and waits to be let through."""

    def __init__(self) -> None:
        self._reached, self._opened = threading.Event(), threading.Event()

    def __call__(self, folder: Path, state: dict[str, Any], /, *, step: int) -> Path:
        self._reached.set()
        assert self._opened.wait(PATIENCE)
        return write(folder, state, step=step)

    def wait_until_reached(self) -> None:
        assert self._reached.wait(PATIENCE)

    def open(self) -> None:
        self._opened.set()


@pytest.fixture
def gate() -> Gate:
    return Gate()


class Disk:
    """A tmpfs that only this process and its children see. It goes with the process."""

    def __init__(self, path: Path, options: str) -> None:
        if sys.platform != "linux":
            raise SkipTest("needs mount namespaces")
        self.path = path
        self._libc = ctypes.CDLL(None, use_errno=True)
        ids = os.geteuid(), os.getegid()
        flags = _CLONE_NEWNS | (_CLONE_NEWUSER if ids[0] else 0)
        if self._libc.unshare(flags):
            raise SkipTest(f"needs the right to mount a tmpfs ({os.strerror(ctypes.get_errno())})")
        if ids[0]:
            Path("/proc/self/setgroups").write_text("deny")
            for name, number in zip(("uid_map", "gid_map"), ids, strict=True):
                Path("/proc/self", name).write_text(f"0 {number} 1")
        self._mount(Path("/"), None, _MS_REC | _MS_PRIVATE)
        path.mkdir()
        self._mount(path, b"tmpfs", 0, options)

    def make_read_only(self) -> None:
        self._mount(self.path, None, _MS_REMOUNT | _MS_RDONLY)

    def _mount(self, path: Path, kind: bytes | None, flags: int, options: str = "") -> None:
        if self._libc.mount(kind, bytes(path), kind, ctypes.c_ulong(flags), options.encode() or None):
            raise SkipTest(f"needs the right to mount a tmpfs ({os.strerror(ctypes.get_errno())})")


@pytest.fixture
def on_disk(children: Children, tmp_path: Path) -> Callable[[str, Callable[[Disk], Any]], Any]:
    """Run an action in a child that has a disk of its own; the options are those of mount for a tmpfs."""

    def on_disk(options: str, action: Callable[[Disk], Any]) -> Any:
        return children.ask(lambda: action(Disk(tmp_path / "disk", options)))

    return on_disk
