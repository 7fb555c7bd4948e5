"""Where workers keep what is of no use after them, so that it can be removed when they were killed.

Each runner has a folder on disk and one in memory, with its pid in their names: one that was killed cannot
tidy up, and the next one does.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

from autograder.memory import VARIABLE, in_memory, remove

_NAME: Final = "lastgood-grade-"


class Scratch:
    """The folders of this process's workers; those of runs that are gone are removed first."""

    def __init__(self) -> None:
        places = [Path(tempfile.gettempdir())]
        if memory := in_memory():
            places.append(memory)
        for place in places:
            _clear(place)
        prefix = f"{_NAME}{os.getpid()}-"
        self._folders = [Path(tempfile.mkdtemp(prefix=prefix, dir=place)) for place in places]

    @property
    def environment(self) -> dict[str, str]:
        """What tells a worker, and all that it starts, where these folders are."""
        return {"TMPDIR": str(self._folders[0]), VARIABLE: str(self._folders[-1])}

    def remove(self) -> None:
        """Remove both, with all that is in them."""
        for folder in self._folders:
            remove(folder)


def _clear(place: Path) -> None:
    """Remove our own folders there whose process is gone."""
    for folder in place.glob(f"{_NAME}*"):
        pid = folder.name.removeprefix(_NAME).partition("-")[0]
        try:
            ours = folder.lstat().st_uid == os.getuid()
        except OSError:
            continue
        if ours and not folder.is_symlink() and pid.isdecimal() and not _lives(int(pid)):
            remove(folder)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
