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


def watch(root: Path, seen: Callable[[str], None]) -> None:
    """Call `seen` with a description before each change below `root`, for the rest of this process's life."""
    prefix = str(root.resolve())

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = args
            writes = bool(set(mode or "") & set("wax+")) or bool((flags or 0) & _WRITING)
            paths = [path] if writes else []
        elif event in _CHANGES:
            paths = [arg for arg in args[:2] if isinstance(arg, str | bytes | os.PathLike)]
        else:
            return
        names = [_below(path, prefix) for path in paths]
        if any(names):
            verb = "open" if event == "open" else event.removeprefix("os.")
            seen(f"{verb} " + " to ".join(name or "…" for name in names))

    sys.addaudithook(hook)


def _below(path: Any, prefix: str) -> str | None:
    if not isinstance(path, str | bytes | os.PathLike):
        return None  # a file descriptor
    full = os.path.join(
        os.path.realpath(os.path.dirname(os.fsdecode(path)) or "."), os.path.basename(os.fsdecode(path))
    )
    return os.path.relpath(full, prefix) if full.startswith(prefix + os.sep) else None


def die_before_change(root: Path, number: int) -> None:
    """Arrange that this process is killed just before its change number `number` below `root`, from 0."""
    count = 0

    def seen(_: str) -> None:
        nonlocal count
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)
        count += 1

    watch(root, seen)


def die_at_size(n_bytes: int) -> None:
    """Arrange that this process is killed when a file that it writes reaches `n_bytes`."""
    signal.signal(
        signal.SIGXFSZ, signal.SIG_DFL
    )  # Python ignores it, and an exception could be cleaned up after
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))
