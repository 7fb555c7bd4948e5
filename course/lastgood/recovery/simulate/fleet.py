"""Many runs at once: one numpy step takes all of them over their next failure, whatever lies between."""

from __future__ import annotations

import math
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from lastgood.recovery.simulate.life import (
    DETECTION,
    DIAGNOSIS,
    LOST,
    PARTS,
    RESTARTS,
    ROLLBACKS,
    SAVES,
    SPARES,
    WORK,
    Life,
)

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
Kinds: TypeAlias = NDArray[np.int8]

FAILURE, CORRUPTING, ROLLBACK = range(3)  # kinds of events


class Fleet:
    """The states of many runs between two events, as arrays of shape (runs,).

    A run is down from an event until `start`, restarts until `up`, and trains from then on until its next
    event or its `end`. `saved` intervals of work are on disk, `stored` checkpoints up to the newest.
    """

    def __init__(self, life: Life, runs: int) -> None:
        self.life = life
        self.cycle = life.interval_hours + life.stall
        self.parts = {part: np.zeros(runs) for part in PARTS}
        self.found = np.zeros(runs)
        self.start = np.full(runs, -math.inf)
        self.up = np.zeros(runs)
        self.saved = np.zeros(runs)
        self.stored = np.zeros(runs)
        self.restarts = np.zeros(runs, dtype=np.int64)
        self.saves = np.zeros(runs)
        self.most_stored = np.zeros(runs)
        self.spares = np.zeros((runs, life.spares or 0))
        self.end = self.up + self._hours_to_go(self.saved)

    def take(self, time: Array, kind: Kinds | None) -> Array:
        """Take every run over its next event, at `time`, of this `kind`; None: all are plain failures.

        Returns the work that each lost to it, nan where a run had ended, or was down already.
        """
        lost = np.full(len(time), math.nan)
        failure = True if kind is None else kind != ROLLBACK
        going = (time < self.end) & (time > self.start)
        training = np.flatnonzero(going & (time >= self.up))
        restarting = np.flatnonzero(going & (time < self.up) & failure)
        down = np.flatnonzero((time <= self.start) & failure)
        if len(training):
            lost[training] = self._strike_training(training, time[training], _of(kind, training))
        if len(restarting):
            lost[restarting] = self._strike_restart(restarting, time[restarting], _of(kind, restarting))
        if len(down):
            self._lose_another_host(down, time[down])
        return lost

    def finish(self) -> None:
        """Live to the end: nothing strikes any more."""
        life = self.life
        whole = life.intervals - 1 - self.saved
        wait = np.where(whole > 0, life.last_wait_hours, 0.0)
        self.parts[WORK][:] = life.work_hours
        self.parts[SAVES] += whole * life.stall + wait + life.save_hours
        self.parts[RESTARTS] += np.where(self.restarts > 0, life.restart_hours, 0.0)
        self._begin_saves(slice(None), whole + 1.0)

    def _strike_training(self, runs: Index, time: Array, kind: Kinds | None) -> Array:
        """Something strikes during work or a save. Returns the work lost."""
        life = self.life
        trained = time - self.up[runs]
        whole = life.intervals - 1 - self.saved[runs]  # cycles before the last interval
        cycles = np.minimum(np.floor(trained / self.cycle), whole)
        within = trained - cycles * self.cycle
        last = cycles == whole
        length = np.where(last, life.last_interval_hours, life.interval_hours)
        worked = np.minimum(within, length)
        wait = np.where(last & (whole > 0), life.last_wait_hours, 0.0)
        kept = cycles
        if life.stall < life.save_hours:  # the newest save may still be in flight
            kept = np.clip(np.floor((trained + life.stall - life.save_hours) / self.cycle), 0.0, whole)
        self.parts[SAVES][runs] += cycles * life.stall + within - worked
        self.parts[RESTARTS][runs] += np.where(self.restarts[runs] > 0, life.restart_hours, 0.0)
        self._begin_saves(runs, cycles + (within >= length + wait))
        memory = (self.saved[runs] + cycles) * life.interval_hours + worked
        self.saved[runs] += kept
        self.stored[runs] = np.minimum(self.stored[runs] + kept, life.keep_last or life.intervals)
        return self._go_down(runs, time, kind, memory)

    def _strike_restart(self, runs: Index, time: Array, kind: Kinds | None) -> Array:
        """Something strikes a restart, which begins anew. Returns the work lost."""
        self.parts[RESTARTS][runs] += time - self.start[runs]
        return self._go_down(runs, time, kind, self.saved[runs] * self.life.interval_hours)

    def _lose_another_host(self, runs: Index, time: Array) -> None:
        """A host fails in runs that are down: the same diagnosis finds it, and it needs a spare too."""
        if self.life.spares is None:
            return
        ready = self._next_spare(runs, np.maximum(time, self.found[runs]))
        self._restart_at(runs, np.maximum(self.start[runs], ready), since=self.start[runs])

    def _go_down(self, runs: Index, time: Array, kind: Kinds | None, memory: Array) -> Array:
        """Fall back, find out, get a spare. `memory`: the work that was held there. Returns what is lost."""
        life = self.life
        if kind is not None:
            self._fall_back(runs, np.array([0, 1, life.rollback_saves])[kind])
        lost = memory - self.saved[runs] * life.interval_hours
        failed = np.ones(len(runs), dtype=bool) if kind is None else kind != ROLLBACK
        self.parts[LOST][runs] += np.where(failed, lost, 0.0)
        self.parts[ROLLBACKS][runs] += np.where(failed, 0.0, lost + life.rollback_hours)
        self.parts[DETECTION][runs] += np.where(failed, life.detection_hours, 0.0)
        self.parts[DIAGNOSIS][runs] += np.where(failed, life.diagnosis_hours, 0.0)
        found = time + np.where(failed, life.detection_hours + life.diagnosis_hours, life.rollback_hours)
        self.found[runs] = found
        start = found.copy()
        if life.spares is not None:
            start[failed] = np.maximum(found[failed], self._next_spare(runs[failed], found[failed]))
        self.restarts[runs] += 1
        self._restart_at(runs, start, since=found)
        return lost

    def _restart_at(self, runs: Index, start: Array, since: Array) -> None:
        """Restart then, having waited for a spare since when."""
        self.parts[SPARES][runs] += start - since
        self.start[runs] = start
        self.up[runs] = start + self.life.restart_hours
        self.end[runs] = self.up[runs] + self._hours_to_go(self.saved[runs])

    def _fall_back(self, runs: Index, back: NDArray[np.int64]) -> None:
        """Go back so many checkpoints; to the beginning where no older one is left."""
        left = np.where(back > 0, self.stored[runs] > back, True)
        self.saved[runs] = np.where(left, self.saved[runs] - back, 0.0)
        self.stored[runs] = np.where(left, self.stored[runs] - back, 0.0)

    def _begin_saves(self, runs: Index | slice, begun: Array) -> None:
        """Count saves that began since training went on; all but the newest of them are complete."""
        before_newest = np.minimum(
            self.stored[runs] + begun - 1.0, self.life.keep_last or self.life.intervals
        )
        most = np.where(begun > 0, before_newest + 1.0, 0.0)
        self.saves[runs] += begun
        self.most_stored[runs] = np.maximum(self.most_stored[runs], most)

    def _next_spare(self, runs: Index, found: Array) -> Array:
        """When the next host is ready for each, once one that failed goes to repair at `found`."""
        repaired = found + self.life.repair_hours
        if not self.spares.shape[1]:
            return repaired
        first = self.spares[runs].argmin(axis=1)
        ready = self.spares[runs, first]
        self.spares[runs, first] = repaired  # later than all in the pool: repairs take equally long
        return cast("Array", ready)

    def _hours_to_go(self, saved: Array) -> Array:
        """From the end of a restart until the run ends, if nothing strikes."""
        life = self.life
        whole = life.intervals - 1 - saved
        wait = np.where(whole > 0, life.last_wait_hours, 0.0)
        return whole * self.cycle + life.last_interval_hours + wait + life.save_hours


def _of(kind: Kinds | None, runs: Index) -> Kinds | None:
    return None if kind is None else kind[runs]
