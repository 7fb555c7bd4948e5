"""What is known of a supervised run: a fold over its events, so that the log alone brings it back."""

from __future__ import annotations

from dataclasses import dataclass, field

from lastgood.recovery.faults import CORRUPTED, HUNG
from lastgood.recovery.supervise.clock import Clock, Costs, Spares
from lastgood.recovery.supervise.outcome import (
    DETECTING,
    DIED,
    RESTARTING,
    SAVING,
    SUPERVISOR_GONE,
    WAITING,
    Event,
    Failure,
    lost_bound,
)


@dataclass
class Down:
    """No process is up: why, since when, and until when there is no host for one."""

    cause: str
    host: int | None
    hours: float
    bound: int  # steps that the restart may lose
    wait: float = 0.0


@dataclass
class Progress:
    """The run so far. Every change goes through `apply`, whether it happens or is read from a log."""

    clock: Clock
    costs: Costs
    spares: Spares
    save_every: int
    history: list[list[int] | None] = field(default_factory=list)  # samples of each step; None: unwitnessed
    saved: set[int] = field(default_factory=set)
    whole: bool = False  # the newest checkpoint was complete, and nobody has damaged it
    failures: list[Failure] = field(default_factory=list)
    kills: int = 0
    furthest: int = 0
    futile: int = 0  # unscheduled ends in a row, without a step further than ever
    refused: int = 0  # saves, since the last one that was not
    refused_before: int = 0  # between that one and the one before it
    refused_in_all: int = 0
    storage_full: bool = False
    down: Down | None = None

    @property
    def step(self) -> int:
        return len(self.history)

    def bound(self, cause: str, *, saved_on_notice: bool = False) -> int:
        """Steps that a restart may lose if the process ends now."""
        return lost_bound(
            cause,
            self.save_every,
            saved_on_notice=saved_on_notice,
            refused=self.refused,
            refused_before=self.refused_before,
        )

    def apply(
        self,
        kind: str,
        *,
        step: int | None = None,
        host: int | None = None,
        cause: str | None = None,
        wait: float | None = None,
        indices: list[int] | None = None,
        bound: int | None = None,
        **_: object,
    ) -> None:
        """Take note of an event; `step` is where the run is after it, and matters at a restart and a save."""
        match kind:
            case "step":
                self.clock.executed += 1
                self.history.append(indices)
                if self.step > self.furthest:
                    self.furthest, self.futile = self.step, 0
            case "saved":
                self.clock.spent[SAVING] += self.costs.save_hours
                self._saved(self.step)
            case "refused":
                self.refused += 1
                self.refused_in_all += 1
            case "full":
                fault = self.clock.faults[self.clock.fired]
                self.clock.fired += 1
                self.clock.full_until = max(self.clock.full_until, fault.time_hours + fault.lasts_hours)
                self.storage_full = True
            case "free":
                self.storage_full = False
            case "failed":
                self._failed(str(cause), host, bound or 0)
            case "died":
                self.futile += 1
                self.down = Down(str(cause), None, self.clock.hours, bound or 0)
            case "waiting":
                self.clock.spent[WAITING] += wait or 0.0
            case "continued" if not self.down:
                self.down = Down(SUPERVISOR_GONE, None, self.clock.hours, bound or 0)
            case "saved late":  # a process ended before it could say so
                self._saved(step or 0)
            case "restarted":
                self._restarted(step or 0)

    def replay(self, events: list[Event]) -> None:
        """Take note of all that a log tells."""
        for event in events:
            self.apply(**vars(event))

    def _saved(self, step: int) -> None:
        self.saved.add(step)
        self.whole = True
        self.refused, self.refused_before = 0, self.refused

    def _failed(self, cause: str, host: int | None, bound: int) -> None:
        self.clock.fired += 1
        self.kills += 1
        if cause == HUNG:
            self.clock.spent[DETECTING] += self.costs.detect_hours
        if cause == CORRUPTED:
            self.whole = False
        self.down = Down(cause, host, self.clock.hours, bound, self.spares.replace(self.clock.hours))

    def _restarted(self, step: int) -> None:
        down = self.down or Down(DIED, None, self.clock.hours, self.save_every)
        unseen = max(0, step - self.step)  # executed and saved after the supervisor had died
        self.clock.executed += unseen
        self.history += [None] * unseen
        self.clock.spent[RESTARTING] += self.costs.restart_hours
        self.failures.append(
            Failure(down.cause, down.host, down.hours, self.step, step, down.bound, down.wait)
        )
        del self.history[step:]
        self.down = None
