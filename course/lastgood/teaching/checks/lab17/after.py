"""Lab 17, part D: the learning rates of a run after a restart, as it should be and after two mistakes."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, Final

from lastgood.teaching.checks.core import Check, Data, attempt
from lastgood.teaching.checks.lab17.own import NOTHING, alike, lent, near, numbers, refused, right_rate
from lastgood.teaching.checks.lab17.passages import TWO_MISTAKES
from lastgood.teaching.checks.report import Report, part

RIGHT, STEP, HORIZON = "right", "step forgotten", "horizon forgotten"
KEYS: Final = (RIGHT, STEP, HORIZON)

Curve = Callable[[int], float]  # the rate of the step with this number


def curves(killed: int, peak: float, warmup: int, horizon: int, floor: float) -> dict[str, Curve]:
    """The rate of each global step after a restart, by KEYS."""
    left = horizon - killed
    return {
        RIGHT: lambda step: right_rate(step, peak, warmup, horizon, floor),
        STEP: lambda step: right_rate(max(0, step - killed), peak, warmup, horizon, floor),
        HORIZON: lambda step: right_rate(step, peak, warmup, left, floor),
    }


def _draw(seed: int) -> Data:
    source = random.Random(seed)
    peak = source.randrange(10, 60) / 10_000
    horizon = source.randrange(90, 130)
    killed = round(horizon * source.uniform(0.3, 0.4))
    return {
        "killed": killed,
        "curve": [peak, source.randrange(6, 12), horizon, peak / source.randrange(4, 9)],
    }


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    fault = refused(names["0"])
    value: Any = None
    if not fault:
        with lent(names["0"]):
            value, fault = attempt(names["0"], inputs["killed"], *inputs["curve"])
    if not fault and value is None:
        fault = NOTHING
    if not fault and (not isinstance(value, dict) or set(value) != set(KEYS)):
        keys = ", ".join(f"“{key}”" for key in KEYS)
        fault = f"Return a dict with the keys {keys}, and no others."
    if fault:
        return {"error": fault}
    rates = {}
    for key in KEYS:
        rates[key], wrong = numbers(value[key])
        if wrong:
            return {"error": f"Under “{key}”: {wrong}"}
    return {"rates": rates}


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return AFTER.failed(data["error"])
    killed, horizon = inputs["killed"], inputs["curve"][2]
    right = curves(killed, *inputs["curve"])
    parts = []
    for key in KEYS:
        wanted = [right[key](step) for step in range(killed, horizon)]
        found = data["rates"][key]
        fault = "" if alike(found, wanted) else _fault(found, wanted, _mistakes(key, inputs), inputs)
        parts.append(part(key, 1, fault, TWO_MISTAKES))
    return Report(AFTER.exercise, tuple(parts))


def _mistakes(key: str, inputs: Data) -> Mapping[str, Curve]:
    killed, (peak, warmup, horizon, floor) = inputs["killed"], inputs["curve"]
    right, left = curves(killed, *inputs["curve"]), horizon - killed

    def both(step: int) -> float:
        return right_rate(max(0, step - killed), peak, warmup, left, floor)

    undisturbed = "Those are the rates of the run that is right: nothing is forgotten."
    begins = "Those are the rates of a run that begins at step 0."
    return {
        RIGHT: {
            begins: right[STEP],
            "Those are the rates with the wrong horizon.": right[HORIZON],
        },
        STEP: {
            undisturbed: right[RIGHT],
            "That run has forgotten its horizon as well. Here it keeps it, and only counts from 0 "
            "again.": both,
            "That run has forgotten its horizon, and knows its step.": right[HORIZON],
        },
        HORIZON: {
            undisturbed: right[RIGHT],
            "That run has forgotten its step as well. Here it keeps its step, and takes the steps "
            "that are left for "
            "its horizon.": both,
            "That run has forgotten its step, and knows its horizon.": right[STEP],
            "The horizon of the resumed job is the number of steps that are left: horizon - "
            "killed. This one is "
            "`killed`.": lambda step: right_rate(step, peak, warmup, killed, floor),
            "The horizon of the resumed job is shorter: horizon - killed. This one is longer.": (
                lambda step: right_rate(step, peak, warmup, horizon + killed, floor)
            ),
        },
    }[key]


def _fault(found: list[float], wanted: list[float], mistakes: Mapping[str, Curve], inputs: Data) -> str:
    killed, horizon = inputs["killed"], inputs["curve"][2]
    for sentence, wrong in mistakes.items():
        if found and alike(found, [wrong(killed + i) for i in range(len(found))]):
            return sentence
    if len(found) != len(wanted):
        return (
            f"{len(found)} rates; steps {killed} to {horizon - 1} are {len(wanted)}. After "
            f"{killed} steps, the next one "
            f"has the number {killed}."
        )
    if alike(found[:-1], wanted[1:]):
        return f"One step ahead: after {killed} steps, the next one has the number {killed}."
    if alike(found[1:], wanted[:-1]):
        return f"One step behind: after {killed} steps, the next one has the number {killed}."
    at = next(i for i, rate in enumerate(found) if not near(rate, wanted[i]))
    return (
        f"Killed after {killed} of {horizon} steps: at step {killed + at} you have "
        f"{found[at]:.4g}, not {wanted[at]:.4g}."
    )


AFTER = Check("rates_after_kill", "D1 The rates after a restart", 3, _draw, _measure, _judge)
