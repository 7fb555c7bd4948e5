"""When a submission was handed in, as its folder says.

`timestamp.txt` is written by `nbgrader submit`, which the learner runs, and `nbgrader collect` copies it with
the rest of the folder. So it is the learner's word, and can be anything. Where it is no date nbgrader knows
of no lateness and takes nothing off; a note says so, and an instructor can look.
"""

from __future__ import annotations

import os
import stat
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from nbgrader.utils import parse_utc

FILE: Final = "timestamp.txt"
EARLIEST: Final = datetime(2014, 1, 1)  # before nbgrader was
AHEAD: Final = timedelta(days=1)  # that a clock may be, or a time zone
_MOST: Final = 200  # characters of a date
_ASK: Final = "Whether it came late is not known, and nothing was taken off for it."


def handed_in_at(folder: Path) -> datetime | None:
    """The moment in UTC; None where the folder does not say, or says what is no date. Never raises."""
    return _read(folder)[0]


def note_on_date(folder: Path, now: datetime) -> str:
    """What is wrong with the moment, or empty. `now` is in UTC, without a time zone."""
    moment, said = _read(folder)
    if moment is None:
        return "" if said is None else f"{FILE} holds no date. {_ASK}"
    if moment > now + AHEAD:
        return f"{FILE} says {moment:%Y-%m-%d}, which is still to come. That date was used for lateness."
    if moment < EARLIEST:
        return f"{FILE} says {moment.year:04}-{moment:%m-%d}, which cannot be. {_ASK}"
    return ""


def tolerate() -> None:
    """Have nbgrader in this process read such files so: its own way ends in a traceback. Twice is as once."""
    from nbgrader.coursedir import CourseDirectory

    CourseDirectory.get_existing_timestamp = _for_nbgrader


def _for_nbgrader(directory: Any, folder: str) -> datetime | None:
    moment, said = _read(Path(folder))
    if moment is None and said is not None:
        directory.log.warning("No date in %s", os.path.join(folder, FILE))
    return moment


def _read(folder: Path) -> tuple[datetime | None, str | None]:
    """The moment, and what the file says; None for a file that is not there."""
    path = folder / FILE
    try:
        if folder.is_symlink() or not stat.S_ISREG(path.lstat().st_mode):
            return None, None
        with open(path, encoding="utf-8", errors="replace") as file:
            said = file.read(_MOST).strip()
    except OSError:
        return None, None
    try:
        return parse_utc(said) if said else None, said
    except Exception:  # dateutil raises errors of many types for what is no date
        return None, said
