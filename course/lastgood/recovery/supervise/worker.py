"""What the supervisor runs in fresh processes: the run that is hit, until it is hit.

It tells what it does as it does it, one JSON object a message, and is answered with signals only. Kinds:
started, step, saving, saved, refused (the save failed, and is tried again after the next step), left (as it
was told to), finished, raised. The run that nothing happens to is in `reference`.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch

from lastgood.recovery.checkpoint.manifest import CheckpointError
from lastgood.recovery.components import digests
from lastgood.recovery.learner import Functions, bundle, own_frames
from lastgood.recovery.warm.channel import Channel
from lastgood.training.run import Run, RunConfig

LEFT = os.EX_TEMPFAIL  # exit status of a process that was told to leave, and did: "try again later"


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
    """Begin or resume the run and go on to its end, or to where it is told to leave. Exits with LEFT then."""
    torch.set_num_threads(1)
    say = functools.partial(_say, channel)
    told: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))
    try:
        with ExitStack() as for_life:
            complete = _train(say, json.loads(job), blob, told, for_life)
    except FunctionError as error:
        say("raised", **error.as_data())
    else:
        if not complete:
            sys.exit(LEFT)


def _train(
    say: Callable[..., None], job: dict[str, Any], blob: bytes | None, told: list[int], for_life: ExitStack
) -> bool:
    """Train to the end: True. False where it left before, because `told` was no longer empty."""
    f = _library(for_life) if blob is None else _learners(blob)
    if blob is None:
        _call(f, "hold", job["folder"])
    run, skipped = _resumed(f, job)
    run = run or Run(RunConfig.from_dict(job["config"]), seed=job["seed"])
    say("started", step=run.step, digests=_looked_at(run), skipped=skipped)
    saves = _Saves(f, job, say, trusted=blob is None)
    while run.step < job["steps"]:
        result = Run.advance(run)  # the class's own, whatever was hung on the object
        say("step", loss=result.loss, indices=result.indices)
        if saves.pending or run.step % job["save_every"] == 0 or (told and run.step < job["steps"]):
            saves.save(run)
        if told and run.step < job["steps"]:
            say("left", step=run.step)
            return False
    say("finished", digests=digests(run))
    return True


@dataclass
class _Saves:
    """Saves, and what to do about one that failed."""

    f: Functions
    job: dict[str, Any]
    say: Callable[..., None]
    trusted: bool  # the library's functions: their errors are the disk's
    pending: bool = field(default=False)  # the last one failed

    def save(self, run: Run) -> None:
        state = _call(self.f, "capture", run)
        self.say("saving", step=run.step)
        try:
            _call(self.f, "save", state, self.job["folder"])
        except FunctionError as error:
            if not (self.trusted and isinstance(error.error, CheckpointError)):
                raise
            self.pending = True  # no reason to stop training: earlier checkpoints stand
            self.say("refused", step=run.step, error=error.error.cause)
        else:
            self.pending = False
            self.say("saved", step=run.step)


def _resumed(f: Functions, job: dict[str, Any]) -> tuple[Run | None, list[str]]:
    """The run that was saved last, built with another seed; None where there is none and need be none.

    With it, what `load` passed over, in words.
    """
    if not job["may_load"]:
        return None, []
    run = Run(RunConfig.from_dict(job["config"]), seed=job["other_seed"])
    skipped: list[str] = []
    try:
        state = _call(f, "load", job["folder"])
        if "skipped" in f:
            skipped = f["skipped"]()
    except FunctionError:
        if job["must_load"]:
            raise
        return None, []  # the first save was cut short: to raise is one way to say that there is nothing
    if state is None and job["must_load"]:
        raise FunctionError("load", LookupError("it returned None, though a save was complete"))
    if state is None:
        return None, skipped
    other = _call(f, "restore", run, state)
    return (other if isinstance(other, Run) else run), skipped


def _library(for_life: ExitStack) -> Functions:
    # Here: a process for a learner's functions need not wait for them.
    from lastgood.recovery import checkpoint, state
    from lastgood.recovery.checkpoint.leftovers import recognise

    skipped: list[str] = []

    def save(captured: dict[str, Any], folder: str) -> None:
        checkpoint.write(folder, captured, step=captured[state.STEP])
        checkpoint.prune(folder)

    def load(folder: str) -> dict[str, Any] | None:
        found = checkpoint.latest_good(folder)
        skipped[:] = [each.reason for each in found.skipped if not recognise(each.path)]
        return found.checkpoint.state if found.checkpoint else None

    def hold(folder: str) -> None:
        for_life.enter_context(checkpoint.hold(folder))

    return {
        "capture": state.capture,
        "restore": state.restore,
        "save": save,
        "load": load,
        "hold": hold,
        "skipped": lambda: skipped,
    }


def _learners(blob: bytes) -> Functions:
    try:
        functions = bundle.loads(blob)
    except bundle.BundleError as error:
        raise FunctionError("unpacking the functions", error) from error
    return {name: functions[name] for name in ("capture", "restore", "save", "load")}


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
