"""Lab 20, part C: failure times, drawn at a rate and at nothing else."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lastgood.teaching.checks import exact
from lastgood.teaching.checks.core import Check, Data
from lastgood.teaching.checks.lab20.own import asked, refused
from lastgood.teaching.checks.lab20.passages import BY_CHANCE
from lastgood.teaching.checks.report import Report, part

LISTS, FAILURES_EACH = 24, 200

# Each is five standard errors or more from what a right function gives.
_MEAN, _SPREAD, _LAST_GAP = 0.08, 0.2, 2.5


def _draw(seed: int) -> Data:
    return {"mtbf": float(random.Random(seed).randrange(3, 9)), "seed": seed}


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    fault = refused(names["0"])
    lists: list[list[float]] = []
    # The last generator is the first one again: the same numbers must come.
    for number in (*range(LISTS), 0) if not fault else ():
        generator = np.random.default_rng([inputs["seed"], number])
        value, fault = asked(names["0"], inputs["mtbf"], FAILURES_EACH * inputs["mtbf"], generator)
        if fault:
            break
        try:
            lists.append([float(time) for time in value])
        except (TypeError, ValueError):
            fault = f"The result is a {type(value).__name__}; a list or an array of numbers is wanted."
    return {"error": fault} if fault else {"lists": lists}


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return FAILURES.failed(data["error"])
    *lists, again = (
        [float(exact.number(time)) for time in times] for times in exact.items(data["lists"], LISTS + 1)
    )
    fault = _fault(lists, again, inputs["mtbf"])
    return Report(FAILURES.exercise, (part("failure times", FAILURES.worth, fault, BY_CHANCE),))


def _fault(lists: list[list[float]], again: list[float], mtbf: float) -> str:
    hours = FAILURES_EACH * mtbf
    asked_for = f"For a mtbf of {mtbf:g} h and {hours:,.0f} hours"
    fault = _not_random(lists, again) or _not_times(lists, hours)
    if fault:
        return f"{asked_for}: {fault}"
    arrays = [np.array(times) for times in lists]
    gaps = np.concatenate([np.diff(times, prepend=0.0) for times in arrays])
    mean = LISTS * hours / len(gaps)
    if abs(mean / mtbf - 1) > _MEAN:
        return f"{asked_for}: one failure comes in {mean:.3g} h.{_scaled(mean, mtbf)}"
    return _wrong_gaps(arrays, gaps, mtbf, hours)


def _not_random(lists: list[list[float]], again: list[float]) -> str:
    if again != lists[0]:
        return "the same generator gives other times. Draw from the generator that you are given."
    if lists[0] == lists[1] != []:
        return "another generator gives the same times. Draw from the generator that you are given."
    return ""


def _not_times(lists: list[list[float]], hours: float) -> str:
    flat = [time for times in lists for time in times]
    if not flat:
        return "not one failure comes."
    if not np.isfinite(flat).all() or min(flat) < 0:
        return "some times are negative, or no numbers."
    if any(times != sorted(times) for times in lists):
        return (
            "the times do not ascend. Are these the gaps? A failure's time is the sum of the gaps up to it."
        )
    if max(flat) > hours:
        return f"a failure comes at {max(flat):,.0f} h, after the end. Leave those out."
    return ""


def _scaled(mean: float, mtbf: float) -> str:
    if abs(mean * mtbf - 1) < 0.2:
        return " numpy's `exponential` takes the mean gap, not the rate."
    if mean > 10 * mtbf:
        return " Are failures missing at the end?"
    return ""


def _wrong_gaps(
    arrays: list[NDArray[np.float64]], gaps: NDArray[np.float64], mtbf: float, hours: float
) -> str:
    spread = float(gaps.std() / gaps.mean())
    if abs(spread - 1) > _SPREAD:
        return (
            f"The mean gap is right, but the gaps' standard deviation is {spread:.2f} of it. Without a "
            "memory it is 1.00 of it: many short gaps, a few long ones. Draw the gaps from an exponential."
        )
    if len({len(times) for times in arrays}) == 1:
        return f"There are always {len(arrays[0])} failures. How many come is chance too."
    last = float(np.mean([hours - times[-1] for times in arrays])) / mtbf
    if last > _LAST_GAP:
        return (
            f"After your last failure {last:.1f} times the mtbf is left, on average, in which none comes. "
            "Draw until you are past the end."
        )
    return ""


FAILURES = Check("failure_times", "C1 Failure times", 2, _draw, _measure, _judge)
