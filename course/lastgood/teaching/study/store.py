"""One small JSON file that holds what a learner has done, and the rules by which it is kept.

It lies in the learner's home for the course and can be read, and mended, by hand. It is written whole or not
at all, and changed by one writer at a time, so that a notebook, a Validate and a terminal lose nothing of
each other's. A file that is damaged, or that a newer version wrote, is set aside under another name and never
overwritten. Keys that this version does not know are kept.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, Final

from lastgood.recovery.disk import write_synced

VERSION: Final = 1
HOME: Final = "LASTGOOD_HOME"  # environment variable; else ~/.lastgood
FILE: Final = "progress.json"
PATIENCE: Final = 5.0  # seconds to wait for another writer, who takes milliseconds

Content = dict[str, Any]


class StoreError(Exception):
    """Nothing could be kept; the message says why. Whoever shows progress or validates goes on."""


@dataclass(frozen=True)
class Found:
    """What the file holds, and what a learner has to know about it, in sentences."""

    content: Content
    notes: tuple[str, ...] = ()


class _UnusableError(Exception):
    """A file that must not be overwritten. `kind` goes into its new name."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind


def path() -> Path:
    """Where the file lies, or will lie."""
    home = os.environ.get(HOME) or "~/.lastgood"
    return Path(os.path.expanduser(home), FILE).absolute()


def look() -> Found:
    """What the file holds; without one, nothing. Never raises: what cannot be read is told in a note."""
    file = path()
    try:
        content = _read(file)
        return Found(content, _set_aside_before(file, content))
    except FileNotFoundError:
        return Found(_fresh())
    except _UnusableError:
        try:
            return change(lambda content: None)  # which sets it aside
        except StoreError as error:
            return Found(_fresh(), (str(error),))
    except OSError as error:
        note = f"{file} could not be read: {_reason(error)}. Until it can, nothing is kept."
        return Found(_fresh(), (note,))


def change(edit: Callable[[Content], None]) -> Found:
    """Read the file, let `edit` change what it holds in place, and write it: nobody else does so meanwhile.

    Raises StoreError where nothing could be written; the file is then as it was.
    """
    from filelock import FileLock

    file = path()
    aside = ""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(file.with_name(f".{FILE}.lock"), timeout=PATIENCE):
            try:
                content = _read(file)
            except FileNotFoundError:
                content = _fresh()
            except _UnusableError as unusable:
                aside = f" {file} {unusable}."
                content = _set_aside(file, unusable)
                aside = _set_aside_before(file, content)[0]
            edit(content)
            _write(file, content)
    except (OSError, NotImplementedError) as error:  # the latter from a disk that knows no locks
        message = f"Nothing could be kept in {file}: {_reason(error)}. Everything else works without it."
        raise StoreError(f"{message} {aside}".strip()) from error
    return Found(content, _set_aside_before(file, content))


