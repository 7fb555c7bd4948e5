"""When failures come, as random processes.

Each process is a few numbers. `schedule` draws one run's faults, for real processes to be hit with. `times`
draws the hours of thousands of runs at once, for `simulate`. Both draw from a generator of their own. The
same seed gives the same, and a longer draw begins with the shorter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lastgood.recovery.faults import rates
from lastgood.recovery.faults.kinds import HOURS_A_DAY, TOLD_TO_LEAVE, Fault, FaultError, positive

Array: TypeAlias = NDArray[np.float64]

_BLOCK = 64  # failures drawn at once; a constant, or a longer draw would not begin with the shorter
_AT_ONCE = 4_000_000  # numbers drawn at once where every host has its own


class Process(Protocol):
    """What `simulate` and schedules ask of a process."""

    def schedule(self, hours: float, seed: int) -> list[Fault]:
        """The faults of one run in its first `hours`, in the order of their times."""
        ...

    def times(self, hours: float, runs: int, generator: np.random.Generator) -> Array:
        """The hours of all failures, (runs, k): ascending along each row, which `inf` fills up."""
        ...


@dataclass(frozen=True)
class Exponential:
    """Failures at a constant rate, whatever happened before: the gaps between them are exponential."""

    hosts: int
    per_1000_host_days: float

    def __post_init__(self) -> None:
        positive(hosts=self.hosts, per_1000_host_days=self.per_1000_host_days)

    @classmethod
    def with_mtbf(cls, mtbf_hours: float, hosts: int = 1) -> Exponential:
        """The process of a *job* that fails once in `mtbf_hours` on average."""
        return cls(hosts, rates.per_1000_host_days(hosts, mtbf_hours))

    @property
    def mtbf_hours(self) -> float:
        """Mean time between failures of the job, hours."""
        return rates.mtbf_hours(self.hosts, self.per_1000_host_days)

    def schedule(self, hours: float, seed: int) -> list[Fault]:
        when, where = np.random.default_rng(seed).spawn(2)
        times = self.times(hours, 1, when)[0]
        return [Fault(float(time), int(where.integers(self.hosts))) for time in times]

    def times(self, hours: float, runs: int, generator: np.random.Generator) -> Array:
        return _poisson(self.mtbf_hours, hours, runs, generator)


@dataclass(frozen=True)
class Weibull:
    """Every host fails by itself, with Weibull gaps, and is as good as new after each failure.

    With a `shape` below 1 a new host is the likelier to fail: hosts die young, and one that failed soon
    does so again (repeat offenders). 1 is Exponential; above 1 hosts wear out. All hosts are new when the run
    begins, so that a young cluster fails more often than its long-term rate, `per_1000_host_days`.
    """

    hosts: int
    per_1000_host_days: float
    shape: float = 0.7

    def __post_init__(self) -> None:
        positive(hosts=self.hosts, per_1000_host_days=self.per_1000_host_days, shape=self.shape)

    @property
    def mtbf_hours(self) -> float:
        """Mean time between failures of the job in the long run, hours."""
        return rates.mtbf_hours(self.hosts, self.per_1000_host_days)

    def schedule(self, hours: float, seed: int) -> list[Fault]:
        _checked(hours)
        _, hosts, times = self._strikes(hours, 1, np.random.default_rng(seed).spawn(1)[0])
        order = np.lexsort((hosts, times))
        return [Fault(float(times[i]), int(hosts[i])) for i in order]

    def times(self, hours: float, runs: int, generator: np.random.Generator) -> Array:
        _checked(hours)
        chunks = math.ceil(runs * self.hosts / _AT_ONCE)
        parts = []
        for rows, child in zip(np.array_split(np.arange(runs), chunks), generator.spawn(chunks), strict=True):
            run, _, times = self._strikes(hours, len(rows), child)
            parts.append(_rows(run, times, len(rows)))
        width = max(part.shape[1] for part in parts)
        return np.concatenate([_padded(part, width) for part in parts])

    def _strikes(
        self, hours: float, runs: int, generator: np.random.Generator
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
        """Run, host and time of every failure, in no order."""
        scale = self.hosts * self.mtbf_hours / math.gamma(1.0 + 1.0 / self.shape)
        clock = np.zeros((runs, self.hosts))
        found = []
        while True:
            # For all hosts, failed or not: each keeps its own numbers, however long the draw.
            clock += scale * generator.weibull(self.shape, clock.shape)
            within = clock < hours
            if not within.any():
                break
            run, host = np.nonzero(within)
            found.append((run, host, clock[run, host]))
        if not found:
            return np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0)
        run, host, times = (np.concatenate(column) for column in zip(*found, strict=True))
        return run, host, times


@dataclass(frozen=True)
class Correlated:
    """Outages that take `size` neighbouring hosts at once, as when a rack or a switch dies.

    `mtbf_hours` is the mean time between outages, which come at a constant rate.
    """

    hosts: int
    mtbf_hours: float
    size: int

    def __post_init__(self) -> None:
        positive(hosts=self.hosts, mtbf_hours=self.mtbf_hours, size=self.size)
        if self.size > self.hosts:
            raise FaultError(f"an outage of {self.size} hosts is more than there are, {self.hosts}")

    def schedule(self, hours: float, seed: int) -> list[Fault]:
        when, where = np.random.default_rng(seed).spawn(2)
        faults = []
        for time in _poisson(self.mtbf_hours, hours, 1, when)[0]:
            first = int(where.integers(self.hosts - self.size + 1))
            faults += [Fault(float(time), first + host) for host in range(self.size)]
        return faults

    def times(self, hours: float, runs: int, generator: np.random.Generator) -> Array:
        return np.repeat(_poisson(self.mtbf_hours, hours, runs, generator), self.size, axis=1)


@dataclass(frozen=True)
class Preemption:
    """Hosts that are taken back at a constant rate, with notice: the job has that long to save and leave."""

    hosts: int
    mtbf_hours: float
    notice_hours: float

    def __post_init__(self) -> None:
        positive(hosts=self.hosts, mtbf_hours=self.mtbf_hours, notice_hours=self.notice_hours)

    def schedule(self, hours: float, seed: int) -> list[Fault]:
        when, where = np.random.default_rng(seed).spawn(2)
        times = _poisson(self.mtbf_hours, hours, 1, when)[0]
        return [
            Fault(float(time), int(where.integers(self.hosts)), TOLD_TO_LEAVE, self.notice_hours)
            for time in times
        ]

    def times(self, hours: float, runs: int, generator: np.random.Generator) -> Array:
        return _poisson(self.mtbf_hours, hours, runs, generator)


@dataclass(frozen=True)
class Mixed:
    """Several processes side by side, each going its own way."""

    parts: tuple[Process, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise FaultError("a mixture of no processes never fails: give at least one")

    def schedule(self, hours: float, seed: int) -> list[Fault]:
        seeds = np.random.SeedSequence(seed).generate_state(len(self.parts))
        drawn = [part.schedule(hours, int(own)) for part, own in zip(self.parts, seeds, strict=True)]
        return sorted((fault for faults in drawn for fault in faults), key=_by_time)

    def times(self, hours: float, runs: int, generator: np.random.Generator) -> Array:
        children = generator.spawn(len(self.parts))
        drawn = [part.times(hours, runs, child) for part, child in zip(self.parts, children, strict=True)]
        together = np.sort(np.concatenate(drawn, axis=1), axis=1)
        return _trimmed(together)


def _by_time(fault: Fault) -> tuple[float, int]:
    return fault.time_hours, fault.host


def _checked(hours: float) -> None:
    if not 0.0 < hours < math.inf:
        raise FaultError(
            f"a schedule of {hours / HOURS_A_DAY:g} days has no failures: give a positive number of days"
        )


def _poisson(mtbf_hours: float, hours: float, runs: int, generator: np.random.Generator) -> Array:
    """Times at a constant rate, (runs, k). Stored by columns: a simulation goes through them one by one."""
    _checked(hours)
    blocks = []
    last = np.zeros(runs)
    while last.min(initial=math.inf) < hours:
        block = last + np.cumsum(generator.exponential(mtbf_hours, (_BLOCK, runs)), axis=0)
        last = block[-1]
        blocks.append(block)
    times = np.concatenate(blocks).T if blocks else np.empty((runs, 0))
    times[times >= hours] = math.inf
    return _trimmed(times)


def _trimmed(times: Array) -> Array:
    """Without the columns that hold only `inf`."""
    return times[:, : int(np.isfinite(times).sum(axis=1).max(initial=0))]


def _rows(run: NDArray[np.intp], times: Array, runs: int) -> Array:
    """Times with the run of each, as a row a run."""
    order = np.lexsort((times, run))
    counts = np.bincount(run, minlength=runs)
    rows = np.full((runs, int(counts.max(initial=0))), math.inf)
    starts = np.cumsum(counts) - counts
    rows[run[order], np.arange(len(run)) - np.repeat(starts, counts)] = times[order]
    return rows


def _padded(times: Array, width: int) -> Array:
    return np.pad(times, ((0, 0), (0, width - times.shape[1])), constant_values=math.inf)
