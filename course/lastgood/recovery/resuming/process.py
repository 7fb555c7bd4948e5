"""One process of an audit: it calls the five functions as it is told, and answers in JSON.

    python -m lastgood.recovery.resuming.process DESCRIPTOR MODULE

It is asked ["make"], ["advance", 5], ["observe"], ["save", folder] or ["resume", folder], one after another.
"""

from __future__ import annotations

import importlib
import json
import socket
import sys
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lastgood.recovery.warm.channel import Channel

_OURS = str(Path(__file__).parent)
_CHARACTERS = 4000  # of a traceback


class AnswerError(ValueError):
    """What one of the functions returned is not what an audit can use."""


def main() -> None:
    """A fresh interpreter's whole life."""
    descriptor, module = sys.argv[1:]
    del sys.argv[1:]  # as a script without arguments: the user's module may look at them
    serve(Channel(socket.socket(fileno=int(descriptor))), module)


def serve(channel: Channel, module: str) -> None:
    """Answer until the audit hangs up, or ends this process."""
    answering = _Answering()
    _answer(channel, answering.load, [module])
    while True:
        try:
            order, *arguments = json.loads(channel.recv())
        except EOFError:
            return
        _answer(channel, getattr(answering, order), arguments)


def _answer(channel: Channel, function: Any, arguments: Sequence[Any]) -> None:
    try:
        answer = {"value": function(*arguments)}
    except (Exception, SystemExit) as error:  # a training script may call sys.exit
        told = {"kind": type(error).__name__, "message": str(error), "traceback": _traceback(error)}
        answer = {"error": told}
    sys.stdout.flush()
    channel.send(json.dumps(answer).encode())


def _traceback(error: BaseException) -> str:
    """From the user's own first line on; nothing where the message is ours and says it all."""
    if type(error).__module__.startswith("lastgood.recovery.resuming."):
        return ""
    trace = error.__traceback__
    while trace and _is_ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    error.__traceback__ = trace
    return "".join(traceback.format_exception(error))[-_CHARACTERS:]


def _is_ours(file: str) -> bool:
    return file.startswith((_OURS, "<frozen importlib")) or file == importlib.__file__


class _Answering:
    """The user's functions, and the one run of this process."""

    def load(self, module: str) -> dict[str, Any]:
        from lastgood.recovery.resuming.loading import load

        self._five = load(module)
        return {"observes": self._five.observe is not None}

    def make(self) -> None:
        self._run = _some("make", self._five.make())

    def advance(self, steps: int) -> list[float]:
        """One loss for each step."""
        losses = self._five.advance(self._run, steps)
        if not isinstance(losses, Iterable):
            raise AnswerError(f"advance returned a {type(losses).__name__}: give a list, one loss a step")
        found = [float(loss) for loss in losses]
        if len(found) != steps:
            raise AnswerError(f"advance was to train {steps} steps and returned {len(found)} losses")
        return found

    def observe(self) -> dict[str, Any]:
        from lastgood.recovery.resuming.leaves import observed

        assert self._five.observe is not None
        return observed(self._five.observe(self._run))

    def save(self, folder: str) -> None:
        self._five.save(self._run, Path(folder))

    def resume(self, folder: str) -> None:
        self._run = _some("resume", self._five.resume(Path(folder)))


def _some(name: str, run: Any) -> Any:
    """The run. Raises AnswerError where there is none."""
    if run is None:
        raise AnswerError(f"{name} returned None: return the run")
    return run


if __name__ == "__main__":
    main()