def now() -> str:
    """This moment, with its time zone: `2026-11-30T21:04:05+01:00`."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def _fresh() -> Content:
    return {"version": VERSION, "lessons": {}, "labs": {}}


def _read(file: Path) -> Content:
    """What a file of this version holds. Raises _UnusableError, OSError."""
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        raise _UnusableError("damaged", f"is not JSON (line {error.lineno}: {error.msg})") from error
    except UnicodeDecodeError as error:
        raise _UnusableError("damaged", f"is not text in UTF-8 (byte {error.start})") from error
    except (RecursionError, ValueError) as error:  # brackets without end, a number of 5,000 digits
        raise _UnusableError("damaged", "is not JSON that anyone would write") from error
    version = content.get("version") if isinstance(content, dict) else None
    if type(version) is int and version > VERSION:
        why = f"is of version {version}, from a newer course than this one, which knows version {VERSION}"
        raise _UnusableError("newer", why)
    if fault := _fault(content, _SHAPE, "the file"):
        raise _UnusableError("damaged", fault)
    for part in ("lessons", "labs"):
        content.setdefault(part, {})
    return dict(content)


@dataclass(frozen=True)
class _Each:
    """The shape of an object whose keys are free and whose values are alike."""

    value: Any


_NUMBER = "a number from 0 on"
_TEXT = "a text"
_RATING = "a time and again, hard, good or easy"
_POINTS = {"earned": _NUMBER, "possible": _NUMBER}
_SHAPE: Final = {
    "version": f"the number {VERSION}",
    "lessons": _Each({"read": _TEXT, "reps": _Each({"done": _TEXT, "text": _TEXT})}),
    "labs": _Each({"validated": _TEXT, **_POINTS, "exercises": _Each(_POINTS)}),
    "reviews": _Each({"text": _TEXT, "ratings": [_RATING], "gone": _TEXT}),
    "set_aside": _Each({"when": _TEXT, "why": _TEXT}),
}
_NEEDED: Final = ("version", "done", "validated", "earned", "possible", "ratings", "why")


def _fault(value: Any, shape: Any, place: str) -> str:
    """What is wrong with a value of this shape, in words; empty where nothing is."""
    if isinstance(shape, str):
        return "" if _fits(value, shape) else f"has no proper value where {place} should be {shape}"
    if isinstance(shape, list):
        if not isinstance(value, list):
            return f"has no proper value where {place} should be a list, in square brackets"
        return next(filter(None, (_fault(one, shape[0], f"each of {place}") for one in value)), "")
    if not isinstance(value, dict):
        return f"has no proper value where {place} should be an object, in curly brackets"
    parts = dict.fromkeys(value, shape.value) if isinstance(shape, _Each) else shape
    for key, inner in parts.items():
        if key in value:
            if fault := _fault(value[key], inner, f"“{key}”"):
                return f"{fault}, in {place}" if place != "the file" else fault
        elif key in _NEEDED:
            return f"lacks “{key}” in {place}"
    return ""


def _fits(value: Any, shape: str) -> bool:
    if shape == _TEXT:
        return isinstance(value, str)
    if shape == _RATING:
        return isinstance(value, str) and _is_rating(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value < 1e9 if shape == _NUMBER else value == VERSION


def _is_rating(line: str) -> bool:
    when, _, rating = line.partition(" ")
    try:
        # Dates near the ends of the calendar cannot be computed with.
        return 1900 < datetime.fromisoformat(when).year < 3000 and rating in ("again", "hard", "good", "easy")
    except ValueError:
        return False


def _set_aside(file: Path, unusable: _UnusableError) -> Content:
    """Rename a file that must not be overwritten; return a fresh content that remembers it."""
    for number in count(1):
        aside = file.with_name(f"progress.{unusable.kind}{'' if number == 1 else f'-{number}'}.json")
        if not os.path.lexists(aside):
            break
    file.rename(aside)
    return {**_fresh(), "set_aside": {aside.name: {"when": now(), "why": str(unusable)}}}


def _set_aside_before(file: Path, content: Content) -> tuple[str, ...]:
    """A note for each file that was set aside and still lies there: Validate may have had nobody to tell."""
    return tuple(
        f"{file.with_name(name)} was set aside: it {entry['why']}. It is as it was, and a fresh {file.name} "
        "took its place. Mend it and rename it back, or delete it and this message goes."
        for name, entry in content.get("set_aside", {}).items()
        if os.path.lexists(file.with_name(name))
    )


def _write(file: Path, content: Content) -> None:
    """Write the file whole or not at all. A link stays a link, to wherever its owner keeps the file."""
    target = file.resolve()
    partial = target.with_name(f".{FILE}.partial")
    # A lone half of a character, which JSON can hold and UTF-8 cannot, stays the escape that it was.
    text = (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
    write_synced(partial, text)
    partial.replace(target)


def _reason(error: Exception) -> str:
    """Why the system refused, in its own words."""
    if isinstance(error, TimeoutError):
        return "another program has held its lock for too long"
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "the disk is full"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
