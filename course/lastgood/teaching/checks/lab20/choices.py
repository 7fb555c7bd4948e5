"""Lab 20, part D: an interval for three given runs, and for one of the learner's own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lastgood.recovery import interval as library
from lastgood.teaching.checks.core import Check, Data, number
from lastgood.teaching.checks.lab20.credit import extra, price, share
from lastgood.teaching.checks.lab20.curve import price_curve
from lastgood.teaching.checks.lab20.own import asked, refused
from lastgood.teaching.checks.lab20.passages import THREE_RUNS, YOUR_RUN
from lastgood.teaching.checks.report import Part, Report

SECOND, MINUTE, DAY, WEEK = 1 / 3600, 1 / 60, 24.0, 168.0  # hours
UNITS = {"seconds": SECOND, "minutes": MINUTE, "hours": 1.0, "days": DAY}


@dataclass(frozen=True)
class Given:
    """A run whose interval is asked for. Hours, but for `unit`: that of the answer, in hours."""

    save_cost: float
    mtbf: float
    restart_cost: float
    unit_name: str
    unit: float
    mistakes: Mapping[str, float] = field(
        default_factory=dict
    )  # a sentence: the interval that it explains, hours

    @property
    def best(self) -> float:
        """The exact optimum, hours."""
        return float(library.optimum(self.save_cost, self.mtbf))


def best(save_cost: float, mtbf: float) -> float:
    """What the check hands to the learner's functions: the exact optimum, in the unit of its arguments."""
    return float(library.optimum(save_cost, mtbf))


_HOST = (
    "That is the interval for one host, which fails seldom. The job fails as often as all its hosts together."
)
_RESTART = "The restart is in your interval. It is paid at each failure, however long the interval is."


def _given(
    save_cost: float, mtbf: float, restart_cost: float, hosts: int, unit: str, hours: float, misread: float
) -> Given:
    """`misread`: the save cost as one has it who forgets its unit, hours."""
    mistakes = {
        _HOST: best(save_cost, mtbf * hosts),
        _RESTART: best(save_cost + restart_cost, mtbf),
        "That is the save cost taken for hours.": best(misread, mtbf),
    }
    return Given(save_cost, mtbf, restart_cost, unit, hours, mistakes)


OPT_RUN = _given(4 * MINUTE, 60 * DAY / 105, 1.0, 124, "hours", 1.0, 4.0)
BLOOM_RUN = _given(40 * SECOND, WEEK, 1.0, 48, "steps", 105 * SECOND, 40.0)
LLAMA_RUN = _given(60 * SECOND, 54 * DAY / 419, 0.25, 16_384 // 8, "minutes", MINUTE, 1.0)


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    fault = refused(names["0"])
    value, fault = (None, fault) if fault else asked(names["0"], best)
    figure, fault = (0.0, fault) if fault else number(value)
    return {"error": fault} if fault else {"interval": figure}


def _choice(name: str, exercise: str, given: Given) -> Check:
    def verdict(inputs: Data, data: Data) -> Report:
        if "error" in data:
            return question.failed(data["error"])
        return judged(question, given, data["interval"], THREE_RUNS)

    question = Check(name, exercise, 1, lambda seed: {}, _measure, verdict)
    return question


def judged(question: Check, given: Given, answer: float, reread: str) -> Report:
    """The report on an interval, in the run's own unit: points by how near its price is to the least."""
    hours = answer * given.unit
    if not (math.isfinite(answer) and 0 < hours < 1e6):
        return question.failed(f"{answer:g} {given.unit_name} is no interval to work by.", reread)
    above = extra(hours, given.best, given.save_cost, given.mtbf) if hours < 100 * given.mtbf else math.inf
    points = question.worth * share(above)
    figure = price_curve(given.save_cost, given.mtbf, (given.unit, given.unit_name), hours)
    if points == question.worth:
        return Report(question.exercise, (Part("interval", points, points),), _praise(given, hours), figure)
    why = f"{_compared(given, hours)}\n{_mistake(given, answer)}".strip()
    return Report(question.exercise, (Part("interval", points, question.worth, why, reread),), figure=figure)


def _praise(given: Given, hours: float) -> str:
    return (
        f"{_in_units(given, hours)}: by the exact formula, saves and lost work add "
        f"{price(hours, given.save_cost, given.mtbf):.2%} to the work. "
        f"The least is {price(given.best, given.save_cost, given.mtbf):.2%}."
    )


def _compared(given: Given, hours: float) -> str:
    times = max(hours / given.best, given.best / hours)
    way = (
        f"{times:.3g} times as long as the best"
        if hours > given.best
        else f"too short: the best is {times:.3g} times as long"
    )
    lost = hours / (2 * given.mtbf)
    return (
        f"{_in_units(given, hours)} is {way}. For each hour of work, saves take "
        f"{given.save_cost / hours:.2%} of an hour, and lost work about {lost:.2%}."
    )


def _in_units(given: Given, hours: float) -> str:
    length = hours / given.unit
    return f"An interval of {f'{length:,.0f}' if length >= 100 else f'{length:.3g}'} {given.unit_name}"


def _mistake(given: Given, answer: float) -> str:
    """A sentence for a mistake foreseen, else empty. The answer may be in a unit that was not asked for."""
    for sentence, hours in given.mistakes.items():
        if abs(answer * given.unit / hours - 1) < 0.1:
            return sentence
    for name, unit in UNITS.items():
        if name != given.unit_name and abs(answer * unit / given.best - 1) < 0.2:
            return f"As {name} it would be right. {given.unit_name.capitalize()} are asked for."
    return ""


OPT = _choice("opt_hours", "D1 OPT-175B, in hours", OPT_RUN)
BLOOM = _choice("bloom_steps", "D2 BLOOM, in steps", BLOOM_RUN)
LLAMA = _choice("llama_minutes", "D3 Llama 3 405B, in minutes", LLAMA_RUN)

KEYS = ("hosts", "failures_per_1000_host_days", "save_minutes", "restart_minutes", "interval_hours")


def _measure_own(names: dict[str, Any], inputs: Data) -> Data:
    fault = refused(names["0"])
    value, fault = (None, fault) if fault else asked(names["0"], best)
    if fault:
        return {"error": fault}
    if not isinstance(value, dict) or set(value) != set(KEYS):
        return {"error": f"Return a dict with the keys {', '.join(KEYS)}, and no others."}
    run = {}
    for key in KEYS:
        run[key], fault = number(value[key])
        if fault or not 0 < run[key] < 1e9:
            return {"error": f"{key} is {value[key]!r}: give a number above 0."}
    return {"run": run}


def _judge_own(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return MY_RUN.failed(data["error"])
    hosts, rate, save, restart, hours = (float(data["run"][key]) for key in KEYS)
    mtbf = library.job_mtbf(hosts, rate)
    if save * MINUTE >= mtbf:
        return MY_RUN.failed(
            f"This job fails every {mtbf:.3g} h, and a save takes {save * MINUTE:.3g} h: hardly one would be "
            "finished. Is a unit wrong?",
            YOUR_RUN,
        )
    given = _given(save * MINUTE, mtbf, restart * MINUTE, max(int(hosts), 2), "hours", 1.0, save)
    return judged(MY_RUN, given, hours, YOUR_RUN)


MY_RUN = Check("my_run", "D4 A run of your own", 2, lambda seed: {}, _measure_own, _judge_own)
