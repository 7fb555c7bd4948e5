"""From a file that was handed in to the cells in it, or to a sentence on why that cannot be done."""

from __future__ import annotations

import codecs
import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from autograder.intake.cells import SOURCE_CHARACTERS, Cell, cells_in, holds_cells
from autograder.intake.lean import LeanError, without_outputs
from autograder.intake.words import size

LARGEST: Final = 200_000_000  # bytes of a file that is read
LARGEST_LEAN: Final = 8_000_000  # bytes of a notebook without its outputs; a lab of this course has 60 000
CELLS: Final = 20_000  # of a notebook that are looked at
_AGAIN: Final = "Save it again in JupyterLab and hand that in."
_MARKS: Final = (  # of other kinds of files, by how they begin
    (b"PK\x03\x04", "a zip archive", "Unpack it and hand in the notebook."),
    (b"\x1f\x8b", "a gzip archive", "Unpack it and hand in the notebook."),
    (b"%PDF", "a PDF", "Hand in the notebook itself."),
    (b"<!doctype html", "a web page", "Hand in the notebook itself: File, Download."),
    (b"<html", "a web page", "Hand in the notebook itself: File, Download."),
)
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins as UTF-16's does
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONFLICT: Final = re.compile(r"^(<{7}|={7}|>{7})(?: |$)", re.MULTILINE)


class ReadingError(Exception):
    """A file cannot be read as a notebook. The message says why and what to do, from after its name on."""


@dataclass(frozen=True)
class Handed:
    """A notebook as it was handed in."""

    cells: tuple[Cell, ...]
    metadata: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def notebook_in(path: Path) -> Handed:
    """Read a notebook of any format, without its outputs. Raises ReadingError, and nothing else."""
    raw = _bytes(path)
    if not raw.strip():
        raise ReadingError(f"is empty. {_AGAIN}")
    for mark, kind, advice in _MARKS:
        if raw[: len(mark)].lower() == mark.lower():
            raise ReadingError(f"is {kind} and not a notebook. {advice}")
    if len(raw) > LARGEST_LEAN:
        raw = _lean(raw)
    text, notes = _text(raw)
    top = _parsed(text)
    if not holds_cells(top):
        raise ReadingError(f"is no notebook: it holds no list of cells. {_AGAIN}")
    given = list(islice(cells_in(top), CELLS))
    metadata = top.get("metadata")
    return Handed(
        tuple(cell for cell in given if cell is not None),
        metadata if isinstance(metadata, dict) else {},
        (*notes, *_remarks(top, given)),
    )


def _bytes(path: Path) -> bytes:
    """The content of a regular file. A link is not followed, and a pipe is not waited for."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise ReadingError("is a link, a folder or a pipe and not a file. Hand in the file itself.")
        with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
            length = os.fstat(file.fileno()).st_size
            if length > LARGEST:
                raise ReadingError(
                    f"has {size(length)}, and {size(LARGEST)} are the most that is read. In JupyterLab, "
                    "clear all outputs, save, and hand that in."
                )
            return file.read(LARGEST)
    except OSError as error:
        raise ReadingError(f"cannot be opened ({error.strerror}). Hand it in again.") from None


def _lean(raw: bytes) -> bytes:
    try:
        lean = without_outputs(raw)
    except LeanError:
        lean = raw
    if len(lean) > LARGEST_LEAN:
        raise ReadingError(
            f"has {size(len(raw))}, and {size(LARGEST_LEAN)} beside the outputs are the most that is read. "
            "In JupyterLab, clear all outputs and take out large pictures, save, and hand that in."
        )
    return lean


def _text(raw: bytes) -> tuple[str, tuple[str, ...]]:
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            try:
                return raw.decode(encoding).removeprefix("\ufeff"), ()
            except UnicodeDecodeError:
                break
    encoding = "utf-8"
    if b"\0" in raw[:4]:  # the first characters of JSON are ASCII: UTF-16 without the mark for it
        encoding = "utf-16-be" if raw.startswith(b"\0") else "utf-16-le"
    try:
        return raw.decode(encoding), ()
    except UnicodeDecodeError:
        if raw.lstrip()[:1] != b"{":
            raise ReadingError(f"holds bytes that are no text. {_AGAIN}") from None
        note = "The file is not in UTF-8. It was read as Latin-1, so letters with accents may be others."
        return raw.decode("latin-1"), (note,)


def _parsed(text: str) -> Any:
    """The JSON in a text; a line break within a string is forgiven, and so is what stands after its end."""
    text = text.strip()
    try:
        return json.JSONDecoder(strict=False).raw_decode(text)[0]
    except RecursionError:
        raise ReadingError(f"is nested too deep to be a notebook. {_AGAIN}") from None
    except json.JSONDecodeError as error:
        raise ReadingError(_what_is_wrong(text, error)) from None
    except ValueError:  # a number of thousands of digits
        raise ReadingError(f"holds a number that is too long to be read. {_AGAIN}") from None


def _what_is_wrong(text: str, error: json.JSONDecodeError) -> str:
    if conflict := _CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        advice = "Resolve it, open the notebook in JupyterLab, and save it."
        return f"holds the marks of a merge conflict of Git (line {line}). {advice}"
    if not text.startswith("{"):
        return f"is not a notebook: it does not begin as one. {_AGAIN}"
    if error.msg.startswith("Unterminated") or len(text) - error.pos < len("false"):
        return f"breaks off before its end. {_AGAIN}"
    return f"is damaged: it is no JSON from line {error.lineno}, column {error.colno} on. {_AGAIN}"


def _remarks(top: Mapping[str, Any], given: list[Cell | None]) -> list[str]:
    notes = []
    version = top.get("nbformat")
    known = isinstance(version, int) and not isinstance(version, bool)
    if "cells" not in top or (known and version != 4):
        said = version if known and version in range(100) else "unknown"
        notes.append(f"The file is in the notebook format {said}; its cells were read as those of format 4.")
    if len(given) == CELLS:
        notes.append(f"Of its cells the first {CELLS:,} were looked at.")
    if strangers := given.count(None):
        notes.append(f"{strangers} of its cells {'is' if strangers == 1 else 'are'} damaged and left out.")
    if long := sum(cell is not None and cell.too_long for cell in given):
        are = "is" if long == 1 else "are"
        notes.append(f"{long} of its cells {are} left empty: more than {SOURCE_CHARACTERS:,} characters.")
    return notes
