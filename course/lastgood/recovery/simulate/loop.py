"""One run, event by event: slow, and written to be read. `simulate` is checked against it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

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


@dataclass(frozen=True)
class Hit:
    """What ends whatever the run is doing: a failure, or people who go back on purpose."""

    time: float
    corrupts: bool = False
    rollback: bool = False


@dataclass
class OneLife:
    """What became of one run. Hours, but for the counts."""

    parts: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))
    restarts: int = 0
    lost_hours: list[float] = field(default_factory=list)  # at each restart, in order
    saves: int = 0  # begun
    most_stored: int = 0  # checkpoints on disk at once, one being written among them
    wall_hours: float = 0.0


def event_loop(
    life: Life,
    failure_times: Iterable[float],
    corrupted: Sequence[bool] | None = None,
    rollback_times: Iterable[float] = (),
) -> OneLife:
    """Live one life. Times are hours since the run began, ascending; those after its end do not matter.

    `corrupted`: for each failure, whether it finds the newest checkpoint corrupted.
    """
    times = [time for time in failure_times if time < math.inf]
    flags = [False] * len(times) if corrupted is None else corrupted
    hits = [Hit(time, corrupts=bool(flag)) for time, flag in zip(times, flags, strict=False)]
    hits += [Hit(time, rollback=True) for time in rollback_times if time < math.inf]
    run = _Run(life, hits)
    hit = run.train()
    while hit is not None:
        hit = run.restart(hit) or run.train()
    run.lived.wall_hours = run.now
    return run.lived


class _Run:
    """A run at one moment, `now`, with `saved` intervals of work on disk, and `stored` checkpoints."""

    def __init__(self, life: Life, hits: list[Hit]) -> None:
        self.life = life
        self.hits = deque(sorted(hits, key=lambda hit: hit.time))  # still to come
        self.lived = OneLife()
        self.now = 0.0
        self.saved = 0
        self.stored = 0
        self.spares = [0.0] * (life.spares or 0)  # when each is ready

    def train(self) -> Hit | None:
        """Work and save until the end, which is None, or until something strikes."""
        life = self.life
        done = self.saved
        memory = done * life.interval_hours  # hours of work that the processes hold
        on_disk = math.inf  # when the newest save is complete
        while True:
            last = done == life.intervals - 1
            hit, worked = self._spend(WORK, life.last_interval_hours if last else life.interval_hours)
            memory += worked
            if hit is None and last and on_disk < math.inf:
                hit, _ = self._spend(SAVES, max(0.0, on_disk - self.now))  # one save at a time
            if hit is not None:
                break
            if on_disk < math.inf:
                self._keep(done)  # complete by now: Life allows no longer saves
            done += 1
            on_disk = self._begin_save()
            hit, _ = self._spend(SAVES, life.save_hours if last else life.stall)
            if hit is not None:
                break
            if last:
                return None
        if on_disk <= self.now:
            self._keep(done)
        self._fall_back(hit, memory)
        return hit

    def restart(self, hit: Hit) -> Hit | None:
        """Find out, get a spare, restart. Returns what strikes the restart, if anything does."""
        life = self.life
        ready = 0.0
        if hit.rollback:
            self._pass(ROLLBACKS, life.rollback_hours)
        else:
            self._pass(DETECTION, life.detection_hours)
            self._pass(DIAGNOSIS, life.diagnosis_hours)
            ready = self._next_spare(self.now)
        found = self.now
        start = max(found, ready)
        while self.hits and self.hits[0].time <= start:
            another = self.hits.popleft()
            if not another.rollback:
                start = max(start, self._next_spare(max(found, another.time)))
        self._pass(SPARES, start - self.now)
        self.lived.restarts += 1
        while self.hits and self.hits[0].rollback and self.hits[0].time < start + life.restart_hours:
            self.hits.popleft()  # nothing is training that could diverge
        struck, _ = self._spend(RESTARTS, life.restart_hours)
        if struck is not None:
            self._fall_back(struck, memory=self.saved * life.interval_hours)
        return struck

    def _spend(self, part: str, hours: float) -> tuple[Hit | None, float]:
        """Let so many hours pass, or fewer where something strikes. Returns that, and the hours."""
        hit = None
        if self.hits and self.hits[0].time < self.now + hours:
            hit = self.hits.popleft()
            hours = hit.time - self.now
        self._pass(part, hours)
        return hit, hours

    def _pass(self, part: str, hours: float) -> None:
        self.now += hours
        self.lived.parts[part] += hours

    def _begin_save(self) -> float:
        """When the save that begins now will be complete."""
        self.lived.saves += 1
        self.lived.most_stored = max(self.lived.most_stored, self.stored + 1)
        return self.now + self.life.save_hours

    def _keep(self, done: int) -> None:
        self.saved = done
        self.stored = min(self.stored + 1, self.life.keep_last or self.life.intervals)

    def _fall_back(self, hit: Hit, memory: float) -> None:
        back = self.life.rollback_saves if hit.rollback else int(hit.corrupts)
        if 0 < back < self.stored:
            self.saved -= back
            self.stored -= back
        elif back:  # no checkpoint is left: from the beginning
            self.saved = self.stored = 0
        lost = memory - self.saved * self.life.interval_hours
        self.lived.parts[WORK] -= lost
        self.lived.parts[ROLLBACKS if hit.rollback else LOST] += lost
        self.lived.lost_hours.append(lost)

    def _next_spare(self, found: float) -> float:
        """When the next host is ready, once one that failed goes to repair at `found`."""
        if self.life.spares is None:
            return found
        self.spares.append(found + self.life.repair_hours)
        self.spares.sort()
        return self.spares.pop(0)
