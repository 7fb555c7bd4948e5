"""What a student handed in, as plain data: it is digested, sent to a worker, and laid out there again.

Nothing is followed and nothing but regular files is read. A link travels as a link, whatever it points to,
and what is too large to be read travels as its size: what to make of either is the intake's business.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ENTRIES: Final = 10_000  # files and folders of a submission; the rest is not looked at
_UNREAD, _LINK, _FOLDER, _OTHER = "unread", "link", "folder", "other"
_FILE: Final = "file"


@dataclass(frozen=True)
class Entry:
    """A file of a submission: where it lies, of what kind it is, and its content or a link's target.

    `size` is in bytes; of a file that was not read, content is empty.
    """

    path: str
    kind: str
    content: bytes = b""
    size: int = 0


def packed(folder: Path, limit: int) -> tuple[Entry, ...]:
    """All that lies in a submission's folder, by path; contents up to `limit` bytes in all.

    A folder that is itself a link is packed as if it were empty.
    """
    if folder.is_symlink() or not folder.is_dir():
        return ()
    entries, left = [], limit
    for path, status in _walk(folder):
        entry = _entry(folder, path, status, left)
        left -= len(entry.content)
        entries.append(entry)
        if len(entries) == ENTRIES:
            break
    return tuple(entries)


def digest(parcel: tuple[Entry, ...]) -> str:
    """A name for exactly these files, as hexadecimal digits."""
    whole = hashlib.sha256()
    for entry in parcel:
        about = f"{entry.path}\0{entry.kind}\0{entry.size}\0".encode(errors="surrogateescape")
        whole.update(about + hashlib.sha256(entry.content).digest())
    return whole.hexdigest()


def lay_out(parcel: tuple[Entry, ...], folder: Path) -> None:
    """Make the folder as it was packed. A file that was not read becomes as large, and holds nothing."""
    folder.mkdir(parents=True)
    for entry in parcel:
        path = folder / entry.path
        if entry.kind == _FOLDER:
            path.mkdir(exist_ok=True)
        elif entry.kind == _LINK:
            path.symlink_to(os.fsdecode(entry.content))
        elif entry.kind == _OTHER:
            os.mkfifo(path)
        else:
            path.write_bytes(entry.content)
            if entry.kind == _UNREAD:
                os.truncate(path, entry.size)


def _walk(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for at, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted((*folders, *files)):
            path = Path(at, name)
            try:
                yield path, path.lstat()
            except OSError:  # gone meanwhile
                continue


def _entry(folder: Path, path: Path, status: os.stat_result, left: int) -> Entry:
    name = str(path.relative_to(folder))
    if stat.S_ISLNK(status.st_mode):
        return Entry(name, _LINK, os.fsencode(os.readlink(path)))
    if stat.S_ISDIR(status.st_mode):
        return Entry(name, _FOLDER)
    if not stat.S_ISREG(status.st_mode):
        return Entry(name, _OTHER)
    if status.st_size > left:
        return Entry(name, _UNREAD, size=status.st_size)
    try:
        content = path.read_bytes()
    except OSError:
        return Entry(name, _UNREAD, size=status.st_size)
    return Entry(name, _FILE, content, len(content))
