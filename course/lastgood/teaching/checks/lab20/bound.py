"""Lab 20, part E: the cheapest interval that bounds what a failure loses."""

from __future__ import annotations

import random
from typing import Any

from lastgood.recovery import interval as library
from lastgood.teaching.checks.core import Check, Data, number
from lastgood.teaching.checks.lab20.choices import best
from lastgood.teaching.checks.lab20.credit import FULL, extra
from lastgood.teaching.checks.lab20.own import asked, refused
from lastgood.teaching.checks.lab20.passages import HALF_THE_TIME
from lastgood.teaching.checks.report import Part, Report, part

SLACK = 1.01  # a bound may be exceeded by this factor: the first order is enough

DECIDES, CERTAIN, WITHIN = (
    "the bound decides",
    "an interval as long as the bound",
    "the optimum keeps the bound",
)


def _draw(seed: int) -> Data:
    """A plan for each part: [bound, probability, save_cost, mtbf], hours."""
    source = random.Random(seed)
    bound = source.randrange(2, 9) / 4
    return {
        "plans": {
            DECIDES: [bound, round(source.uniform(0.6, 0.75), 2), round(0.08 * bound, 3), 500 * bound],
            CERTAIN: [bound, round(source.uniform(0.92, 0.97), 2), round(0.3 * bound, 3), 200 * bound],
            WITHIN: [40 * bound, round(source.uniform(0.6, 0.9), 2), round(0.1 * bound, 3), 100 * bound],
        }
    }


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    fault = refused(names["0"])
    intervals: dict[str, float] = {}
    for title, numbers in inputs["plans"].items() if not fault else ():
        value, fault = asked(names["0"], *numbers, best)
        figure, fault = (0.0, fault) if fault else number(value)
        if fault:
            break
        intervals[title] = figure
    return {"error": fault} if fault else {"intervals": intervals}


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return PLAN.failed(data["error"])
    return Report(
        PLAN.exercise,
        tuple(_part(title, numbers, data["intervals"][title]) for title, numbers in inputs["plans"].items()),
    )


def _part(title: str, plan: list[float], interval: float) -> Part:
    bound, probability, save_cost, mtbf = plan
    given = (
        f"Bound {bound:g} h with probability {probability:g}, save {save_cost:g} h, mtbf {mtbf:g} h: "
        f"you work {interval:.4g} h between saves"
    )
    if not 0 < interval < 100 * mtbf:
        return part(title, 1, f"{given}, which is no interval.", HALF_THE_TIME)
    if float(library.lost_bound(interval, save_cost, mtbf, probability)) > SLACK * bound:
        return part(title, 1, f"{given}. {_too_long(plan, interval)}", HALF_THE_TIME)
    cheapest = min(best(save_cost, mtbf), float(library.longest_within(bound, save_cost, mtbf, probability)))
    above = extra(interval, cheapest, save_cost, mtbf)
    fault = f"{given}. {_too_dear(plan, interval, cheapest, above)}" if above > FULL else ""
    return part(title, 1, fault, HALF_THE_TIME if fault else "")


def _too_long(plan: list[float], interval: float) -> str:
    bound, probability, save_cost, _ = plan
    lost = float(library.lost_bound(interval, save_cost, plan[3], probability))
    words = f"That is too long: with this probability a failure loses up to {lost:.3g} h."
    if abs(interval / (2 * bound) - 1) < 0.02:
        words += (
            " The bound holds on average only. An average of half an interval says nothing of the worst ones."
        )
    elif abs(interval / (bound / probability) - 1) < 0.02:
        words += " A failure can also strike the save, and then all of the interval is lost."
    return words


def _too_dear(plan: list[float], interval: float, cheapest: float, above: float) -> str:
    bound, probability, save_cost, mtbf = plan
    words = (
        f"It keeps the bound, and costs {above:.0%} more in saves and lost work than the cheapest that does."
    )
    if interval > 1.05 * best(save_cost, mtbf):
        words += " The longest that keeps a bound is not the cheapest where the optimum is shorter."
    elif abs(interval / bound - 1) < 0.02:
        words += " This one never loses more; you were asked for less certainty, and it may be longer."
    elif cheapest == bound and abs(interval / (bound / probability - save_cost) - 1) < 0.02:
        words += (
            " No failure loses more than one interval: an interval of the bound's length always keeps it."
        )
    elif interval < cheapest:
        words += " It may be longer."
    return words


PLAN = Check("plan", "E1 A bound at the least cost", 3, _draw, _measure, _judge)
