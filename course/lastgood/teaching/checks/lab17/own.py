"""What every check of lab 17 asks first: is it the learner's own? And what it lends while it asks.

A schedule that counts stands on `learning_rate`, which an earlier exercise wrote. While it is checked, that
name means the right function in the notebook; afterwards it means the learner's again.
"""

from __future__ import annotations

import math
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from lastgood.teaching.checks.core import NOT_WRITTEN, borrowed
from lastgood.teaching.checks.report import Part, part
from lastgood.training.schedule import Schedule

NOTHING = "The function returned None. Is a `return` missing?"

_TAUGHT: Final = ("lastgood.training.schedule", "lastgood.teaching.checks", "torch.nn.utils.clip_grad")
_TORCHS: Final = frozenset(
    {"clip_grad_norm_", "clip_grad_norm", "clip_grads_with_norm_", "get_total_norm", "clip_gradients"}
)


def right_rate(step: int, peak: float, warmup: int, horizon: int, floor: float) -> float:
    """Part A's right answer: the library's schedule as one function."""
    return Schedule(peak, warmup, horizon, floor).lr(step)


def refused(thing: Any) -> str:
    """A sentence where a function or class is the library's or torch's, or lets them answer; else empty."""
    return borrowed(thing) or next(filter(None, map(_leans, _functions(thing))), "")


def _functions(thing: Any) -> list[types.FunctionType]:
    """The function itself, or a class's own, its properties' among them."""
    parts = [*vars(thing).values()] if isinstance(thing, type) else [thing]
    parts = [
        one for part in parts for one in ([part.fget, part.fset] if isinstance(part, property) else [part])
    ]
    return [part for part in parts if isinstance(part, types.FunctionType)]


def _leans(function: types.FunctionType) -> str:
    for name in _names(function.__code__):
        value = function.__globals__.get(name)
        home = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
        theirs = name in _TORCHS and (value is None or str(home).split(".")[0] in ("torch", "lastgood"))
        if theirs or name.startswith(_TAUGHT) or str(home).startswith(_TAUGHT):
            return f"It uses {name}, which is the answer ready-made. Write it yourself, then compare."
    return ""


def _names(code: types.CodeType) -> list[str]:
    inner = [name for const in code.co_consts if isinstance(const, types.CodeType) for name in _names(const)]
    return [*code.co_names, *inner]


@contextmanager
def lent(thing: Any) -> Iterator[None]:
    """While it lasts, `learning_rate` means the right one where `thing` was defined."""
    name = "learning_rate"
    spaces = {id(function.__globals__): function.__globals__ for function in _functions(thing)}
    theirs = {key: space[name] for key, space in spaces.items() if name in space}
    for space in spaces.values():
        space[name] = right_rate
    try:
        yield
    finally:
        for key, space in spaces.items():
            space.pop(name, None)
            if key in theirs:
                space[name] = theirs[key]


def number(value: Any) -> tuple[float, str]:
    """The value as a float, and a sentence where it is none."""
    if value is None:
        return 0.0, NOTHING
    if isinstance(value, str | bool):
        return 0.0, f"The result is {value!r}; a number is wanted."
    try:
        return float(value), ""
    except (TypeError, ValueError, RuntimeError):
        return 0.0, f"The result is a {type(value).__name__}; a number is wanted."


def numbers(value: Any) -> tuple[list[float], str]:
    """The value as a list of floats, and a sentence where it is none."""
    if isinstance(value, str | dict) or not hasattr(value, "__iter__"):
        return [], f"a {type(value).__name__} is there; a list of numbers is wanted."
    found: list[float] = []
    for entry in value:
        one, fault = number(entry)
        if fault:
            return [], f"its entry {len(found)} is no number."
        found.append(one)
    return found, ""


def near(found: float, right: float) -> bool:
    """Equal but for rounding."""
    return math.isclose(found, right, rel_tol=1e-6, abs_tol=1e-12)


def alike(found: list[float], right: list[float]) -> bool:
    """As many, and each equal but for rounding."""
    return len(found) == len(right) and all(map(near, found, right))


def blank(title: str, worth: float, fault: str, reread: str = "") -> Part:
    """As `part`, where a blank that is not written yet is not lost."""
    if fault == NOT_WRITTEN:
        return Part(title, 0.0, worth, fault, pending=True)
    return part(title, worth, fault, reread)
