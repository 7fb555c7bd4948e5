"""Lab 20, part A: what a rate means for a job, and what an interval costs."""

from __future__ import annotations

import math
import random
from typing import Any

from lastgood.recovery import interval as library
from lastgood.teaching.checks.lab20.own import guarded
from lastgood.teaching.checks.lab20.passages import EXACT, ONE_HOST, TWO_PRICES
from lastgood.teaching.checks.questions import numeric


def _cluster(source: random.Random) -> list[Any]:
    return [source.randrange(40, 400), source.randrange(200, 1500) / 100]


JOB = guarded(
    numeric(
        "job_mtbf",
        "A1 From one host to a job",
        library.job_mtbf,
        _cluster,
        {
            "That is the time between failures of one host. The job stops when any of its hosts fails.": (
                lambda hosts, rate: 24_000 / rate
            ),
            "That is in days. Hours are wanted.": lambda hosts, rate: 1000 / (hosts * rate),
            "That is failures a day. The time between two of them is wanted, in hours.": (
                lambda hosts, rate: hosts * rate / 1000
            ),
            "That is failures an hour. The time between two of them is wanted.": (
                lambda hosts, rate: hosts * rate / 24_000
            ),
            "The rate is for 1,000 host-days; you take it for one.": lambda hosts, rate: 24 / (hosts * rate),
            "More hosts make more failures. Yours make fewer.": lambda hosts, rate: 24_000 * hosts / rate,
        },
        arguments=("hosts", "per_1000_host_days"),
        worth=2,
        reread=ONE_HOST,
    )
)


def _run(source: random.Random) -> list[Any]:
    """Interval, save cost, MTBF, restart cost, hours; far enough apart for every mistake to show."""
    return [
        source.randrange(8, 17) / 4,
        source.randrange(3, 8) / 10,
        float(source.randrange(10, 17)),
        source.randrange(9, 17) / 10,  # apart from every save cost
    ]


WASTE = guarded(
    numeric(
        "waste",
        "A2 Waste to first order",
        lambda *numbers: float(library.waste(*numbers)),
        _run,
        {
            "A failure strikes in the middle of an interval, on average: half of it is lost. You lose all.": (
                lambda t, d, m, r: d / t + t / m + r / m
            ),
            "The restart is counted twice.": lambda t, d, m, r: d / t + t / (2 * m) + 2 * r / m,
            "Half a restart is counted. Only the lost work is halved.": (
                lambda t, d, m, r: d / t + (t + r) / (2 * m)
            ),
            "The restart is missing: each failure costs one, and one comes in each mtbf.": (
                lambda t, d, m, r: d / t + t / (2 * m)
            ),
            "The saves are missing: one for each interval.": lambda t, d, m, r: t / (2 * m) + r / m,
            "The lost work is missing: each failure destroys half an interval, on average.": (
                lambda t, d, m, r: d / t + r / m
            ),
            "The restart is paid once for each failure, not for each interval.": (
                lambda t, d, m, r: d / t + t / (2 * m) + r / t
            ),
            "The saves are halved. One whole save comes with each interval.": (
                lambda t, d, m, r: d / (2 * t) + t / (2 * m) + r / m
            ),
            "A failure costs half an interval and a restart. You add a save to that.": (
                lambda t, d, m, r: d / t + (t / 2 + d + r) / m
            ),
            "The restart is not yet a share: one comes in each mtbf.": (
                lambda t, d, m, r: d / t + t / (2 * m) + r
            ),
            "That is a percentage. The fraction is wanted: 0.04 and not 4.": (
                lambda t, d, m, r: 100 * (d / t + t / (2 * m) + r / m)
            ),
        },
        arguments=("interval", "save_cost", "mtbf", "restart_cost"),
        worth=2,
        reread=TWO_PRICES,
    )
)


def _whole_run(source: random.Random) -> list[Any]:
    """Work, interval, save cost, MTBF, restart cost, hours: failures often enough to need the exact form."""
    interval = source.choice([1.0, 1.5, 2.0])
    return [
        interval * source.randrange(40, 200),
        interval,
        source.randrange(4, 9) / 10,
        float(source.randrange(4, 7)),
        source.choice([1.5, 2.0, 2.5]),
    ]


def _stretch(interval: float, mtbf: float) -> float:
    """Expected hours of `interval` hours that must pass undisturbed, restarts aside."""
    return mtbf * math.expm1(interval / mtbf)


TIME = guarded(
    numeric(
        "expected_time",
        "A3 Expected time",
        lambda *numbers: float(library.expected_time(*numbers)),
        _whole_run,
        {
            "Saves are exposed too: a failure during a save costs the work before it. In your formula a "
            "save is safe from failures.": lambda w, t, d, m, r: (
                (math.exp(r / m) * _stretch(t, m) + d) * w / t
            ),
            "The saves are missing: each interval ends in one, and it can be struck.": (
                lambda w, t, d, m, r: math.exp(r / m) * _stretch(t, m) * w / t
            ),
            "Restarts are exposed too: a failure during a restart begins another one. In yours each takes "
            "R and no more.": lambda w, t, d, m, r: (m + r) / m * _stretch(t + d, m) * w / t,
            "The restarts are missing.": lambda w, t, d, m, r: _stretch(t + d, m) * w / t,
            "That is the first order: work times 1 + waste. Take the exact form.": (
                lambda w, t, d, m, r: w * (1 + d / t + t / (2 * m) + r / m)
            ),
            "That is one interval. The run has work / interval of them.": (
                lambda w, t, d, m, r: math.exp(r / m) * _stretch(t + d, m)
            ),
            "You count a save for each, and divide by interval + save. The interval is work alone.": (
                lambda w, t, d, m, r: math.exp(r / m) * _stretch(t + d, m) * w / (t + d)
            ),
            "The - 1 in the bracket is missing.": (
                lambda w, t, d, m, r: m * math.exp((r + t + d) / m) * w / t
            ),
            "The 1 is subtracted twice: math.expm1(x) is math.exp(x) - 1 already.": (
                lambda w, t, d, m, r: math.exp(r / m) * (_stretch(t + d, m) - m) * w / t
            ),
        },
        arguments=("work", "interval", "save_cost", "mtbf", "restart_cost"),
        worth=2,
        reread=EXACT,
    )
)
