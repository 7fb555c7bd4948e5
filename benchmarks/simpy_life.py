"""The life that `lastgood.recovery.simulate` lives, modelled with SimPy: processes, time-outs and interrupts.

It knows what `event_loop` knows but for rollbacks and what is kept on disk. It serves twice: as the other
side of the benchmark, and in `tests/recovery/test_simulate_simpy.py`, where our loop must agree with it.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

import simpy

from lastgood.recovery.simulate import Life

Steps = Generator[simpy.Event, object, None]


@dataclass
class SimpyLife:
    """One run in SimPy."""

    life: Life
    failures: Sequence[float]  # ascending
    restarts: int = 0
    lost_hours: list[float] = field(default_factory=list)
    wall_hours: float = 0.0

    def lived(self) -> SimpyLife:
        """Live it."""
        self.env = simpy.Environment()
        self.pool = simpy.Container(self.env, init=self.life.spares or 0)
        self.saved = 0  # intervals on disk
        self.memory = 0.0  # hours of work that the processes hold
        self.exposed = False
        self.found = 0.0
        self.to_replace = 0
        self.save: simpy.Process | None = None
        self.job = self.env.process(self._job())
        self.env.process(self._failures())
        self.env.run(until=self.job)
        self.wall_hours = self.env.now
        return self

    def _failures(self) -> Steps:
        for time in self.failures:
            yield self.env.timeout(time - self.env.now)
            if not self.job.is_alive:
                return
            self.to_replace += 1
            if self.exposed:
                self.exposed = False
                self.job.interrupt()
            else:
                self.env.process(self._repair(max(self.found, self.env.now)))

    def _job(self) -> Steps:
        restarted = False
        while True:
            try:
                self.exposed = True
                if restarted:
                    yield self.env.timeout(self.life.restart_hours)
                yield from self._train()
                return
            except simpy.Interrupt:
                restarted = True
                yield from self._go_down()

    def _train(self) -> Steps:
        life = self.life
        for number in range(self.saved, life.intervals):
            last = number == life.intervals - 1
            begun, before = self.env.now, self.memory
            try:
                yield self.env.timeout(life.last_interval_hours if last else life.interval_hours)
            finally:
                self.memory = before + self.env.now - begun
            if last and self.save is not None and self.save.is_alive:
                yield self.save
            self.save = self.env.process(self._write(number + 1))
            if last or life.stall == life.save_hours:
                yield self.save
            else:
                yield self.env.timeout(life.stall)

    def _write(self, done: int) -> Steps:
        try:
            yield self.env.timeout(self.life.save_hours)
            self.saved = done
        except simpy.Interrupt:
            pass  # torn: it does not count

    def _go_down(self) -> Steps:
        if self.save is not None and self.save.is_alive:
            self.save.interrupt()
        self.save = None
        self.restarts += 1
        self.lost_hours.append(self.memory - self.saved * self.life.interval_hours)
        self.memory = self.saved * self.life.interval_hours
        downtime = self.life.detection_hours + self.life.diagnosis_hours
        self.found = self.env.now + downtime
        self.env.process(self._repair(self.found))
        yield self.env.timeout(downtime)
        while self.to_replace:
            if self.life.spares is not None:
                yield self.pool.get(1)
            self.to_replace -= 1

    def _repair(self, found: float) -> Steps:
        if self.life.spares is not None:
            yield self.env.timeout(found + self.life.repair_hours - self.env.now)
            yield self.pool.put(1)
