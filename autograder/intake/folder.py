"""What lies in a submission's folder: notebooks, other files, and what is not read at all.

Nothing is followed out of the folder. Only regular files are looked at; links, pipes and sockets are named.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePath
from typing import Final

ENTRIES: Final = 10_000  # files and folders that are looked at
DEEP: Final = 8  # folders in folders
COPIED_BYTES: Final = 200_000_000  # of all that is handed in beside notebooks, and copied for grading
_NOTEBOOK: Final = re.compile(r"\.ipynb(\.(txt|json))?$|\.json$", re.IGNORECASE)
_SKIPPED: Final = ("__MACOSX", "__pycache__")


@dataclass(frozen=True)
class Folder:
    """What was handed in, as paths relative to the folder `root`.

    `notebooks` may be some, by their names, the nearest first; `refused` were not read, with the reason.
    """

    root: Path
    notebooks: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    skipped: tuple[str, ...] = ()
    fault: str = ""  # why nothing in it was looked at

    @property
    def names(self) -> tuple[str, ...]:
        """All that was handed in."""
        refused = (f"{name} ({why})" for name, why in self.refused)
        skipped = (name for name in self.skipped if name.endswith(".ipynb"))
        return (*self.notebooks, *self.others, *refused, *skipped)


def looked_at(root: Path) -> Folder:
    """Look at a submission's folder. Never raises for what is in it."""
    if root.is_symlink():
        return Folder(root, fault="What was handed in is a link and not a folder: nothing was read.")
    if not root.is_dir():
        return Folder(root, fault="No folder was handed in: nothing was read.")
    notebooks: list[str] = []
    others: list[str] = []
    refused: list[tuple[str, str]] = []
    skipped: list[str] = []
    for count, (name, status) in enumerate(_entries(root, "", 0)):
        if count == ENTRIES:
            refused.append(("the rest", f"more than {ENTRIES:,} files"))
            break
        if _passed_over(name, status):
            skipped.append(name)
        elif stat.S_ISDIR(status.st_mode):
            if _NOTEBOOK.search(name):
                refused.append((name, "a folder"))
        elif why := _why_not(root, name, status):
            refused.append((name, why))
        else:
            (notebooks if _NOTEBOOK.search(name) else others).append(name)
    notebooks.sort(key=lambda name: (name.count(os.sep), name))
    return Folder(root, tuple(notebooks), tuple(others), tuple(refused), tuple(skipped))


def to_copy(root: Path, ignore: Sequence[str], ours: Collection[str]) -> tuple[list[str], list[str]]:
    """Names of files that are copied for grading, and of those that may not be.

    `ignore` are patterns for a file's name or a folder's, and `ours` the files that the lab brings itself:
    what would stand in their way is not copied.
    """
    folder = looked_at(root)
    folders = {str(parent) for name in ours for parent in PurePath(name).parents}
    left, taken = COPIED_BYTES, []
    refused = [name for name, _ in folder.refused]
    for name in (*folder.notebooks, *folder.others, *folder.skipped):
        parts = PurePath(name).parts
        above = {str(parent) for parent in PurePath(name).parents}
        if any(fnmatch(part, pattern) for part in parts for pattern in (*ignore, "*.ipynb")):
            continue
        status = os.lstat(root / name)
        if stat.S_ISDIR(status.st_mode):
            continue
        if (
            name in folders
            or above.intersection(ours)
            or _why_not(root, name, status)
            or status.st_size > left
        ):
            refused.append(name)
        else:
            left -= status.st_size
            taken.append(name)
    return taken, refused


def _passed_over(name: str, status: os.stat_result) -> bool:
    """Whether programs keep this for themselves: `.ipynb_checkpoints`, and macOS's `._…`."""
    *folders, last = name.split(os.sep)
    if stat.S_ISDIR(status.st_mode):
        folders.append(last)
    hidden = any(part.startswith(".") or part in _SKIPPED for part in folders)
    return hidden or last.startswith("._")


def _why_not(root: Path, name: str, status: os.stat_result) -> str:
    """Why a file is not read; empty where it is."""
    if stat.S_ISLNK(status.st_mode):
        return "a link and not a file"
    if not stat.S_ISREG(status.st_mode):
        return "no ordinary file"
    try:
        name.encode()
    except UnicodeEncodeError:
        return "a name that is not UTF-8"
    return "" if os.access(root / name, os.R_OK) else "not readable"


def _entries(root: Path, below: str, depth: int) -> Iterator[tuple[str, os.stat_result]]:
    """Files and folders, by name, folders before what is in them."""
    try:
        names = sorted(os.listdir(root / below))
    except OSError:  # not readable, or gone meanwhile
        return
    for name in names:
        path = os.path.join(below, name)
        try:
            status = os.lstat(root / path)
        except OSError:
            continue
        yield path, status
        if stat.S_ISDIR(status.st_mode) and depth < DEEP:
            yield from _entries(root, path, depth + 1)
