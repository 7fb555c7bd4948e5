"""How a comparison is measured: the sides take turns, and each turn is a pair.

A machine is not equally fast for long. Sides that alternate, A B A B, meet the same weather, and the ratio
within one turn says more than the ratio of two times from different minutes.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


def nothing() -> None:
    """What most sides have to do before a turn."""


@dataclass(frozen=True)
class Side:
    """One of the things compared. `before` runs ahead of each turn, untimed."""

    run: Callable[[], object]
    before: Callable[[], object] = nothing


@dataclass(frozen=True)
class Row:
    """One line of the table. Times in seconds, medians over `repeats` turns.

    `ratio` is the median of ours over the median of the other; `low` and `high` are the quartiles of the
    ratios of single turns. A row without another side has none of these.
    """

    what: str
    ours: float
    repeats: int
    other: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    most_ratio: float | None = None  # a goal: the ratio is at most this
    most_seconds: float | None = None  # a goal: our time is at most this

    @property
    def met(self) -> bool | None:
        """Whether the row meets its goals; None where it has none."""
        goals = ((self.ratio, self.most_ratio), (self.ours, self.most_seconds))
        verdicts = [found is not None and found <= most for found, most in goals if most is not None]
        return all(verdicts) if verdicts else None


def alternate(
    sides: Mapping[str, Side],
    repeats: int,
    *,
    warm_up: int = 2,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Seconds of each side in each turn, after `warm_up` turns that do not count. Raises ValueError.

    Garbage is not collected while a side runs, as `timeit` has it.
    """
    if repeats < 1:
        raise ValueError(f"repeats={repeats}: at least one turn has to count")
    gc.collect()
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(warm_up + repeats):
        for name, side in sides.items():
            taken = _timed(side, clock)
            if turn >= warm_up:
                seconds[name].append(taken)
    return seconds


def _timed(side: Side, clock: Callable[[], float]) -> float:
    side.before()
    gc.disable()
    try:
        begun = clock()
        side.run()
        return clock() - begun
    finally:
        gc.enable()


def compare(
    what: str,
    ours: Sequence[float],
    other: Sequence[float],
    *,
    most_ratio: float | None = None,
    most_seconds: float | None = None,
) -> Row:
    """The row of two sides that took turns. Raises ValueError where they did not take equally many."""
    ratios = [mine / theirs for mine, theirs in zip(ours, other, strict=True)]
    low, _, high = statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
    mine, theirs = statistics.median(ours), statistics.median(other)
    return Row(what, mine, len(ratios), theirs, mine / theirs, low, high, most_ratio, most_seconds)


def alone(what: str, ours: Sequence[float], *, most_seconds: float | None = None) -> Row:
    """The row of a time that is compared with nothing."""
    return Row(what, statistics.median(ours), len(ours), most_seconds=most_seconds)
