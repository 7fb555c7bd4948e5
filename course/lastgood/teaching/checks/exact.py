"""What a verdict takes for an answer.

The data that it judges comes from where a learner's code ran, and whoever controls that process can put
anything there. What `measure` could not have returned is no answer: these raise, and then nothing is earned.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any


class NotAnAnswer(ValueError):
    """The data are none that a check's `measure` returns."""


def items(value: Any, count: int | None = None) -> list[Any]:
    """The value, a list; of so many things, where a count is given. Raises NotAnAnswer."""
    if not isinstance(value, list) or count not in (None, len(value)):
        raise NotAnAnswer(
            f"a list{f' of {count}' if count is not None else ''} was to come, not {_short(value)}"
        )
    return value


def numbers(value: Any, count: int | None = None) -> list[float]:
    """The value, a list of so many numbers, NaN and infinity among them. Raises NotAnAnswer."""
    return [number(item) for item in items(value, count)]


def flags(value: Any, count: int | None = None) -> list[bool]:
    """The value, a list of so many booleans. Raises NotAnAnswer."""
    return [flag(item) for item in items(value, count)]


def flag(value: Any) -> bool:
    """The value, a boolean. Raises NotAnAnswer."""
    if not isinstance(value, bool):
        raise NotAnAnswer(f"a boolean was to come, not {_short(value)}")
    return value


def number(value: Any) -> float:
    """The value, a number: any float, or an integer, but no boolean. Raises NotAnAnswer."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NotAnAnswer(f"a number was to come, not {_short(value)}")
    return value


def texts(value: Any) -> dict[str, str]:
    """The value, a dict of texts. Raises NotAnAnswer."""
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise NotAnAnswer(f"a dict of texts was to come, not {_short(value)}")
    return value


def words(value: Any) -> list[str]:
    """The value, a list of texts. Raises NotAnAnswer."""
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise NotAnAnswer(f"a list of texts was to come, not {_short(value)}")
    return value


def text_or_none(value: Any) -> str | None:
    """The value, a text or None. Raises NotAnAnswer."""
    if not isinstance(value, str | None):
        raise NotAnAnswer(f"a text was to come, not {_short(value)}")
    return value


def under(value: Any, names: Collection[str]) -> dict[str, Any]:
    """The value, a dict with exactly these names. Raises NotAnAnswer."""
    if not isinstance(value, dict) or value.keys() != set(names):
        raise NotAnAnswer(f"a dict of {', '.join(names)} was to come, not {_short(value)}")
    return value


def _short(value: Any) -> str:
    return f"{type(value).__name__} {value!r:.80}"
