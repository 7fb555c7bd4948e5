"""How names of files and cells, which strangers chose, are put into a sentence."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Final

LONGEST: Final = 60  # characters of a name that are shown
MOST: Final = 6  # names in a row
_ODD: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def shown(name: str) -> str:
    """A name as it can be printed: no control characters, no bytes that are no text, not too long."""
    text = os.fsencode(mended(name) if _no_file_name(name) else name).decode(errors="replace")
    text = _ODD.sub("\N{REPLACEMENT CHARACTER}", text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def listed(names: Sequence[str]) -> str:
    """A row of names: `a, b and c`, or the first of them and how many more."""
    texts = [shown(name) for name in names[:MOST]]
    if len(names) > MOST:
        return f"{', '.join(texts)} and {len(names) - MOST} more"
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


def mended(text: str) -> str:
    """The text with its halves of surrogate pairs joined, or replaced where they have no other half.

    Python can hold such a half, and no file can.
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def size(count: int) -> str:
    """A number of bytes for people."""
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count:,} bytes"


def _no_file_name(name: str) -> bool:
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return True
    return False
