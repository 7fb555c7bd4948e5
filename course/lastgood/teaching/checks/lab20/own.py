"""What every check of lab 20 asks first: is the function the learner's own, and does it come to an end?"""

from __future__ import annotations

import contextlib
import signal
import threading
import types
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lastgood.teaching.checks.core import Check, Data, attempt, borrowed

UNENDED = "it has not ended"
PATIENCE = 2.0  # seconds for all that one check asks of a function

_TAUGHT = ("lastgood.recovery.interval", "lastgood.recovery.simulate")


def refused(function: Any) -> str:
    """A sentence where a function is the library's, or lets the library answer; else empty."""
    return borrowed(function) or _leans(function)


def _leans(function: Any) -> str:
    """A sentence where the function's own lines use a module that this lab asks its reader to write."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType):
        return ""
    for name in code.co_names:
        value = getattr(function, "__globals__", {}).get(name)
        home = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
        if name.startswith(_TAUGHT) or str(home).startswith(_TAUGHT):
            return (
                f"Your function uses {name}, and that is the answer: the library's. "
                "Write it yourself; afterwards, compare."
            )
    return ""


def asked(function: Any, *arguments: Any) -> tuple[Any, str]:
    """A learner's function's result, and a sentence where there is none: as `attempt`, within PATIENCE."""
    with _alarm():
        value, fault = attempt(function, *arguments)
    if not fault and value is None:
        return None, "The function returned None. Is a `return` missing?"
    return value, fault


def guarded(check: Check) -> Check:
    """The same check, which takes no function of the library's for an answer."""

    def measure(names: dict[str, Any], inputs: Data) -> Data:
        fault = refused(names["0"])
        if fault:
            return {"error": fault}
        with _alarm():
            return check.measure(names, inputs)

    return replace(check, measure=measure)


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    """Raise TimeoutError in what takes longer than PATIENCE: an endless loop would hang the kernel.

    Does nothing where signals cannot do it: outside the main thread, or where somebody else uses the alarm.
    """
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not usable or signal.getsignal(signal.SIGALRM) not in (signal.SIG_DFL, None):
        yield
        return
    armed = True

    def too_long(signum: int, frame: types.FrameType | None) -> None:
        if armed:
            raise TimeoutError(f"{UNENDED} after {PATIENCE:g} s. Does its loop have a way out?")

    signal.signal(signal.SIGALRM, too_long)
    try:
        signal.setitimer(signal.ITIMER_REAL, PATIENCE, 1.0)  # again: the learner's code may swallow one
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
