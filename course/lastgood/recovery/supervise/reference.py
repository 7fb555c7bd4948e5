"""The run that nothing happens to, in a process beside, and what the supervisor knows of it.

It computes as far as it is asked to, and tells what the run is there: a digest a component. Asked for a step
that it has passed, as where a process was told to leave between two saves, it goes there again in a copy.
"""

from __future__ import annotations

import copy
import json
from collections import deque
from contextlib import suppress
from typing import Any

import torch

from lastgood.recovery.components import COMPONENTS, digests
from lastgood.recovery.supervise.outcome import SupervisorError
from lastgood.recovery.warm import Worker
from lastgood.recovery.warm.channel import Channel
from lastgood.training.rng import capture_rng, restore_rng
from lastgood.training.run import Run, RunConfig

UNDISTURBED = "lastgood.recovery.supervise.reference:undisturbed"
_LAG_S = 300.0  # how long the undisturbed run may take to catch up
_COPIES = 4  # of the run as it was where it was asked for; who resumes goes back no further as a rule

_Copy = tuple[Run, dict[str, Any]]  # with the global generators


def undisturbed(channel: Channel, job: str) -> None:
    """Answer each step that is asked for, a number a message, with the run's digests there."""
    torch.set_num_threads(1)
    orders = json.loads(job)

    def fresh() -> Run:
        return Run(RunConfig.from_dict(orders["config"]), seed=orders["seed"])

    run = fresh()
    copies: deque[_Copy] = deque(maxlen=_COPIES)
    indices: list[tuple[int, ...]] = []
    while True:
        try:
            step = int(channel.recv())
        except EOFError:
            return
        if step >= run.step:
            indices = [run.advance().indices for _ in range(step - run.step)]
            there = digests(run)
            copies.append(_copied(run))
        else:
            indices, there = [], _again(step, copies, run, fresh)
        channel.send(json.dumps({"step": step, "digests": there, "indices": indices}).encode())


def _copied(run: Run) -> _Copy:
    return copy.deepcopy(run), capture_rng()


def _again(step: int, copies: deque[_Copy], run: Run, fresh: Any) -> dict[str, str]:
    """The digests at a step that `run` has passed; `run` and the generators are then as they were."""
    here = capture_rng()
    before = [(kept, rng) for kept, rng in copies if kept.step <= step]
    if before:
        kept, rng = before[-1]
        restore_rng(rng)
        other = copy.deepcopy(kept)
    else:
        other = fresh()  # seeds the generators
    while other.step < step:
        other.advance()
    found = digests(other)
    restore_rng(here)
    return found


class Reference:
    """The run beside, asked ahead of time and waited for where it lags."""

    def __init__(self, worker: Worker, steps: int, save_every: int) -> None:
        self._worker = worker
        self._steps, self._save_every = steps, save_every
        self._digests: dict[int, dict[str, str]] = {}
        self._asked: set[int] = set()
        self.indices: list[list[int]] = []
        self.expect(0)

    def expect(self, step: int) -> None:
        """The run may be resumed at `step`: have it looked at there and, ahead of time, at the save after."""
        self._read_on()
        after = min(self._steps, (step // self._save_every + 1) * self._save_every)
        for place in (step, after):
            if place not in self._asked:
                self._asked.add(place)
                self._worker.channel.send(str(place).encode())

    def differing(self, found: dict[str, str], step: int) -> tuple[str, ...]:
        """The components of `found` that are not those of the undisturbed run at `step`.

        Raises SupervisorError where that run does not get there.
        """
        try:
            self.expect(step)
            while step not in self._digests:
                self._read(_LAG_S)
        except (EOFError, TimeoutError) as error:
            raise SupervisorError(
                f"the undisturbed run did not get to step {step}. It printed:\n{self._worker.output()}"
            ) from error
        return tuple(name for name in COMPONENTS if found[name] != self._digests[step][name])

    def _read_on(self) -> None:
        """Take what lies ready, so that the run beside need not wait for a reader."""
        with suppress(EOFError, TimeoutError):
            while True:
                self._read(0.0)

    def _read(self, timeout: float) -> None:
        point = json.loads(self._worker.channel.recv(timeout))
        self._digests[point["step"]] = point["digests"]
        self.indices += point["indices"]
