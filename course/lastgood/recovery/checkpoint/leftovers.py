"""Entries of a checkpoint folder that are on their way in or out, and what a kill leaves of them.

Their names begin with a dot and carry the process that owns them, so that whoever comes later can tell work
in progress from what a dead process left behind. A process of another host or container looks dead from here:
that it does not write now is the lock's to know (see `lock`). Where a file system has no locks, and it lives
and writes, it gets an error and no finished checkpoint suffers.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lastgood.recovery.checkpoint import processes
from lastgood.recovery.disk import sync_folder

_NAME = re.compile(r"\.step-[0-9]{8,}\.([0-9]+)-([0-9]+)-[0-9a-f]{8}\.(tmp|del)")


@dataclass(frozen=True)
class Leftover:
    """A temporary entry: the process that owns it, whether that one lives, and what it was doing."""

    path: Path
    pid: int
    alive: bool
    removing: bool

    def __str__(self) -> str:
        doing = "removed" if self.removing else "written"
        if self.alive:
            return f"being {doing} by process {self.pid}"
        return f"half {doing}: process {self.pid} ended before it was done"


def temporary(target: Path, *, removing: bool = False) -> Path:
    """Return an unused dot-name beside the checkpoint `target`, owned by this process."""
    pid = os.getpid()
    owner = f"{pid}-{processes.started(pid) or 0}-{secrets.token_hex(4)}"
    return target.parent / f".{target.name.partition('.')[0]}.{owner}.{'del' if removing else 'tmp'}"


def recognise(path: Path) -> Leftover | None:
    """Return what `path` is by its name, None if it is none of ours."""
    if match := _NAME.fullmatch(path.name):
        pid, start = int(match[1]), int(match[2])
        return Leftover(path, pid, processes.alive(pid, start), match[3] == "del")
    return None


def remove(paths: Sequence[Path]) -> None:
    """Remove checkpoints of one folder: a kill at any moment leaves each whole, or under a dot-name.

    Raises OSError.
    """
    if not paths:
        return
    trash = [temporary(path, removing=True) for path in paths]
    for path, away in zip(paths, trash, strict=True):
        os.rename(path, away)
    sync_folder(paths[0].parent)  # else a power failure could keep an old name and lose some of its files
    for away in trash:
        erase(away)


def erase(path: Path) -> None:
    """Remove a folder, or whatever else bears the name; a symbolic link is removed, not followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
