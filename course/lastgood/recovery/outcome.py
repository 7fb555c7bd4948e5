"""What a supervised run tells while it goes, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass

from lastgood.recovery.components import TITLES


class SupervisorError(Exception):
    """A run that cannot be supervised: its folder is in use, its numbers make no run, no undisturbed run."""


@dataclass(frozen=True)
class Event:
    """One thing that happened."""

    kind: str  # started, step, saved, killed, died, restarted, mismatch, error or finished
    step: int  # optimizer steps that the run consists of now
    executed: int  # steps executed so far, redone ones included
    hours: float  # the compressed clock
    text: str  # for people


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
    kills: int  # on schedule
    restarts: int  # fresh processes after the first one, whatever ended the one before
    lost_steps: tuple[int, ...]  # for each restart: steps that had to be done again
    first_mismatch: Mismatch | None
    error: str | None  # why it was stopped, if not for a mismatch
    wall_seconds: float

    @property
    def ettr(self) -> float:
        """Useful steps / executed steps: an effective training time ratio that counts redone work only.

        Saving, noticing a failure, finding a spare, starting again: a real run pays more for them than for
        redone work; here they are free.
        """
        return self.reached / self.executed_steps if self.executed_steps else 1.0
