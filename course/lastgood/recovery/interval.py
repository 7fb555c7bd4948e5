"""How often to save: Young's and Daly's rules, the exact optimum, and what any other interval costs.

Four numbers decide. `save_cost`, the time one save takes from training. `mtbf`, the mean time between
failures of the *job*, not of a host. `restart_cost`, from a failure until training goes on. `interval`, the
*work* between two saves. All are times in one unit, hours by convention. Each may be a float or an array;
they broadcast, and the result is a `numpy.float64` or an array.

Failures are taken to come at a constant rate, whatever happened before (exponential gaps), to strike during
saves and restarts as well as during work, and to cost the work since the last save. `simulate` lets go of
that.

Sources. Young 1974, "A first order approximation to the optimum checkpoint interval". Daly 2006, "A higher
order estimate of the optimum checkpoint interval for restart dumps".
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import lambertw

from lastgood.recovery.faults.rates import mtbf_hours

Array: TypeAlias = NDArray[np.float64]
Times: TypeAlias = float | Array

# Below this ratio of save cost to MTBF, -exp(-1 - ratio) is so near W's branch point that digits are lost.
_SERIES_BELOW = 1e-4


class IntervalError(ValueError):
    """A number from which no interval follows: zero, negative, not a number, or longer than the run."""


def job_mtbf(hosts: float, per_1000_host_days: float) -> float:
    """Mean time between failures of a job, hours, from the rate of one host: each host more shortens it.

    `per_1000_host_days`: failures in 1,000 days of one host. Raises IntervalError where one is not positive.
    """
    count, rate = _positive(hosts=hosts, per_1000_host_days=per_1000_host_days)
    return mtbf_hours(float(count), float(rate))


def young(save_cost: Times, mtbf: Times) -> Times:
    """Young's interval of work between saves: √(2·save_cost·mtbf), where the first-order `waste` is least."""
    save_cost, mtbf = _positive(save_cost=save_cost, mtbf=mtbf)
    return _times(np.sqrt(2.0 * save_cost * mtbf))


def daly(save_cost: Times, mtbf: Times) -> Times:
    """Daly's interval of work between saves: √(2δM)·[1 + ⅓·√(δ/2M) + ⅑·(δ/2M)] - δ, and M from δ = 2M on."""
    save_cost, mtbf = _positive(save_cost=save_cost, mtbf=mtbf)
    return _times(np.where(save_cost < 2.0 * mtbf, _dalys_sum(save_cost, mtbf) - save_cost, mtbf))


def optimum(save_cost: Times, mtbf: Times) -> Times:
    """The interval of work between saves at which `expected_time` is least; the restart cost does not matter.

    It solves (1 - τ/M)·e^(τ/M) = e^(-δ/M): τ = M·(1 + W₀(-e^(-1-δ/M))) with Lambert's W. Right to eleven
    digits or more at any ratio of save cost to MTBF.
    """
    save_cost, mtbf = _positive(save_cost=save_cost, mtbf=mtbf)
    ratio = save_cost / mtbf
    exact = 1.0 + lambertw(-np.exp(-1.0 - ratio)).real
    return _times(mtbf * np.where(ratio < _SERIES_BELOW, _near_zero(ratio), exact))


def young_plus_save(save_cost: Times, mtbf: Times) -> Times:
    """A mistake that goes about: Young's interval plus the save.

    √(2δM) is work already. Adding δ turns it into the time from one save's end to the next one's; who works
    that long saves too seldom. Here to be compared with, never to be used.
    """
    return _times(young(save_cost, mtbf) + save_cost)


def daly_plus_save(save_cost: Times, mtbf: Times) -> Times:
    """A mistake that goes about: Daly's rule with + δ in place of - δ.

    It is worse than Young's plain rule. Here to be compared with, never to be used.
    """
    save_cost, mtbf = _positive(save_cost=save_cost, mtbf=mtbf)
    return _times(np.where(save_cost < 2.0 * mtbf, _dalys_sum(save_cost, mtbf) + save_cost, mtbf))


