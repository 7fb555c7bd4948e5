"""A check is a pair: `measure` runs where the learner's objects live and returns data, `verdict` judges it.

Only `measure` touches what the learner wrote. What it is tested with is drawn after that code has run.
Validate runs both in the learner's kernel; a grader can run the second where the learner's code never was.
Where functions have to be killed and resumed, `measure` returns them as bytes, and a third part tries them
out in processes of the caller's choice: the grader's are walled off, from each other too.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from lastgood.recovery.learner.processes import Processes, Trusting
from lastgood.recovery.warm import shared_server
from lastgood.recovery.wire import WireError, pack, unpack
from lastgood.teaching.checks.leaning import leans
from lastgood.teaching.checks.report import Part, Report, deliver

Data = dict[str, Any]


@dataclass(frozen=True)
class Check:
    """One exercise's test. `draw(seed)` gives the inputs, plain data.

    `try_out(inputs, measured, processes)`, where there is one, gives the data that `verdict` judges.
    """

    name: str
    exercise: str
    worth: float
    draw: Callable[[int], Data]
    measure: Callable[[dict[str, Any], Data], Data]
    verdict: Callable[[Data, Data], Report]
    try_out: Callable[[Data, Data, Processes], Data] | None = None

    def __call__(self, *arguments: Any, **named: Any) -> Report:
        """Draw, measure, judge and deliver: what a graded cell does."""
        return deliver(self.run(arguments, named))

    def run(
        self, arguments: tuple[Any, ...], named: dict[str, Any] | None = None, seed: int | None = None
    ) -> Report:
        """The report, however it is to be delivered. `seed` repeats a draw."""
        names = {str(i): value for i, value in enumerate(arguments)} | (named or {})
        inputs = self.draw(secrets.randbits(31) if seed is None else seed)
        with quiet() as said:
            try:
                data = unpack(self.measured(names, inputs))
            except WireError as error:
                data = {"error": f"The result is not made of tensors, numbers and text: {error}"}
            if self.try_out is not None:
                data = self.try_out(inputs, data, Trusting())
        return self.verdict(inputs, data | {"stderr": said()[-500:]})

    def measured(self, names: dict[str, Any], inputs: Data) -> bytes:
        """What `measure` returns, packed. Raises WireError: what cannot cross a wire is no answer."""
        return pack(self.measure(names, inputs))

    def failed(self, why: str, reread: str = "", *, pending: bool = False) -> Report:
        """A report that earns nothing, for one reason. `pending`: nothing is written yet that could fail."""
        only = Part(self.exercise, 0.0, self.worth, why, reread, pending or why == NOT_WRITTEN)
        return Report(self.exercise, (only,))


class Checks:
    """A lab's checks, each an attribute under its own name: `check.causal_mask(…)` in a graded cell."""

    def __init__(self, *checks: Check) -> None:
        vars(self).update({check.name: check for check in checks})

    def __getattr__(self, name: str) -> Check:  # only where there is no such check
        raise AttributeError(f"this lab has no check {name!r}; it has {', '.join(vars(self))}")


def warm_up() -> None:
    """Begin to import torch in the background, for checks that try functions out, while the learner reads on.

    Where a grader judges, it tries them out in processes of its own, and this kernel needs none.
    """
    if os.environ.get("NBGRADER_EXECUTION") != "autograde":
        shared_server()


NOT_WRITTEN = "Not written yet. Replace the line that raises NotImplementedError by your own code."


def attempt(function: Any, *arguments: Any) -> tuple[Any, str]:
    """A learner's function's result, and a sentence where it raised instead (empty where it did not)."""
    try:
        return function(*arguments), ""
    except NotImplementedError:
        return None, NOT_WRITTEN
    except Exception as error:
        return None, f"Your function raised {type(error).__name__}: {str(error)[:500]}"


def number(value: Any) -> tuple[float, str]:
    """The value as a float, and a sentence where it is none."""
    if isinstance(value, str):
        return 0.0, f"The result is the text {value!r}; a number is wanted."
    try:
        return float(value), ""
    except (TypeError, ValueError, RuntimeError):
        return 0.0, f"The result is a {type(value).__name__}; a number is wanted."


def borrowed(function: Any, answers: Collection[str] = (), lent: Collection[Any] = ()) -> str:
    """A sentence where a function or class is the library's own, or stands on one that is; else empty.

    Also where it uses something of the modules `answers`, but for what is `lent`: see `leans`.
    """
    kind = "class" if isinstance(function, type) else "function"
    for ancestor in (function, *getattr(function, "__mro__", ())):
        home = getattr(ancestor, "__module__", None) or ""
        if home.split(".")[0] == "lastgood":
            return f"This is the library's own {kind}, from {home}. Write yours in the notebook."
    if not callable(function):
        return f"This is a {type(function).__name__}, not a function."
    return leans(function, answers, lent) if answers else ""


@contextlib.contextmanager
def quiet() -> Iterator[Callable[[], str]]:
    """Keep stderr out of the cell: nbgrader takes a warning there for a failure. Yields what was said.

    Python's own stderr and file descriptor 2, which native libraries write to, are both caught.
    """
    text = ""
    with tempfile.TemporaryFile("w+b") as file, warnings.catch_warnings():
        saved_fd, saved = os.dup(2), sys.stderr
        os.dup2(file.fileno(), 2)
        sys.stderr = open(os.dup(file.fileno()), "w", encoding="utf-8", errors="replace")  # noqa: SIM115
        try:
            yield lambda: text
        finally:
            sys.stderr.close()
            sys.stderr = saved
            os.dup2(saved_fd, 2)
            os.close(saved_fd)
            file.seek(0)
            text = file.read().decode("utf-8", errors="replace")
