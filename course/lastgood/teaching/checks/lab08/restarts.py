"""Lab 08, part E: the first update after a restart that lost part of the optimizer's state."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from lastgood.teaching.checks.core import Check, Data, number
from lastgood.teaching.checks.lab08.own import asked, once, refused
from lastgood.teaching.checks.lab08.passages import COLD, LOST
from lastgood.teaching.checks.report import Part, Report, part

TOLERANCE = 0.01
EVERYTHING, MOMENTS, STEP = LOSSES = ("everything", "moments", "step")

Wrong = Callable[[list[float], str, float, float], float]


def _draw(seed: int) -> Data:
    """For each loss two runs, [gradients, beta1, beta2]: gradients that mostly agree, as on a slope."""
    source = random.Random(seed)

    def run(beta1: float, beta2: float) -> list[Any]:
        drift = source.uniform(1.0, 2.0) * source.choice([-1, 1])
        last = drift * source.uniform(0.5, 0.8)
        steps = source.randrange(30, 60)
        return [
            [round(drift + source.gauss(0, 0.4), 3) for _ in range(steps)] + [round(last, 3)],
            beta1,
            beta2,
        ]

    return {"runs": {lost: [run(0.9, 0.95), run(0.9, 0.999)] for lost in LOSSES}}


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    """Twice, for a function may call `corrected_moments`: the learner's own, or else a right one.

    Only the learner's has the names in its state that such a function sets to zero.
    """
    fault = refused(names["0"])
    if fault:
        return {"error": fault}
    return {"own": _found(names["0"], inputs, lend=False), "lent": _found(names["0"], inputs, lend=True)}


def _found(function: Any, inputs: Data, *, lend: bool) -> Data:
    found: dict[str, list[float]] = {}
    for lost, runs in inputs["runs"].items():
        for gradients, beta1, beta2 in runs:
            value, fault = asked(function, list(gradients), lost, beta1, beta2, lend=lend)
            figure, fault = (0.0, fault) if fault else number(value)
            if fault:
                return {"error": fault}
            found.setdefault(lost, []).append(figure)
    return {"found": found}


def update(gradients: list[float], beta1: float, beta2: float, lost: str = "", *, at: int = -1) -> float:
    """Adam's last update of these gradients, in units of the learning rate, eps left out.

    `lost` goes before the gradient at index `at`, by default the last.
    """
    first = second = 0.0
    step = 0
    for index, gradient in enumerate(gradients):
        if index == at % len(gradients):
            first, second = (0.0, 0.0) if lost in (EVERYTHING, MOMENTS) else (first, second)
            step = 0 if lost in (EVERYTHING, STEP) else step
        step += 1
        first = beta1 * first + (1 - beta1) * gradient
        second = beta2 * second + (1 - beta2) * gradient**2
    return first / (1 - beta1**step) / math.sqrt(second / (1 - beta2**step))


def ratio(gradients: list[float], lost: str, beta1: float, beta2: float) -> float:
    """How many times as large the last update is where this was lost before it."""
    return abs(update(gradients, beta1, beta2, lost) / update(gradients, beta1, beta2))


MISTAKES: dict[str, dict[str, Wrong]] = {
    EVERYTHING: {
        "The step is lost too: the bias correction begins anew. In yours it goes on, or there is none.": (
            lambda g, lost, b1, b2: ratio(g, MOMENTS, b1, b2)
        ),
        "The moments are kept in yours. Here everything is lost.": lambda g, lost, b1, b2: ratio(
            g, STEP, b1, b2
        ),
        "You get 1. Either nothing is lost in yours, or that is the update after the loss, which is always "
        "one learning rate. Divide it by the one without.": lambda g, lost, b1, b2: 1.0,
    },
    MOMENTS: {
        "The bias correction begins anew in yours. Only the moments are lost here: the step goes on, and "
        "nothing corrects the zeros.": lambda g, lost, b1, b2: ratio(g, EVERYTHING, b1, b2),
        "You keep the moments and lose the step. It is the other way round.": (
            lambda g, lost, b1, b2: ratio(g, STEP, b1, b2)
        ),
    },
    STEP: {
        "The moments begin anew in yours. Only the step is lost here: full moments are corrected as if they "
        "had just begun.": lambda g, lost, b1, b2: ratio(g, EVERYTHING, b1, b2),
        "Both updates are the same in yours. The step matters to the bias correction alone: is there one, "
        "and does it begin anew?": lambda g, lost, b1, b2: 1.0,
        "You lose the moments and keep the step. It is the other way round.": (
            lambda g, lost, b1, b2: ratio(g, MOMENTS, b1, b2)
        ),
    },
}
ALWAYS: dict[str, Wrong] = {
    "Nothing is lost in yours: both updates are the same.": lambda g, lost, b1, b2: 1.0,
    "That is the ratio the wrong way round: the update after the loss comes first.": (
        lambda g, lost, b1, b2: 1 / ratio(g, lost, b1, b2)
    ),
    "That is the update after the loss. Divide it by the one without.": (
        lambda g, lost, b1, b2: abs(update(g, b1, b2, lost))
    ),
    "That is the ratio with its sign, or the difference: how many times as large is it?": (
        lambda g, lost, b1, b2: -ratio(g, lost, b1, b2)
    ),
    "In yours it is lost one step too early: it has to be lost just before the last gradient.": (
        lambda g, lost, b1, b2: abs(update(g, b1, b2, lost, at=-2) / update(g, b1, b2))
    ),
}


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return FIRST_UPDATE.failed(data["error"])
    return max((_report(inputs, data[whose]) for whose in ("own", "lent")), key=lambda report: report.points)


def _report(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return FIRST_UPDATE.failed(data["error"])
    parts = (_part(lost, inputs["runs"][lost], data["found"][lost]) for lost in LOSSES)
    return Report(FIRST_UPDATE.exercise, once(parts))


def _part(lost: str, runs: list[list[Any]], found: list[float]) -> Part:
    title = f"lost: {lost}"

    def are(wrong: Wrong) -> bool:
        return all(
            abs(value - wrong(g, lost, b1, b2)) <= TOLERANCE * abs(wrong(g, lost, b1, b2))
            for value, (g, b1, b2) in zip(found, runs, strict=True)
        )

    if are(ratio):
        return part(title, 1, "")
    for sentence, wrong in (MISTAKES[lost] | ALWAYS).items():
        if are(wrong):
            return part(title, 1, sentence, COLD)
    told = ", ".join(
        f"{value:.4g} where {ratio(g, lost, b1, b2):.4g} is right (β2 = {b2:g})"
        for value, (g, b1, b2) in zip(found, runs, strict=True)
    )
    return part(title, 1, f"You get {told}.", LOST)


FIRST_UPDATE = Check("first_update", "E The first update after a restart", 3, _draw, _measure, _judge)
