"""Schedules at a preset's rate, to hit real processes with."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from lastgood.recovery.faults.kinds import (
    CORRUPTED,
    HOURS_A_DAY,
    HUNG,
    KILLED,
    KINDS,
    STORAGE_FULL,
    TOLD_TO_LEAVE,
    Fault,
    FaultError,
)
from lastgood.recovery.faults.presets import Preset

MIX: Mapping[str, float] = {KILLED: 0.8, HUNG: 0.06, TOLD_TO_LEAVE: 0.06, CORRUPTED: 0.04, STORAGE_FULL: 0.04}
"""Shares of the kinds in `mixed_schedule`. Assumed: no run has published them. Most are kills."""

NOTICE_HOURS = 0.5  # assumed, as is the next
FULL_HOURS = 2.0


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


def mixed_schedule(
    preset: Preset,
    *,
    seed: int,
    failures: int | None = None,
    days: float | None = None,
    mix: Mapping[str, float] = MIX,
    notice_hours: float = NOTICE_HOURS,
    full_hours: float = FULL_HOURS,
) -> list[Fault]:
    """The times and hosts of `schedule_of` or of `exponential_schedule`, with kinds by `mix`.

    Give the number of `failures`, or the `days`.

    The kinds are dealt out by their shares and shuffled, at least one of each that has a share where there
    are failures enough. `notice_hours` go to those told to leave, `full_hours` to a full storage.

    Raises FaultError unless exactly one of `failures` and `days` is given, and for shares that are none.
    """
    if (failures is None) == (days is None):
        raise FaultError("give either failures or days, not both")
    if failures is not None:
        plain = schedule_of(preset, failures, seed)
    else:
        plain = exponential_schedule(preset, days or 0.0, seed)
    lasts = {TOLD_TO_LEAVE: notice_hours, STORAGE_FULL: full_hours}
    kinds = _dealt(mix, len(plain))
    random.Random(f"kinds of {seed}").shuffle(kinds)
    return [
        replace(fault, kind=kind, lasts_hours=lasts.get(kind, 0.0))
        for fault, kind in zip(plain, kinds, strict=True)
    ]


def _dealt(mix: Mapping[str, float], count: int) -> list[str]:
    """`count` kinds by largest remainders, each kind once at least where `count` allows."""
    unknown = [kind for kind in mix if kind not in KINDS]
    if unknown:
        raise FaultError(f"there is no kind {unknown[0]!r}; there are: {', '.join(KINDS)}")
    if any(not 0.0 <= share < float("inf") for share in mix.values()) or not sum(mix.values()) > 0.0:
        raise FaultError(
            f"the shares {dict(mix)} are none: give numbers, 0 or more, of which one is positive"
        )
    shares = {kind: share / sum(mix.values()) for kind, share in mix.items() if share > 0.0}
    least = 1 if count >= len(shares) else 0
    counts = {kind: max(least, int(share * count)) for kind, share in shares.items()}
    by_lack = sorted(shares, key=lambda kind: counts[kind] - shares[kind] * count)
    while sum(counts.values()) < count:
        counts[by_lack[0]] += 1
        by_lack.append(by_lack.pop(0))
    while sum(counts.values()) > count:
        counts[max(counts, key=lambda kind: counts[kind])] -= 1
    return [kind for kind, number in counts.items() for _ in range(number)]
