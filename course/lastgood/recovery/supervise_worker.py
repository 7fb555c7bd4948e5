"""What the supervisor runs in fresh processes: the run that gets killed, and beside it the undisturbed one.

A process tells what it does as it does it, one JSON object a message; the supervisor answers with nothing but
SIGKILL. Kinds of `train`: started, step, saving, saved, finished, raised. `undisturbed` sends points only.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch

from lastgood.recovery import bundle
from lastgood.recovery.components import digests
from lastgood.recovery.learner import Functions, own_frames
from lastgood.recovery.warm_channel import Channel
from lastgood.training.run import Run, RunConfig


class FunctionError(Exception):
    """One of the four functions raised, or left what cannot be gone on with."""

    def __init__(self, function: str, error: BaseException) -> None:
        super().__init__(f"{function} raised {type(error).__name__}: {error}")
        self.function = function
        self.error = error

    def as_data(self) -> dict[str, Any]:
        """For the supervisor: function, error, and (file, line, name) of each frame that is the learner's."""
        return {
            "function": self.function,
            "error": f"{type(self.error).__name__}: {self.error}"[:2000],
            "frames": [(f.filename, f.lineno, f.name) for f in own_frames(self.error)],
        }


def train(channel: Channel, job: str, blob: bytes | None) -> None:
    """Begin or resume the run and go on to its end, saving on the way."""
    torch.set_num_threads(1)
    say = functools.partial(_say, channel)
    try:
        with ExitStack() as for_life:
            _train(say, json.loads(job), blob, for_life)
    except FunctionError as error:
        say("raised", **error.as_data())


def _train(say: Callable[..., None], job: dict[str, Any], blob: bytes | None, for_life: ExitStack) -> None:
    f = _library(for_life) if blob is None else _learners(blob)
    if blob is None:
        _call(f, "hold", job["folder"])
    run = _resumed(f, job) or Run(RunConfig.from_dict(job["config"]), seed=job["seed"])
    say("started", digests=_looked_at(run))
    while run.step < job["steps"]:
        result = Run.advance(run)  # the class's own, whatever was hung on the object
        say("step", loss=result.loss, indices=result.indices)
        if run.step % job["save_every"] == 0:
            state = _call(f, "capture", run)
            say("saving", step=run.step)
            _call(f, "save", state, job["folder"])
            say("saved", step=run.step)
    say("finished", digests=digests(run))


def _resumed(f: Functions, job: dict[str, Any]) -> Run | None:
    """The run that was saved last, built with another seed; None where there is none and need be none."""
    if not job["may_load"]:
        return None
    run = Run(RunConfig.from_dict(job["config"]), seed=job["other_seed"])
    try:
        state = _call(f, "load", job["folder"])
    except FunctionError:
        if job["must_load"]:
            raise
        return None  # the first save was cut short: to raise is one way to say that there is nothing
    if state is None and job["must_load"]:
        raise FunctionError("load", LookupError("it returned None, though a save was complete"))
    if state is None:
        return None
    other = _call(f, "restore", run, state)
    return other if isinstance(other, Run) else run


def undisturbed(channel: Channel, job: str) -> None:
    """The run that nothing happens to: digests wherever the other may resume, and at the end."""
    torch.set_num_threads(1)
    orders = json.loads(job)
    run = Run(RunConfig.from_dict(orders["config"]), seed=orders["seed"])
    _say(channel, "point", step=0, digests=digests(run), indices=[])
    indices = []
    while run.step < orders["steps"]:
        indices.append(run.advance().indices)
        if run.step % orders["save_every"] == 0 or run.step == orders["steps"]:
            _say(channel, "point", step=run.step, digests=digests(run), indices=indices)
            indices = []


def _library(for_life: ExitStack) -> Functions:
    # Here: a process for a learner's functions need not wait for them.
    from lastgood.recovery import checkpoint, state

    def save(captured: dict[str, Any], folder: str) -> None:
        checkpoint.write(folder, captured, step=captured[state.STEP])
        checkpoint.prune(folder)

    def load(folder: str) -> dict[str, Any] | None:
        found = checkpoint.latest_good(folder).checkpoint
        return found.state if found else None

    def hold(folder: str) -> None:
        for_life.enter_context(checkpoint.hold(folder))

    return {"capture": state.capture, "restore": state.restore, "save": save, "load": load, "hold": hold}


def _learners(blob: bytes) -> Functions:
    try:
        return bundle.loads(blob)
    except bundle.BundleError as error:
        raise FunctionError("unpacking the functions", error) from error


def _call(f: Functions, name: str, *arguments: Any) -> Any:
    try:
        return f[name](*arguments)
    except Exception as error:
        raise FunctionError(name, error) from error


def _looked_at(run: Run) -> dict[str, str]:
    try:
        return digests(run)
    except Exception as error:
        raise FunctionError("a look at the run that restore left", error) from error


def _say(channel: Channel, kind: str, **more: Any) -> None:
    channel.send(json.dumps({"kind": kind, **more}).encode())
