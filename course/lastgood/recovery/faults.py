"""When failures come: presets at published rates, and schedules drawn from them.

A schedule is data: `Fault`s in the order of their times. Whoever runs something under it (real processes, in
`supervise`) lets each happen once. Times are hours of the run that the preset describes, whatever a step here
stands for.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

KILLED = "killed"  # the process is gone from one instruction to the next, as when its node dies
HOURS_A_DAY = 24.0


class FaultError(ValueError):
    """A preset that does not exist, or a schedule that cannot be drawn."""


@dataclass(frozen=True)
class Fault:
    """One failure: when, where, and of which kind."""

    time_hours: float  # since the run began
    host: int  # from 0
    kind: str = KILLED


@dataclass(frozen=True)
class Preset:
    """How often a published run was restarted."""

    name: str
    hosts: int
    days: float
    restarts: int
    source: str

    @property
    def mtbf_hours(self) -> float:
        """Mean time between restarts of the whole run, hours."""
        return self.days * HOURS_A_DAY / self.restarts

    @property
    def per_1000_host_days(self) -> float:
        """Restarts per 1,000 days of one host."""
        return 1000.0 * self.restarts / (self.hosts * self.days)


OPT_175B = Preset(
    name="opt-175b",
    hosts=124,
    days=60,
    restarts=35 + 70,
    source='Zhang et al. 2022, "OPT: Open Pre-trained Transformer Language Models"',
)
"""OPT-175B: 992 GPUs, eight a host, for about two months, here 60 days. At least 35 manual restarts are
reported, and more than 70 automatic ones *estimated*, from the difference between hosts cycled and manual
restarts. 105 in 60 days is one in 13.7 h.

Restarts are not host deaths: one can answer several bad hosts, or none. And a real run's failures come in
clusters; the independent ones drawn below do not.
"""

PRESETS = {preset.name: preset for preset in (OPT_175B,)}


def preset_named(name: str) -> Preset:
    """The preset of this name. Raises FaultError listing those there are."""
    if name not in PRESETS:
        raise FaultError(f"there is no preset {name!r}; there is: {', '.join(sorted(PRESETS))}")
    return PRESETS[name]


def exponential_schedule(preset: Preset, days: float, seed: int) -> list[Fault]:
    """The failures of `days` days at the preset's rate: independent, so that the gaps are exponential.

    The same seed gives the same schedule, and a longer one begins with the shorter. Draws from a generator of
    its own. How many there are varies: see `schedule_of` for a given number.

    Raises FaultError where `days` is not positive and finite.
    """
    if not 0.0 < days < float("inf"):
        raise FaultError(f"a schedule of {days} days has no failures: give a positive number of days")
    draw = random.Random(seed)
    faults = []
    time = draw.expovariate(1.0 / preset.mtbf_hours)
    while time < days * HOURS_A_DAY:
        faults.append(Fault(time, draw.randrange(preset.hosts)))
        time += draw.expovariate(1.0 / preset.mtbf_hours)
    return faults


def schedule_of(preset: Preset, failures: int, seed: int) -> list[Fault]:
    """Exactly `failures` failures, within the time that so many take on average at the preset's rate.

    This is the process of `exponential_schedule` given its count: the times are then independent and uniform.

    Raises FaultError where `failures` is below 1.
    """
    if failures < 1:
        raise FaultError(f"a schedule of {failures} failures is none: give 1 or more")
    draw = random.Random(seed)
    times = sorted(draw.uniform(0.0, failures * preset.mtbf_hours) for _ in range(failures))
    return [Fault(time, draw.randrange(preset.hosts)) for time in times]
