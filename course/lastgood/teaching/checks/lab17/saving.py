"""Lab 17, part C: the loop around a schedule that counts, and the place of the save in it."""

from __future__ import annotations

import random
from typing import Any

from lastgood.teaching.checks import exact
from lastgood.teaching.checks.core import Check, Data, attempt
from lastgood.teaching.checks.lab17.own import alike, right_rate
from lastgood.teaching.checks.lab17.passages import WHEN_TO_SAVE
from lastgood.teaching.checks.lab17.stand_in import Optimizer
from lastgood.teaching.checks.report import Report, part, untested


class Counting:
    """The right schedule, as part C1 asks for it."""

    def __init__(self, peak: float, warmup: int, horizon: int, floor: float) -> None:
        self.curve = {"peak": peak, "warmup": warmup, "horizon": horizon, "floor": floor}
        self.position = 0

    @property
    def lr(self) -> float:
        """The rate of the step that comes next."""
        return right_rate(self.position, **self.curve)  # type: ignore[arg-type]  # two are whole numbers

    def step(self) -> None:
        """One step further."""
        self.position += 1

    def state_dict(self) -> dict[str, Any]:
        """The position, and the curve that it is on."""
        return {"position": self.position, "curve": dict(self.curve)}


def _draw(seed: int) -> Data:
    source = random.Random(seed)
    every = source.randrange(4, 8)
    peak = source.randrange(10, 60) / 10_000
    return {
        "curve": [peak, source.randrange(5, 9), 80, peak / 5],
        "every": every,
        "steps": every * source.randrange(3, 6) + source.randrange(1, every),
    }


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    optimizer = Optimizer(lr=1.0, betas=(0.9, 0.95), patience=10 * inputs["steps"])
    schedule = Counting(*inputs["curve"])
    saves: list[list[int]] = []

    def save() -> None:
        saves.append([len(optimizer.rates), schedule.position])

    _, fault = attempt(names["0"], inputs["steps"], optimizer, schedule, inputs["every"], save)
    if fault:
        return {"error": fault}
    return {"rates": optimizer.rates, "position": schedule.position, "saves": saves}


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return SAVING.failed(data["error"])
    if not data["rates"]:
        return SAVING.failed("The optimizer makes no step: optimizer.step() is never called.", WHEN_TO_SAVE)
    if len(data["rates"]) != inputs["steps"]:
        why = f"The optimizer makes {len(data['rates'])} steps, and {inputs['steps']} were asked for."
        return SAVING.failed(why, WHEN_TO_SAVE)
    stuck = exact.number(data["position"]) == 0
    saves = _saves_fault(data["saves"], inputs)
    parts = (
        part("the rate of each step", 1, _rates_fault(data, inputs), WHEN_TO_SAVE),
        part("saves where they are due", 1, saves, WHEN_TO_SAVE),
        untested("what a save holds", 1, "First the loop has to save.")
        if not data["saves"]
        else untested("what a save holds", 1, "First the schedule has to move.")
        if stuck
        else part("what a save holds", 1, _holds_fault(data["saves"]), WHEN_TO_SAVE),
    )
    return Report(SAVING.exercise, parts)


def _rates_fault(data: Data, inputs: Data) -> str:
    first, second = ([rates[group] for rates in data["rates"]] for group in (0, 1))
    steps = len(first)
    right = [right_rate(step, *inputs["curve"]) for step in range(2 * steps)]
    if alike(first, right[:steps]) and alike(second, right[:steps]):
        return ""
    if all(rate == 1.0 for rate in first + second):
        return (
            "The optimizer keeps the rate that it was built with. Put the schedule's into its groups' “lr”."
        )
    if alike(first, right[:steps]) or alike(second, right[:steps]):
        return (
            "One of the two parameter groups gets the rate, the other keeps its own. All of "
            "param_groups need it."
        )
    if alike(first, [right[0]] * steps):
        return (
            "Every step gets the rate of the first. Does the schedule move, and is its rate "
            "read in each step?"
        )
    if alike(first, right[1 : steps + 1]):
        return (
            "One step ahead: the schedule moves before the optimizer does, and the rate of "
            "step 0 is left out."
        )
    if alike(first[1:], right[: steps - 1]):
        return "One step behind: the optimizer steps before it is given this step's rate."
    if first[0] == 1.0 and alike(first[1:], right[1:steps]):
        return (
            "The first step is made with the rate that the optimizer was built with. Put the "
            "schedule's rate in before a step, not after it."
        )
    if alike(first, right[0 : 2 * steps : 2]) or alike(first, right[1 : 2 * steps : 2]):
        return "The schedule moves twice in each step."
    at = next(i for i in range(steps) if not alike([first[i], second[i]], [right[i]] * 2))
    return f"Step {at} is made with rates {first[at]:.4g} and {second[at]:.4g}; {right[at]:.4g} is right."


def _saves_fault(saves: list[list[int]], inputs: Data) -> str:
    made = [optimizer for optimizer, _ in saves]
    every, steps = inputs["every"], inputs["steps"]
    right = list(range(every, steps + 1, every))
    if made == right:
        return ""
    if not made:
        return "It never saves."
    if made == list(range(1, steps + 1)):
        return f"It saves after every step, and every {every}th was asked for."
    if made == [step - 1 for step in right]:
        return "It saves before the optimizer's step: the save that is due after a step lacks it."
    if made == list(range(0, steps, every)) or made == list(range(1, steps + 1, every)):
        return (
            f"It saves after {made[:3]} … steps. The first save is due after {every}, not at the beginning."
        )
    if made == [*right, steps]:
        return f"It also saves after step {steps}, the last one, where none is due."
    return f"It saves after {made[:4]} steps, where {right[:4]} were due."


def _holds_fault(saves: list[list[int]]) -> str:
    for optimizer, schedule in saves:
        if optimizer != schedule:
            words = f"A save holds {optimizer} steps of the optimizer and {schedule} of the schedule."
            if schedule == optimizer - 1:
                words += " Resumed from it, a rate is used twice. Save when both have made their step."
            return words
    return ""


SAVING = Check("train", "C2 When to save", 3, _draw, _measure, _judge)
