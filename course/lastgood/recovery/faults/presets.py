"""Published runs and clusters, as rates of failure, with their sources."""

from __future__ import annotations

from dataclasses import dataclass

from lastgood.recovery.faults.kinds import HOURS_A_DAY, FaultError, positive
from lastgood.recovery.faults.processes import Correlated, Exponential


@dataclass(frozen=True)
class Preset:
    """How often a published run was restarted."""

    name: str
    hosts: int
    days: float
    restarts: int  # in `days`
    source: str

    def __post_init__(self) -> None:
        positive(hosts=self.hosts, days=self.days, restarts=self.restarts)

    @property
    def mtbf_hours(self) -> float:
        """Mean time between restarts of the whole run, hours."""
        return self.days * HOURS_A_DAY / self.restarts

    @property
    def per_1000_host_days(self) -> float:
        """Restarts per 1,000 days of one host."""
        return 1000.0 * self.restarts / (self.hosts * self.days)

    def restarts_in(self, days: float) -> float:
        """Restarts to expect in so many days. Raises FaultError where they are not positive."""
        positive(days=days)
        return days * HOURS_A_DAY / self.mtbf_hours

    def process(self) -> Exponential:
        """Independent failures at this rate."""
        return Exponential(self.hosts, self.per_1000_host_days)


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
clusters; independent ones do not.
"""

OPT_175B_OUTAGE = Correlated(hosts=124, mtbf_hours=56 * HOURS_A_DAY, size=5)
"""Five hosts at once, as OPT-175B's chronicles report of 6 December 2021, when there were four spares. That
it comes once in the lineage's 56 days is all that one outage can tell of a rate.
"""

LLAMA_3_405B = Preset(
    name="llama-3-405b",
    hosts=2_048,
    days=54,
    restarts=419,
    source='Llama Team 2024, "The Llama 3 Herd of Models", section 3.3.4 and Table 5',
)
"""Llama 3 405B: up to 16,384 GPUs, here eight a host. Of 466 interruptions in 54 days 419 were unexpected:
one in 3.09 h. The planned ones are left out.
"""

BLOOM_176B = Preset(
    name="bloom-176b",
    hosts=48,
    days=7,
    restarts=1,
    source="BLOOM's training chronicles, BigScience 2022",
)
"""BLOOM: 384 GPUs, here eight a host, and "about" one GPU failure a week. A round figure, not a count."""


_KOKOLIS = 'Kokolis et al. 2024, "Revisiting Reliability in Large-Scale Machine Learning Research Clusters"'


def _at_rate(name: str, per_1000_host_days: float) -> Preset:
    """A cluster's rate, for a job of 2,000 hosts and 50 days: sizes that are ours, and make whole numbers."""
    hosts, days = 2_000, 50.0
    return Preset(
        name,
        hosts,
        days,
        restarts=round(per_1000_host_days * hosts * days / 1000.0),
        source=_KOKOLIS,
    )


KOKOLIS_RSC_1 = _at_rate("kokolis-rsc-1", 6.50)
"""6.50 failures per 1,000 node-days, a node being a host of eight GPUs. For 16,384 GPUs the paper projects
one failure in 1.8 h, which follows from it. Do not go down to small jobs with it: at 1,024 GPUs the rate
gives 28.8 h, and 7.9 h were measured.
"""

KOKOLIS_RSC_2 = _at_rate("kokolis-rsc-2", 2.34)
"""2.34 failures per 1,000 node-days, on the second cluster of the same paper."""

PRESETS = {
    preset.name: preset for preset in (OPT_175B, LLAMA_3_405B, BLOOM_176B, KOKOLIS_RSC_1, KOKOLIS_RSC_2)
}


def preset_named(name: str) -> Preset:
    """The preset of this name. Raises FaultError listing those there are."""
    if name not in PRESETS:
        raise FaultError(f"there is no preset {name!r}; there is: {', '.join(PRESETS)}")
    return PRESETS[name]
