"""Entries of a checkpoint folder that are on their way in or out, and what a kill leaves of them.

Their names begin with a dot and carry the process that owns them, so that whoever comes later can tell work
in progress from what a dead process left behind. A process is known by its id and its start time: ids are
used again, in a container often the very same one by the restarted trainer. A process of another host or
container looks dead from here; should it live and write, it gets an error and no finished checkpoint suffers.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

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
    owner = f"{pid}-{_started(pid) or 0}-{secrets.token_hex(4)}"
    return target.parent / f".{target.name.partition('.')[0]}.{owner}.{'del' if removing else 'tmp'}"


def recognise(path: Path) -> Leftover | None:
    """Return what `path` is by its name, None if it is none of ours."""
    if match := _NAME.fullmatch(path.name):
        pid, started = int(match[1]), int(match[2])
        return Leftover(path, pid, _alive(pid, started), match[3] == "del")
    return None


def remove(path: Path) -> None:
    """Remove a checkpoint: a kill at any moment leaves it whole, or under a dot-name. Raises OSError."""
    trash = temporary(path, removing=True)
    os.rename(path, trash)
    sync_folder(path.parent)  # else a power failure could keep the old name and lose some of the files
    erase(trash)


def erase(path: Path) -> None:
    """Remove a folder, or whatever else bears the name; a symbolic link is removed, not followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def sync_folder(path: Path) -> None:
    """Make the names in the folder `path` outlast a power failure. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _alive(pid: int, started: int) -> bool:
    """Does the process `pid` that started at `started` live? Where one cannot tell, yes."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # it exists, and is another user's
    now = _started(pid)
    return not (started and now is not None and now != started)


def _started(pid: int) -> int | None:
    """Return when `pid` started, in ticks since boot: -1 for a zombie, None where /proc does not say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return -1 if fields[0] in "ZX" else int(fields[19])
