"""Compressed time: what the clock counts, which fault comes next, and when a host is there again."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from lastgood.recovery.faults import Fault
from lastgood.recovery.supervise.outcome import (
    DETECTING,
    REDONE,
    RESTARTING,
    SAVING,
    WAITING,
    WORK,
    SupervisorError,
)


@dataclass(frozen=True)
class Costs:
    """Hours on the compressed clock that are not steps."""

    save_hours: float = 0.0  # each save; a notice that is no longer does not suffice for one
    restart_hours: float = 0.0
    detect_hours: float = 0.0  # until a hang is noticed
    repair_hours: float = 24.0  # until a host that failed is a spare again

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0.0 <= value < math.inf:
                raise SupervisorError(f"{name} is {value}: give hours, 0 or more")


@dataclass(frozen=True)
class Patience:
    """How long the supervisor waits, in seconds, and how often it tries."""

    silence_s: float = 1.0  # a process that neither speaks nor computes for so long has hung
    stuck_s: float = 60.0  # one that computes, and does not speak
    deaths: int = 3  # unscheduled, in a row, without a new step: a further process would not help
    backoff_s: float = 0.5  # before the restart after an unscheduled death; doubles with each
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        if not (self.silence_s > 0 and self.stuck_s > 0 and self.backoff_s >= 0 and self.deaths >= 1):
            raise SupervisorError(f"{self} is none: give positive seconds, and 1 death or more")


@dataclass
class Clock:
    """Steps executed and hours spent otherwise, and the faults that they bring about."""

    faults: list[Fault]
    hours_per_step: float
    executed: int = 0
    spent: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys((SAVING, DETECTING, WAITING, RESTARTING), 0.0)
    )
    fired: int = 0  # so many of the faults have happened
    full_until: float = -math.inf  # storage

    @property
    def hours(self) -> float:
        return self.executed * self.hours_per_step + sum(self.spent.values())

    @property
    def storage_full(self) -> bool:
        return self.hours < self.full_until

    def upcoming(self) -> tuple[Fault, float] | None:
        """The next fault, if it strikes within the step that begins now, and after which fraction of it."""
        if self.fired == len(self.faults):
            return None
        fault = self.faults[self.fired]
        fraction = (fault.time_hours - self.hours) / self.hours_per_step
        return (fault, max(0.0, fraction)) if fraction < 1.0 else None

    def where_it_went(self, reached: int) -> dict[str, float]:
        """The hours of the clock, `reached` steps of which are work that counts."""
        work = reached * self.hours_per_step
        return {WORK: work, REDONE: self.executed * self.hours_per_step - work, **self.spent}


class Spares:
    """Hosts in reserve, and those in repair. `number` None: there is always one more."""

    def __init__(self, number: int | None, repair_hours: float) -> None:
        if number is not None and number < 0:
            raise SupervisorError(f"{number} spare hosts: give 0 or more")
        self._number = number
        self._repair_hours = repair_hours
        self._ready = [-math.inf] * (number or 0)  # a heap of the hours from which a spare can be had

    def replace(self, hours: float) -> float:
        """Take a spare for a host that failed at `hours`; return for how many hours there is none."""
        if self._number is None:
            return 0.0
        heapq.heappush(self._ready, hours + self._repair_hours)
        return max(0.0, heapq.heappop(self._ready) - hours)


class Pace:
    """How long steps and saves take here, seconds, so that a fault can come in the midst of one."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._last = now()
        self._step_s = self._save_s = 0.0

    def begun(self) -> None:
        """A process is up, or a save is over: the next step begins."""
        self._last = self._now()

    def stepped(self) -> None:
        self._step_s, self._last = self._now() - self._last, self._now()

    def saved(self) -> None:
        self._save_s, self._last = self._now() - self._last, self._now()

    def seconds(self, *, with_save: bool) -> float:
        """How long what comes next will take: a step, and perhaps the save before it."""
        return self._step_s + (self._save_s if with_save else 0.0)
