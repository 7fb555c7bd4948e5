"""What a supervised run tells while it goes, what it may lose, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lastgood.recovery.components import TITLES
from lastgood.recovery.faults import CORRUPTED

DIED = "died"  # the cause of an end that was on no schedule
SUPERVISOR_GONE = "supervisor"  # the cause of a restart by a new supervisor
WORK, REDONE, SAVING, DETECTING, WAITING, RESTARTING = (
    "work", "redone", "saving", "detecting", "waiting", "restarting",
)  # fmt: skip


class SupervisorError(Exception):
    """A run that cannot be supervised: its folder is in use, its numbers make no run, no undisturbed run."""


@dataclass(frozen=True)
class Event:
    """One thing that happened: a line of `events.jsonl`. None where a field has no meaning.

    Kinds: started, step, saved, refused (a save that failed), full and free (storage), failed (a scheduled
    fault ended the process), died (nothing scheduled did), waiting (for a host), restarted, continued (by a
    new supervisor), and at the end one of mismatch, error, finished.
    """

    kind: str
    step: int  # optimizer steps that the run consists of now
    executed: int  # steps executed so far, redone ones included
    hours: float  # the compressed clock: steps, and whatever else costs time
    text: str  # for people
    host: int | None = None
    cause: str | None = None  # a kind of fault, DIED or SUPERVISOR_GONE
    lost: int | None = None  # steps to do again, of a restart
    bound: int | None = None  # steps: `lost` may be no more
    wait: float | None = None  # hours without a host
    indices: list[int] | None = None  # samples, of a step


def lost_bound(
    cause: str, save_every: int, *, saved_on_notice: bool, refused: int, refused_before: int
) -> int:
    """Steps that a restart may have to do again: all the bounds there are, in one place.

    One interval between saves, whatever the end was. None where the process was told to leave and had time
    to save. Two where the newest checkpoint was corrupted as well. And while storage is full, a save is tried
    after each step: each refused one, since the last good save, adds a step. Where the newest checkpoint is
    gone, so do those `refused_before` it.
    """
    if saved_on_notice:
        return 0
    if cause == CORRUPTED:
        return 2 * save_every + refused + refused_before
    return save_every + refused


@dataclass(frozen=True)
class Failure:
    """An end of a process, and what the restart after it cost."""

    cause: str
    host: int | None
    hours: float  # when, on the compressed clock
    step: int  # how far the run had got
    resumed: int  # the step it went on from
    bound: int  # steps
    wait: float  # hours without a host

    @property
    def lost(self) -> int:
        """Steps to do again."""
        return self.step - self.resumed

    @property
    def within_bound(self) -> bool:
        return self.lost <= self.bound


@dataclass(frozen=True)
class Mismatch:
    """Where the disturbed run was first another than the undisturbed one."""

    kill: int  # the restart after this kill; they count from 1
    step: int
    components: tuple[str, ...]  # those that differ, in the order of COMPONENTS
    at_end: bool = False  # each restart was right, and the run went another way all the same

    def __str__(self) -> str:
        names = ", ".join(TITLES[name] for name in self.components)
        if self.at_end:
            return f"every restart was right, yet at the end, step {self.step}, it differs in its {names}"
        return f"after kill {self.kill} the run resumed at step {self.step} and had lost its {names}"


@dataclass(frozen=True)
class Outcome:
    """How a supervised run ended."""

    identical: bool  # bit for bit the undisturbed run, and sample by sample
    steps: int  # asked for
    reached: int  # steps that the run consists of: `steps`, or fewer where it was stopped
    executed_steps: int  # redone ones included
    kills: int  # scheduled faults that ended a process
    failures: tuple[Failure, ...]  # one a restart, scheduled or not
    first_mismatch: Mismatch | None
    error: str | None  # why it was stopped, if not for a mismatch
    wall_seconds: float
    hours: Mapping[str, float] = field(default_factory=dict)  # of the compressed clock: where they went
    refused_saves: int = 0

    @property
    def restarts(self) -> int:
        """Fresh processes that went on with the run, whatever had ended the one before."""
        return len(self.failures)

    @property
    def lost_steps(self) -> tuple[int, ...]:
        """For each restart: steps that had to be done again."""
        return tuple(failure.lost for failure in self.failures)

    @property
    def ettr(self) -> float:
        """Effective training time ratio: hours of work that counts / hours of the compressed clock.

        Redone steps, saves, hangs until they are noticed, restarts and waits for a host all count against it,
        as far as `Costs` gives them a length; by default only redone steps and waits have one.
        """
        wall = sum(self.hours.values())
        return self.hours[WORK] / wall if wall else 1.0