def waste(interval: Times, save_cost: Times, mtbf: Times, restart_cost: Times = 0.0) -> Times:
    """The fraction of the time that is not work, to first order: δ/τ + τ/(2M) + R/M.

    Saves, lost work (half an interval a failure) and restarts. A sum of small parts: it means little near 1.
    """
    interval, mtbf = _positive(interval=interval, mtbf=mtbf)
    save_cost, restart_cost = _not_negative(save_cost=save_cost, restart_cost=restart_cost)
    return _times(save_cost / interval + interval / (2.0 * mtbf) + restart_cost / mtbf)


def expected_time(
    work: Times,
    interval: Times,
    save_cost: Times,
    mtbf: Times,
    restart_cost: Times = 0.0,
    delay: Times = 0.0,
) -> Times:
    """The mean wall-clock time of `work`: (M + D)·e^(R/M)·(e^((τ+δ)/M) - 1)·work/τ. Infinite if it overflows.

    Every interval ends in a save, the last one too; a run of no whole number of intervals is taken in
    proportion. A failure may strike the restart, R, which then begins anew. `delay`, D, is the time before
    a restart, such as detection and diagnosis, in which nothing runs that a failure could strike. With D =
    0 this is the formula as it is usually printed.

    Raises IntervalError where a number is no time, or an interval is longer than the work.
    """
    work, interval, mtbf = _positive(work=work, interval=interval, mtbf=mtbf)
    save_cost, restart_cost, delay = _not_negative(
        save_cost=save_cost, restart_cost=restart_cost, delay=delay
    )
    if np.any(interval > work):
        raise IntervalError(
            f"an interval of {_first(interval, interval > work):g} is longer than the run, "
            f"{_first(work, interval > work):g}: give at most the run, which then saves once, at its end"
        )
    with np.errstate(over="ignore"):
        segment = np.expm1((interval + save_cost) / mtbf)
        return _times((mtbf + delay) * np.exp(restart_cost / mtbf) * segment * (work / interval))


def ettr(
    interval: Times, save_cost: Times, mtbf: Times, restart_cost: Times = 0.0, delay: Times = 0.0
) -> Times:
    """Effective training time ratio: work over `expected_time`. Lost work does not count."""
    interval = _positive(interval=interval)[0]
    return _times(interval / expected_time(interval, interval, save_cost, mtbf, restart_cost, delay))


def excess(interval: Times, save_cost: Times, mtbf: Times) -> Times:
    """How much longer than at the optimum the run takes, as a fraction: 0.01 is one per cent. Never negative.

    Restarts lengthen every interval's time alike, so that their cost does not matter here.
    """
    interval = _positive(interval=interval)[0]
    log_ratio = _log_cost(interval, save_cost, mtbf) - _log_cost(optimum(save_cost, mtbf), save_cost, mtbf)
    with np.errstate(over="ignore"):
        return _times(np.maximum(np.expm1(log_ratio), 0.0))


def flat_range(save_cost: float, mtbf: float, tolerance: float = 0.01) -> tuple[float, float]:
    """The shortest and the longest interval whose `excess` is at most `tolerance`. Floats only.

    Raises IntervalError where a number is not positive.
    """
    from scipy.optimize import brentq  # takes as long to import as all the rest

    tolerance = float(_positive(tolerance=tolerance)[0])
    best = float(optimum(save_cost, mtbf))
    level = float(_log_cost(best, save_cost, mtbf)) + float(np.log1p(tolerance))

    def above(log_interval: float) -> float:
        return float(_log_cost(float(np.exp(log_interval)), save_cost, mtbf)) - level

    low = high = float(np.log(best))
    while above(low) < 0.0:
        low -= 1.0
    while above(high) < 0.0:
        high += 1.0
    middle = float(np.log(best))
    return float(np.exp(brentq(above, low, middle))), float(np.exp(brentq(above, middle, high)))


