"""What a question may ask for beside free words: an option or a number, and what each answer is told."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_NUMBER: Final = re.compile(
    r"\s*(?P<number>[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?|\.\d+)(?:e[-+]?\d+)?)\s*(?P<unit>(?:[^\d.,\s].*?)?)\s*",
    re.IGNORECASE | re.DOTALL,
)
_EXACTLY: Final = 1e-9  # relative: what arithmetic in floats leaves
_MISTAKEN: Final = 0.02  # an answer this near to a mistake's number was that mistake


class AnswerError(ValueError):
    """An answer that cannot be judged, such as words where a number is asked for; the message says why."""


@dataclass(frozen=True)
class Amount:
    """A number and its unit; `text` is how the course writes it."""

    number: float
    unit: str
    text: str

    @classmethod
    def read(cls, text: str) -> Amount:
        """Read "9.0 GB", "1,024", "9,5 h" or "1e9". Raises AnswerError."""
        match = _NUMBER.fullmatch(text.replace("\u2212", "-").replace("\u202f", "").replace("\u00a0", " "))
        if match is None:
            raise AnswerError(f"{text.strip()!r} is not a number.")
        number = match["number"]
        grouped = re.fullmatch(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?(e.*)?", number, re.IGNORECASE)
        plain = number.replace(",", "" if grouped else ".")
        return cls(float(plain), match["unit"], text.strip())


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, and what its author reads, in Markdown."""

    right: bool
    words: str


@dataclass(frozen=True)
class Choice:
    """Options of which one is right.

    Attributes:
        options: Markdown by letter, in their order.
        right: the letter of the right one.
        reasons: why, for the right one; what one believes who takes it, for each other.
    """

    options: Mapping[str, str]
    right: str
    reasons: Mapping[str, str]

    def judge(self, letter: str) -> Verdict:
        """What whoever takes this option reads. Raises AnswerError."""
        taken = letter.strip().rstrip(".").upper()
        if taken not in self.options:
            raise AnswerError(f"Answer with a letter: {', '.join(self.options)}.")
        answer = f"**{self.right}.** {self.reasons[self.right]}"
        if taken == self.right:
            return Verdict(True, f"Right. {answer}")
        return Verdict(False, f"Not {taken}. {self.reasons[taken]}\n\nRight is {answer}")


@dataclass(frozen=True)
class Numeric:
    """A number, right within a share of itself.

    Attributes:
        right: the number.
        within: the share, such as 0.02; 0 for exactly.
        why: how one comes to it.
        mistakes: numbers that a misconception gives, and what was left out.
    """

    right: Amount
    within: float
    why: str
    mistakes: Sequence[tuple[Amount, str]]

    @property
    def asked(self) -> str:
        """What to type."""
        return f"a number, in {self.right.unit}" if self.right.unit else "a number"

    def judge(self, text: str) -> Verdict:
        """What whoever answers this reads. Raises AnswerError: no number, or in another unit."""
        given = self._given(text)
        answer = f"**{self.right.text}**, {self.bound}. {self.why}"
        if self.fits(given, self.right):
            return Verdict(True, f"Right: {answer}")
        known = [
            why for number, why in self.mistakes if close(given, number.number, max(self.within, _MISTAKEN))
        ]
        hint = f" {known[0]}" if known else ""
        return Verdict(False, f"Not {text.strip()}.{hint}\n\nRight is {answer}")

    @property
    def bound(self) -> str:
        """How near is right, as the Check says it."""
        return f"within {self.within * 100:g} %" if self.within else "exactly"

    def fits(self, number: float, to: Amount) -> bool:
        """Whether a number counts as this one."""
        return close(number, to.number, self.within)

    def _given(self, text: str) -> float:
        try:
            given = Amount.read(text)
        except AnswerError as error:
            raise AnswerError(f"{error} Answer with {self.asked}.") from None
        if given.unit and unit_of(given.unit) != unit_of(self.right.unit):
            raise AnswerError(f"{given.text} is in another unit. Answer with {self.asked}.")
        return given.number


def close(number: float, to: float, within: float) -> bool:
    """Whether a number is within a share of another; nothing but zero is near zero."""
    return math.isclose(number, to, rel_tol=0.0, abs_tol=max(within, _EXACTLY) * abs(to))


def unit_of(text: str) -> str:
    """A unit as it compares: `Hours.` is `hour`, and percent is `%`."""
    unit = text.strip(" .").casefold().replace("percent", "%")
    return unit.removesuffix("s") if len(unit) > 3 else unit
