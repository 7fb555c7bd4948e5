"""Thousands of lives under one process of failures, and what became of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lastgood.recovery.faults import Exponential, Process
from lastgood.recovery.simulate.fleet import CORRUPTING, FAILURE, ROLLBACK, Fleet, Kinds
from lastgood.recovery.simulate.life import Life, SimulationError

Array: TypeAlias = NDArray[np.float64]

_AT_ONCE = 5_000  # runs simulated together; a constant, for the draws depend on it
_FIRST_HORIZON = 1.25  # of the hours without failures: enough for most plans
_MOST_FAILURES = 5_000  # of one run: beyond that it will not end


@dataclass(frozen=True)
class Lives:
    """What became of each run. Arrays of shape (runs,), hours but for the counts."""

    wall_hours: Array
    parts: dict[str, Array]  # by name, in the order of PARTS; they sum to `wall_hours`
    restarts: NDArray[np.int64]
    lost_hours: Array  # (runs, k) work lost at each restart in turn; nan fills up
    saves: NDArray[np.int64]  # begun, those that a failure tore among them
    bytes_written: NDArray[np.int64]  # by all saves begun, each taken as whole
    peak_bytes: NDArray[np.int64]  # most on disk at once: what is kept, and a save being written

    @property
    def ettr(self) -> Array:
        """Effective training time ratio: work that was kept over wall-clock time."""
        return self.parts["work"] / self.wall_hours

    def mean_parts(self) -> dict[str, float]:
        """The mean hours of each part."""
        return {part: float(hours.mean()) for part, hours in self.parts.items()}


def simulate(life: Life, process: Process, runs: int, seed: int) -> Lives:
    """Live `runs` lives, each under failures of its own drawn from `process`.

    The same seed gives the same lives. What an announced preemption could save in its notice is not
    counted: it is a failure like any other.

    Raises SimulationError for less than one run, and where runs have not ended after thousands of failures.
    """
    if runs < 1:
        raise SimulationError(f"{runs} runs are none: give 1 or more")
    seeds = np.random.SeedSequence(seed).spawn(math.ceil(runs / _AT_ONCE))
    sizes = [min(_AT_ONCE, runs - first) for first in range(0, runs, _AT_ONCE)]
    return _joined(
        [_together(life, process, size, own) for size, own in zip(sizes, seeds, strict=True)], life
    )


@dataclass
class Draw:
    """The events of some runs, ascending: times, and kinds where not all are plain failures. (runs, k)."""

    times: Array
    kinds: Kinds | None

    def columns(self) -> Iterator[tuple[Array, Kinds | None]]:
        times = np.ascontiguousarray(self.times.T)
        kinds = [None] * len(times) if self.kinds is None else np.ascontiguousarray(self.kinds.T)
        return zip(times, kinds, strict=True)


def _together(life: Life, process: Process, runs: int, seed: np.random.SeedSequence) -> tuple[Fleet, Array]:
    """Runs of one draw. Where it does not reach their ends, a longer one, which begins with it, is taken."""
    fleet = Fleet(life, runs)
    lost: list[Array] = []
    taken, hours = 0.0, _FIRST_HORIZON * life.hours_without_failures
    while True:
        # A sequence of seeds counts what it spawned: begin anew each time.
        same = np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
        draw = drawn(life, process, hours, runs, same)
        for time, kind in draw.columns():
            # Those before `taken` are in the fleet already, from a shorter draw.
            due = np.where(time < taken, math.inf, time)
            if (due < fleet.end).any():
                lost.append(fleet.take(due, kind))
        if fleet.end.max() <= hours:
            fleet.finish()
            return fleet, _packed(lost, runs)
        if draw.times.shape[1] > _MOST_FAILURES:
            unfinished = int((fleet.end > hours).sum())
            raise SimulationError(
                f"after {hours:,.0f} h {unfinished:,} of {runs:,} runs have not ended, which take "
                f"{life.hours_without_failures:,.0f} h without failures: save more often, or fail less often"
            )
        taken, hours = hours, 2.0 * hours


def drawn(life: Life, process: Process, hours: float, runs: int, seed: np.random.SeedSequence) -> Draw:
    """The events of so many hours. A longer draw begins with a shorter one of the same seed."""
    failures, corrupted, rollbacks = (np.random.default_rng(child) for child in seed.spawn(3))
    times = process.times(hours, runs, failures)
    if not life.corrupted and math.isinf(life.rollback_every_hours):
        return Draw(times, None)
    # By columns, so that a longer draw begins with the shorter.
    flags = life.corrupted > corrupted.random(times.shape[::-1]).T
    kinds = np.where(flags, CORRUPTING, FAILURE).astype(np.int8)
    if not math.isinf(life.rollback_every_hours):
        on_purpose = Exponential.with_mtbf(life.rollback_every_hours).times(hours, runs, rollbacks)
        times = np.concatenate([times, on_purpose], axis=1)
        kinds = np.concatenate([kinds, np.full(on_purpose.shape, ROLLBACK, dtype=np.int8)], axis=1)
        order = np.argsort(times, axis=1, kind="stable")
        times, kinds = np.take_along_axis(times, order, axis=1), np.take_along_axis(kinds, order, axis=1)
    return Draw(times, kinds)


def _packed(lost: list[Array], runs: int) -> Array:
    """(runs, k) losses with each row's own at its left, and no column of nothing."""
    rows = np.array(lost).T if lost else np.empty((runs, 0))
    missing = np.isnan(rows)
    packed = np.take_along_axis(rows, np.argsort(missing, axis=1, kind="stable"), axis=1)
    return packed[:, : int((~missing).sum(axis=1).max(initial=0))]


def _joined(lived: list[tuple[Fleet, Array]], life: Life) -> Lives:
    fleets = [fleet for fleet, _ in lived]
    width = max(lost.shape[1] for _, lost in lived)
    lost = [np.pad(lost, ((0, 0), (0, width - lost.shape[1])), constant_values=math.nan) for _, lost in lived]
    saves = np.concatenate([fleet.saves for fleet in fleets]).astype(np.int64)
    most = np.concatenate([fleet.most_stored for fleet in fleets]).astype(np.int64)
    return Lives(
        wall_hours=np.concatenate([fleet.end for fleet in fleets]),
        parts={part: np.concatenate([fleet.parts[part] for fleet in fleets]) for part in fleets[0].parts},
        restarts=np.concatenate([fleet.restarts for fleet in fleets]),
        lost_hours=np.concatenate(lost),
        saves=saves,
        bytes_written=saves * life.checkpoint_bytes,
        peak_bytes=most * life.checkpoint_bytes,
    )
