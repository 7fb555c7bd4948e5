"""One writer a folder: a lock that the operating system takes back when its holder dies.

The lock is `flock` on `.lock` in the folder, which names the holder for those who find it taken. It belongs
to a process, whose threads take turns. SIGKILL frees it. A child that Python forks lets go of it at once, so
that one that outlives its parent cannot keep the parent's successor out; a fork in C code, unseen by Python,
can. The file goes with the lock. One that a kill left behind is free to take.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from lastgood.recovery.checkpoint import processes
from lastgood.recovery.checkpoint.manifest import CheckpointError

LOCK_FILE = ".lock"
_OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FULL = (errno.ENOSPC, errno.EDQUOT)
_NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK)
_TRIES = 100  # where a file is never again at the path under which it was opened, a lock on it is none

_Identity = tuple[int, int]  # device and inode


@dataclass(eq=False)
class _Held:
    """A folder that this process holds."""

    descriptor: int | None  # None where there can be no lock, and in a forked child
    folder: Path = field(default_factory=Path)
    count: int = 0
    turn: threading.RLock = field(default_factory=threading.RLock)


_held: dict[_Identity, _Held] = {}
_registry = threading.RLock()  # re-entrant for signal handlers
_forks_watched = threading.Event()


@contextmanager
def hold(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Be the one process that writes to `folder`, until the block ends or the process dies.

    May be nested, and entered by several threads at once. Readers need no lock and see no difference.

    Raises CheckpointError if another process holds it, naming that process; if there is no such folder.
    """
    held = _take(Path(os.path.abspath(folder)))
    try:
        yield
    finally:
        _let_go(held)


@contextmanager
def alone(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Hold `folder`, and wait until no other thread of this process is in here. Raises CheckpointError."""
    held = _take(Path(os.path.abspath(folder)))
    try:
        with held.turn:
            yield
    finally:
        _let_go(held)


def _take(folder: Path) -> _Held:
    _watch_forks()
    with _registry:
        try:
            identity = _identity(folder)
            held = _held.get(identity)
            if held is None or not _stands(held.descriptor, folder):  # a deleted file locks nobody out
                held = _held[identity] = _Held(_lock(folder / LOCK_FILE))
        except OSError as error:
            raise _unlockable(folder, error) from error
        held.folder = folder  # it may have been moved in the meantime
        held.count += 1
        return held


def _let_go(held: _Held) -> None:
    with _registry:
        held.count -= 1
        if held.count:
            return
        for identity in [key for key, value in _held.items() if value is held]:
            del _held[identity]
        if held.descriptor is None:
            return
        if _stands(held.descriptor, held.folder):
            with suppress(OSError):  # the folder can be gone, or on a disk that was made read-only
                os.unlink(held.folder / LOCK_FILE)
        fcntl.flock(held.descriptor, fcntl.LOCK_UN)  # a child that C code forked has a copy of the descriptor
        os.close(held.descriptor)


def _lock(path: Path) -> int | None:
    """Return the open and locked file at `path`, None where there can be no lock. Raises CheckpointError."""
    for _ in range(_TRIES):
        try:
            descriptor = os.open(path, _OPEN, 0o666)
        except OSError as error:
            if error.errno in _FULL:
                return None  # no room for an empty file: whoever makes room must not be kept out
            raise
        locked = False
        try:
            # A file that does not stand there any more was removed, just now, by the holder before.
            locked = _flock(descriptor, path) and _stands(descriptor, path.parent)
            if locked:
                _sign(descriptor)
                return descriptor
        finally:
            if not locked:
                os.close(descriptor)
    with suppress(OSError):
        os.unlink(path)
    warnings.warn(
        f"{path.parent} is on a file system without locks: see to it yourself that one process writes there.",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


def _flock(descriptor: int, path: Path) -> bool:
    """Lock the open file at `path`; False where there are no locks. Raises CheckpointError if it is taken."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise _taken(path, os.pread(descriptor, 4096, 0)) from error
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return False
        raise
    return True


def _sign(descriptor: int) -> None:
    pid = os.getpid()
    owner = {"pid": pid, "started": processes.started(pid) or 0, "host": socket.gethostname()}
    with suppress(OSError):  # a full disk: the lock holds, and does not say whose it is
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(owner).encode() + b"\n", 0)


def _taken(path: Path, said: bytes) -> CheckpointError:
    try:
        owner = json.loads(said)
        pid, start, host = int(owner["pid"]), int(owner["started"]), str(owner["host"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return CheckpointError(path.parent, "another process writes here", f"`fuser {path}` names it.")
    who = f"process {pid} on {host} (started at tick {start})"
    if host == socket.gethostname() and not processes.alive(pid, start):
        cause = f"{who} has ended, but a process that it forked still holds the lock"
        return CheckpointError(path.parent, cause, f"`fuser {path}` names that process; end it.")
    remedy = "Wait until it is done, end it, or save into another folder; reading needs no lock."
    return CheckpointError(path.parent, f"{who} writes here", remedy)


def _unlockable(folder: Path, error: OSError) -> CheckpointError:
    if isinstance(error, FileNotFoundError):
        return CheckpointError(folder, "does not exist", "Check the path.")
    if isinstance(error, NotADirectoryError):
        return CheckpointError(folder, "not a folder", "Pass the path of a folder.")
    cause = f"cannot be locked for writing ({error.strerror})"
    return CheckpointError(folder, cause, f"See to its permissions, its disk and {LOCK_FILE} in it.")


def _identity(path: Path) -> _Identity:
    found = os.stat(path)
    return found.st_dev, found.st_ino


def _stands(descriptor: int | None, folder: Path) -> bool:
    """Is the lock that was taken the one that others find in the folder?"""
    if descriptor is None:
        return True
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(folder / LOCK_FILE))
    except OSError:
        return False


def _watch_forks() -> None:
    """See to it that a fork waits for the registry, and that its child lets go. Not before it is needed."""
    with _registry:
        if not _forks_watched.is_set():
            _forks_watched.set()
            os.register_at_fork(
                before=_registry.acquire, after_in_parent=_registry.release, after_in_child=_in_child
            )


def _in_child() -> None:
    for held in _held.values():
        if held.descriptor is not None:
            os.close(held.descriptor)  # not unlocked: the lock is one with the parent's
            held.descriptor = None
    _held.clear()
    _registry.release()
