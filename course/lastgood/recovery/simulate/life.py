"""The numbers of a run that lives through failures, and what becomes of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

# Where the wall-clock time of a run goes.
WORK = "work"  # that was kept
SAVES = "saves"
LOST = "lost work"
DETECTION = "detection"
DIAGNOSIS = "diagnosis"
SPARES = "waiting for spares"
RESTARTS = "restarts"
ROLLBACKS = "rollbacks"  # work undone on purpose, and what people take to decide on it
PARTS = (WORK, SAVES, LOST, DETECTION, DIAGNOSIS, SPARES, RESTARTS, ROLLBACKS)


class SimulationError(ValueError):
    """A life that cannot be lived: a number that is none, or runs that do not end."""


@dataclass(frozen=True)
class Life:
    """A run's numbers. Hours throughout.

    The run works `interval_hours`, saves, and so on until `work_hours` are done; it ends with a save. A
    failure during work, a save or a restart costs the work since the last save that was complete, then
    `detection_hours`, `diagnosis_hours`, the wait for a spare, and `restart_hours`. One that comes while
    the run is down, before the restart, is found by the same diagnosis: it takes a host but no time of its
    own.

    Raises SimulationError for numbers that make no run.
    """

    work_hours: float
    interval_hours: float  # of work between two saves
    save_hours: float  # until a save is safely on disk
    stall_hours: float | None = None  # what of it stops training; None: all (a blocking save)
    restart_hours: float = 0.0
    detection_hours: float = 0.0
    diagnosis_hours: float = 0.0
    spares: int | None = None  # hosts in waiting; None: never short of one
    repair_hours: float = 0.0  # from diagnosis until a failed host is a spare again
    corrupted: float = 0.0  # how likely a failure finds the newest checkpoint corrupted: one more is lost
    rollback_every_hours: float = math.inf  # mean time between rollbacks on purpose, as after a divergence
    rollback_saves: int = 1  # how many checkpoints before the newest a rollback goes back to
    rollback_hours: float = 0.0  # what people take to decide on it; then comes a restart
    checkpoint_bytes: int = 0
    keep_last: int | None = None  # checkpoints that stay on disk; None: all

    def __post_init__(self) -> None:
        for name in ("work_hours", "interval_hours"):
            _require(name, getattr(self, name), 0.0 < getattr(self, name) < math.inf, "more than 0")
        for name in _FROM_ZERO:
            value = getattr(self, name)
            _require(name, value, value is None or 0 <= value < math.inf, "0 or more")
        _require("corrupted", self.corrupted, 0.0 <= self.corrupted <= 1.0, "a probability, 0 to 1")
        _require(
            "rollback_every_hours", self.rollback_every_hours, self.rollback_every_hours > 0, "more than 0"
        )
        _require("keep_last", self.keep_last, self.keep_last is None or self.keep_last >= 1, "1 or more")
        if self.interval_hours > self.work_hours:
            raise SimulationError(
                f"an interval of {self.interval_hours:g} h is longer than the run, {self.work_hours:g} h"
            )
        if not self.stall <= self.save_hours <= self.interval_hours + self.stall:
            raise SimulationError(
                f"a save takes {self.save_hours:g} h and stalls training for {self.stall:g} h: it must take "
                f"at least its stall, and be done before the next, {self.interval_hours:g} h of work later"
            )

    @property
    def stall(self) -> float:
        """Hours for which a save stops training."""
        return self.save_hours if self.stall_hours is None else self.stall_hours

    @cached_property
    def intervals(self) -> int:
        """Into how many intervals the work falls; the last may be shorter."""
        return math.ceil(self.work_hours / self.interval_hours * (1.0 - 1e-12))

    @cached_property
    def last_interval_hours(self) -> float:
        """The work of the last interval."""
        return self.work_hours - (self.intervals - 1) * self.interval_hours

    @property
    def hours_without_failures(self) -> float:
        """Wall-clock hours of a run that nothing hits."""
        return self.work_hours + (self.intervals - 1) * self.stall + self.last_wait_hours + self.save_hours

    @property
    def last_wait_hours(self) -> float:
        """How long the last save waits for the one before, where that is still being written."""
        if self.intervals == 1:
            return 0.0
        return max(0.0, self.save_hours - self.stall - self.last_interval_hours)


_FROM_ZERO = (
    "save_hours",
    "stall_hours",
    "restart_hours",
    "detection_hours",
    "diagnosis_hours",
    "spares",
    "repair_hours",
    "rollback_saves",
    "rollback_hours",
    "checkpoint_bytes",
)


def _require(name: str, value: float | None, holds: bool, wanted: str) -> None:
    if not holds:
        raise SimulationError(f"{name} is {value:g}: give {wanted}")
