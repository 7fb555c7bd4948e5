"""How near is near enough: what an interval costs beside the best one, and what that earns.

The price of an interval is what saves, lost work and their repetition add to the work, restarts left out:
T(interval) / (work · e^(R/M)) - 1. Credit goes by the price and not by the run's whole time: where failures
are rare, the whole time hardly knows the interval.
"""

from __future__ import annotations

from lastgood.recovery import interval as library

FULL, HALF = 0.10, 0.50  # more than the least price, as a fraction


def price(interval: float, save_cost: float, mtbf: float) -> float:
    """What an interval adds to each hour of work, restarts aside."""
    return float(library.expected_time(interval, interval, save_cost, mtbf) / interval) - 1.0


def extra(interval: float, least_at: float, save_cost: float, mtbf: float) -> float:
    """By how much an interval's price is above that of the interval `least_at`, as a fraction of it."""
    return price(interval, save_cost, mtbf) / price(least_at, save_cost, mtbf) - 1.0


def share(above: float) -> float:
    """The share of the points: all up to FULL above the least price, half up to HALF."""
    return 1.0 if above <= FULL else 0.5 if above <= HALF else 0.0
