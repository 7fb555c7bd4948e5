"""Opening what a stranger sent: regular files only, and names that cannot speak to a terminal."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path

NAME_LIMIT = 160  # characters of a name from a file that are shown
FOLDER_LIMIT = 20_000  # entries of a folder that are looked at


class InspectError(Exception):
    """A file or folder that cannot be described. `str()` names it, the cause and the remedy."""

    def __init__(self, path: Path, cause: str, remedy: str) -> None:
        super().__init__(path, cause, remedy)
        self.path = path
        self.cause = cause
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{plain(str(self.path), 1000)}: {self.cause}. {self.remedy}"


def plain(text: str, limit: int = NAME_LIMIT) -> str:
    """`text` for the eye: shortened, and escaped where it does not print, so no name moves the cursor."""
    shown = text if len(text) <= limit else f"{text[:limit]}…"
    if shown.isprintable():
        return shown
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in shown)


def open_regular(path: Path) -> tuple[io.BufferedReader, int]:
    """Open the file at `path`; return it with its size. A pipe or a device is refused, never waited for.

    Raises InspectError.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        cause = f"a {_kind(found.st_mode)}, not a file"
        raise InspectError(path, cause, "Pass a checkpoint's file or folder.")
    return os.fdopen(descriptor, "rb"), found.st_size


def entries(folder: Path) -> list[Path]:
    """What stands in `folder`, by name. Raises InspectError."""
    try:
        with os.scandir(folder) as listing:
            names = []
            for entry in listing:
                names.append(entry.name)
                if len(names) > FOLDER_LIMIT:
                    cause = f"a folder of more than {FOLDER_LIMIT:,} entries"
                    raise InspectError(folder, cause, "Pass the folder of one checkpoint.")
    except OSError as error:
        raise unreadable(folder, error) from None
    return [folder / name for name in sorted(names)]


def unreadable(path: Path, error: OSError | ValueError) -> InspectError:
    """Say why `path` cannot be opened."""
    if isinstance(error, FileNotFoundError) and path.is_symlink():
        return InspectError(path, "a link that leads nowhere", "Fetch what it should lead to.")
    if isinstance(error, FileNotFoundError):
        return InspectError(path, "does not exist", "Check the path.")
    said = error.strerror if isinstance(error, OSError) else str(error)
    return InspectError(path, f"cannot be read ({said})", "See to its permissions and its disk.")


def _kind(mode: int) -> str:
    kinds = {stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket", stat.S_IFDIR: "folder"}
    return kinds.get(stat.S_IFMT(mode), "device")
