"""Three ways to say how often a job fails, and the sums between them.

Failures per 1,000 days of one host, as clusters report them; the mean time between failures of the whole job,
as a plan needs it; failures in a run of so many days, as papers count them.
"""

from __future__ import annotations

from lastgood.recovery.faults.kinds import HOURS_A_DAY, positive


def mtbf_hours(hosts: float, per_1000_host_days: float) -> float:
    """Mean time between failures of a job on so many hosts, hours. Both must be positive."""
    positive(hosts=hosts, per_1000_host_days=per_1000_host_days)
    return 1000.0 * HOURS_A_DAY / (hosts * per_1000_host_days)


def per_1000_host_days(hosts: float, mtbf_hours: float) -> float:
    """Failures in 1,000 days of one host, where a job of so many fails once in `mtbf_hours` on average."""
    positive(hosts=hosts, mtbf_hours=mtbf_hours)
    return 1000.0 * HOURS_A_DAY / (hosts * mtbf_hours)


def restarts(days: float, mtbf_hours: float) -> float:
    """Failures to expect in a run of so many days, each answered by a restart."""
    positive(days=days, mtbf_hours=mtbf_hours)
    return days * HOURS_A_DAY / mtbf_hours
