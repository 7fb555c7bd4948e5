"""Exercises that are answered by a number or by a letter, with a sentence for each mistake foreseen."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from lastgood.teaching.checks.core import Check, Data, attempt
from lastgood.teaching.checks.report import Part, Report

TOLERANCE = 0.01  # of the right number

Draw = Callable[[random.Random], list[Any]]
Formula = Callable[..., float]


def nothing(source: random.Random) -> list[Any]:
    """No arguments: the question is always the same."""
    return []


def numeric(
    name: str,
    exercise: str,
    answer: Formula,
    draw: Draw = nothing,
    mistakes: Mapping[str, Formula] | None = None,
    *,
    arguments: Sequence[str] = (),
    worth: float = 1,
    reread: str = "",
) -> Check:
    """A check of a function that returns a number, right within 1 percent.

    `draw(source)` gives the arguments that the learner's function and the formulas are called with: numbers.
    `arguments` names them where a report prints them; without it they stand alone.
    `mistakes` maps a sentence to the formula that it explains; the first that fits is told.
    """

    def verdict(inputs: Data, data: Data) -> Report:
        if "error" in data:
            return question.failed(data["error"])
        value, numbers = data["value"], inputs["arguments"]
        if isinstance(value, str):
            return question.failed(f"The result is the text {value!r}; a number is wanted.", reread)
        if _near(value, answer(*numbers)):
            return Report(exercise, (Part("answer", worth, worth),))
        for sentence, wrong in (mistakes or {}).items():
            if _near(value, wrong(*numbers)):
                return question.failed(sentence, reread)
        named = [
            f"{name} {number:,}".lstrip() for name, number in zip_longest(arguments, numbers, fillvalue="")
        ]
        given = f" for {', '.join(named)}" if numbers else ""
        return question.failed(
            f"You get {value:,.6g}{given}, which is not it. Write the sum down with its units.", reread
        )

    question = Check(name, exercise, worth, _drawn(draw), _ask, verdict)
    return question


def choice(
    name: str,
    exercise: str,
    salt: str,
    key: str,
    why: Mapping[str, str],
    *,
    worth: float = 1,
    reread: str = "",
) -> Check:
    """A check of a function that returns the letter of an answer.

    `key` is `digest(salt, letter)` of the right one, so that it cannot be read here. `why` has a sentence for
    each of the other letters: what speaks against it.
    """
    letters = sorted("abcdef"[: len(why) + 1])

    def verdict(inputs: Data, data: Data) -> Report:
        if "error" in data:
            return question.failed(data["error"])
        letter = str(data["value"]).strip().strip("().").lower()
        if digest(salt, letter) == key:
            return Report(exercise, (Part("answer", worth, worth),))
        unknown = f"Answer with one of the letters {', '.join(letters[:-1])} and {letters[-1]}, as text."
        return question.failed(why.get(letter, unknown), reread)

    question = Check(name, exercise, worth, _drawn(nothing), _ask, verdict)
    return question


def digest(salt: str, letter: str) -> str:
    """What `choice` compares: SHA-256 of the salt and the letter, in hexadecimal."""
    return hashlib.sha256((salt + letter).encode()).hexdigest()


def _drawn(draw: Draw) -> Callable[[int], Data]:
    return lambda seed: {"arguments": draw(random.Random(seed))}


def _ask(names: dict[str, Any], inputs: Data) -> Data:
    value, fault = attempt(names["0"], *inputs["arguments"])
    if fault:
        return {"error": fault}
    if value is None:
        return {"error": "The function returned None. Is a `return` missing?"}
    if isinstance(value, str):
        return {"value": value}
    try:
        return {"value": float(value)}
    except (TypeError, ValueError):
        return {"error": f"The result is a {type(value).__name__}; a number or a letter is wanted."}


def _near(value: float, target: float) -> bool:
    return abs(value - target) <= TOLERANCE * abs(target)
