"""One failure: when, where, and of which kind."""

from __future__ import annotations

import math
from dataclasses import dataclass

KILLED = "killed"  # the process is gone from one instruction to the next, as when its node dies
HUNG = "hung"  # it is there and does nothing; only a missing heartbeat shows it
TOLD_TO_LEAVE = "told to leave"  # SIGTERM, with some time until the host is taken away
CORRUPTED = "corrupted"  # the newest checkpoint is damaged on disk, then the process is killed
STORAGE_FULL = "storage full"  # for a while no checkpoint can be written

KINDS = (KILLED, HUNG, TOLD_TO_LEAVE, CORRUPTED, STORAGE_FULL)
HOURS_A_DAY = 24.0


class FaultError(ValueError):
    """A fault, rate, preset, schedule or trace that makes no sense, or none by that name."""


@dataclass(frozen=True)
class Fault:
    """One failure. Raises FaultError for a time, a host or a kind that cannot be."""

    time_hours: float  # since the run began
    host: int  # from 0
    kind: str = KILLED
    lasts_hours: float = 0.0  # how long storage is full, or the notice given to one told to leave

    def __post_init__(self) -> None:
        for name, value in (("time_hours", self.time_hours), ("lasts_hours", self.lasts_hours)):
            if not 0.0 <= value < math.inf:
                raise FaultError(f"{name} is {value:g}: give a finite number of hours, 0 or more")
        if self.host < 0:
            raise FaultError(f"host is {self.host}: hosts are counted from 0")
        if self.kind not in KINDS:
            raise FaultError(f"there is no kind {self.kind!r}; there are: {', '.join(KINDS)}")


def positive(**values: float) -> None:
    """Raise FaultError for the first of these that is not a positive, finite number."""
    for name, value in values.items():
        if not 0.0 < value < math.inf:
            raise FaultError(f"{name} is {value:g}: give a positive, finite number")
