"""Sentences that the reports of several labs share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lastgood.recovery.learner.answers import plain

FUNCTIONS = ("capture", "restore", "save", "load")
_OURS = ("ReturnedNone", "TimeoutError", "ProcessDied")  # kinds whose messages are whole sentences


def sentence(text: str) -> str:
    """The text with a capital letter and one full stop. A name at its beginning stays as it is."""
    first = text.partition(" ")[0]
    named = first in FUNCTIONS or "." in first
    return (text if named else text[:1].upper() + text[1:]).rstrip(".") + ("" if text.endswith("?") else ".")


def raised(error: dict[str, Any]) -> str:
    """What a learner's function raised, and in which line: from a worker's `error`."""
    if error["blank"]:
        return f"{error['stage']} is not written yet: it raises NotImplementedError."
    if error["kind"] in _OURS:
        return f"{error['stage']}: {plain(error)}"
    words = f"{error['stage']} raised {error['kind']}: {plain(error)}"
    return words + (f"\nin the line: {error['line']}" if error["line"] else "")


def also_reads(names: Sequence[str]) -> str:
    """A hint at the commonest honest mistake, a state that lives in the notebook; empty without names."""
    if not names:
        return ""
    return (
        f"\nYour functions also read these values of the notebook: {', '.join(names)}. "
        "A process that resumes after a kill has only what is in the file."
    )