def lost_bound(
    interval: Times, save_cost: Times, mtbf: Times, probability: Times, failures: Times = 1.0
) -> Times:
    """The work that, with this probability, a failure loses at most. Never more than the interval.

    A failure during a save loses the whole interval before it. With `failures` above 1 the bound holds for
    all of so many failures at once. Raises IntervalError where the probability is not strictly between 0
    and 1.
    """
    interval, mtbf, failures = _positive(interval=interval, mtbf=mtbf, failures=failures)
    save_cost = _not_negative(save_cost=save_cost)[0]
    each = _probability(probability) ** (1.0 / failures)
    # Where in an interval and its save a failure strikes, given that it strikes there.
    struck = -mtbf * np.log1p(each * np.expm1(-(interval + save_cost) / mtbf))
    return _times(np.minimum(struck, interval))


def longest_within(
    bound: Times, save_cost: Times, mtbf: Times, probability: Times, failures: Times = 1.0
) -> Times:
    """The longest interval whose `lost_bound` is at most `bound`; infinite where every interval's is.

    At or below the `optimum`, it is also the cheapest that keeps within the bound; above, the optimum is.
    """
    bound, mtbf, failures = _positive(bound=bound, mtbf=mtbf, failures=failures)
    save_cost = _not_negative(save_cost=save_cost)[0]
    each = _probability(probability) ** (1.0 / failures)
    share = -np.expm1(-bound / mtbf) / each
    with np.errstate(divide="ignore"):
        longest = -mtbf * np.log1p(-np.minimum(share, 1.0)) - save_cost
    return _times(np.maximum(longest, bound))


def _dalys_sum(save_cost: Array, mtbf: Array) -> Array:
    half = save_cost / (2.0 * mtbf)
    return cast("Array", np.sqrt(2.0 * save_cost * mtbf) * (1.0 + np.sqrt(half) / 3.0 + half / 9.0))


def _near_zero(ratio: Array) -> Array:
    """τ/M for a small δ/M: the solution of -x - log(1 - x) = ratio as a series in √(2·ratio)."""
    root = np.sqrt(2.0 * ratio)
    return cast("Array", root * (1.0 - root / 3.0 + root**2 / 36.0 + root**3 / 270.0 + root**4 / 4320.0))


def _log_cost(interval: Times, save_cost: Times, mtbf: Times) -> Array:
    """The log of `expected_time`, but for a constant: it does not overflow."""
    interval, save_cost, mtbf = _positive(interval=interval, save_cost=save_cost, mtbf=mtbf)
    span = (interval + save_cost) / mtbf
    return span + np.log(-np.expm1(-span)) - np.log(interval / mtbf)


def _times(value: Any) -> Times:
    """A scalar for scalars, an array for arrays."""
    return cast("Times", np.asarray(value, dtype=np.float64)[()])


def _positive(**times: Times) -> list[Array]:
    return [_checked(name, value, np.greater, "a positive, finite number") for name, value in times.items()]


def _not_negative(**times: Times) -> list[Array]:
    return [
        _checked(name, value, np.greater_equal, "a finite number, 0 or more") for name, value in times.items()
    ]


def _checked(name: str, value: Times, compare: np.ufunc, wanted: str) -> Array:
    array = np.asarray(value, dtype=np.float64)
    bad = ~(np.isfinite(array) & compare(array, 0.0))
    if np.any(bad):
        raise IntervalError(f"{name} is {_first(array, bad):g}: give {wanted}")
    return array


def _probability(value: Times) -> Array:
    array = np.asarray(value, dtype=np.float64)
    bad = ~((array > 0.0) & (array < 1.0))
    if np.any(bad):
        raise IntervalError(f"probability is {_first(array, bad):g}: give one strictly between 0 and 1")
    return array


def _first(array: Array, where: NDArray[np.bool_]) -> float:
    """The first value that is at fault, for a message."""
    array, where = np.broadcast_arrays(array, where)
    return float(array[where].flat[0])
