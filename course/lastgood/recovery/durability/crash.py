"""Dying in the middle of a save, at a chosen point.

A random moment finds the same hole again and again and misses the narrow ones. So the points are enumerated:
just before each file that a save opens for writing, renames or removes, and at fractions of what it writes.
The first kind is caught by an audit hook of the interpreter, the second by a limit on the size of a file,
which also stops writers that Python does not see, such as torch's.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate"}
_NOT_DATA = ("/dev/", "/proc/", "/sys/", sys.prefix + os.sep, sys.base_prefix + os.sep)


def watch(root: Path, seen: Callable[[str], None]) -> None:
    """Call `seen` with a description before each change below `root`, for the rest of this process's life."""
    prefix = os.path.realpath(root) + os.sep

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event in _CHANGES or (event == "open" and _writes(*args[1:3])):
            full = [_full(path) for path in args[: 1 if event == "open" else 2]]
            if any(path.startswith(prefix) for path in full):
                names = [
                    os.path.relpath(path, prefix) if path.startswith(prefix) else "…" for path in full if path
                ]
                seen(f"{event.removeprefix('os.')} {' to '.join(names)}")

    sys.addaudithook(hook)


def strangers(root: Path) -> set[str]:
    """A set to which, from now on, each file is added that is opened or changed outside `root`.

    Devices and what belongs to the Python installation are left out.
    """
    prefix = os.path.realpath(root) + os.sep
    found: set[str] = set()

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event == "open" or event in _CHANGES:
            for path in (_full(arg) for arg in args[: 1 if event == "open" else 2]):
                if path and not path.startswith((prefix, *_NOT_DATA)) and not path.endswith(".pyc"):
                    found.add(path)

    sys.addaudithook(hook)
    return found


def _writes(mode: str | None, flags: int | None) -> bool:
    return bool(set(mode or "") & set("wax+")) or bool((flags or 0) & _WRITING)


def _full(path: Any) -> str:
    """The path without links in its folders; empty for a file descriptor."""
    if not isinstance(path, str | bytes | os.PathLike):
        return ""
    folder, name = os.path.split(os.path.abspath(os.fsdecode(path)))
    return os.path.join(os.path.realpath(folder), name)


def die_at_change(root: Path, number: int, *, done: bool = False, then_bytes: int | None = None) -> None:
    """Arrange that this process is killed at its change number `number` below `root`, from 0.

    Just before the change; or where `done`, for a rename, just after it, with whatever is still in the
    process's buffers unwritten; or where `then_bytes` is given, once a file that it writes after that reaches
    this size.
    """
    count = 0

    def seen(what: str) -> None:
        nonlocal count
        count += 1
        if count - 1 != number:
            return
        if then_bytes is not None:
            die_at_size(then_bytes)
            return
        if done:
            source, target = (root / name for name in what.removeprefix("rename ").split(" to "))
            os.rename(source, target)
        os.kill(os.getpid(), signal.SIGKILL)

    watch(root, seen)


def die_at_size(n_bytes: int) -> None:
    """Arrange that this process is killed when a file that it writes reaches `n_bytes`."""
    signal.signal(
        signal.SIGXFSZ, signal.SIG_DFL
    )  # Python ignores it, and an exception could be cleaned up after
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))
