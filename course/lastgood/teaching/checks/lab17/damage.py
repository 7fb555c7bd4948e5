"""Lab 17, part D: how much learning rate a wrong restart misses and adds, and what a real run showed."""

from __future__ import annotations

import random
from typing import Any

from lastgood.teaching.checks.core import Check, Data, attempt
from lastgood.teaching.checks.lab17.own import NOTHING, near, numbers, refused
from lastgood.teaching.checks.lab17.passages import HOW_MUCH
from lastgood.teaching.checks.questions import choice
from lastgood.teaching.checks.report import Report, part

Pair = tuple[float, float]


def missed_and_added(right: list[float], wrong: list[float]) -> Pair:
    """The sum of what `wrong` lacks where it is lower, and of what it has too much where it is higher."""
    gaps = [a - b for a, b in zip(right, wrong, strict=True)]
    return sum(max(gap, 0.0) for gap in gaps), sum(max(-gap, 0.0) for gap in gaps)


def _draw(seed: int) -> Data:
    source = random.Random(seed)
    count = source.randrange(30, 50)
    right = [source.uniform(1e-3, 2e-3) for _ in range(count)]
    # Lower for a while, then higher, by amounts that do not cancel.
    wrong = [
        r - 5e-4 * source.random() if i < count / 3 else r + 7e-4 * source.random()
        for i, r in enumerate(right)
    ]
    return {"right": right, "wrong": wrong}


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    fault = refused(names["0"])
    value = None
    if not fault:
        value, fault = attempt(names["0"], list(inputs["right"]), list(inputs["wrong"]))
    if not fault and value is None:
        fault = NOTHING
    pair, wrong = ([], "") if fault else numbers(value)
    if not fault and (wrong or len(pair) != 2):
        fault = "Return two numbers: what is missed, and what is added."
    return {"error": fault} if fault else {"pair": pair}


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return DAMAGE.failed(data["error"])
    right = missed_and_added(inputs["right"], inputs["wrong"])
    found = (data["pair"][0], data["pair"][1])
    fault = _whole_fault(found, right, len(inputs["right"]))
    parts = tuple(
        part(title, 1, "" if near(a, b) else fault or f"It is {a:.4g}, and {b:.4g} is right.", HOW_MUCH)
        for title, a, b in zip(("missed", "added"), found, right, strict=True)
    )
    return Report(DAMAGE.exercise, parts)


def _whole_fault(found: Pair, right: Pair, count: int) -> str:
    """A mistake that shows in both numbers together, or empty."""
    missed, added = right
    net = missed - added
    wrong: dict[str, Pair] = {
        "The two are swapped: missed is where the wrong rate is lower, added where it is higher.": (
            added,
            missed,
        ),
        "What is added has a minus sign. Both are amounts, at least 0.": (missed, -added),
        "What is missed has a minus sign. Both are amounts, at least 0.": (-missed, added),
        "Those are means. The sums are asked for: over all steps.": (missed / count, added / count),
        "What is missed and what is added cancel in your sum. Keep them apart, step by step.": (
            max(net, 0.0),
            max(-net, 0.0),
        ),
        "Both numbers hold both: keep apart the steps where the rate is lower and those where it "
        "is higher.": (
            missed + added,
            missed + added,
        ),
    }
    return next(
        (words for words, pair in wrong.items() if near(found[0], pair[0]) and near(found[1], pair[1])), ""
    )


DAMAGE = Check("damage", "D2 Missed and added", 2, _draw, _measure, _judge)

SEEN = choice(
    "what_you_saw",
    "D3 What the loss showed",
    "lab17/what_you_saw/",
    "2a5563210651f54083381d3014b50cb607abfc39492bd44068eb795c66cd6406",
    {
        "a": "Look at the first points after the restart: one of the two is below the right run there.",
        "c": "Look at the end of the curves: more learning rate in all did not help it to the lowest loss.",
        "d": (
            "Look at the first points after the restart: the run that warms up again is above "
            "the right one at once."
        ),
    },
    reread=HOW_MUCH,
)
