"""Lab 19, part E: what the failures of a run cost, from its log of events."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from lastgood.teaching.checks.core import Check, Data, attempt, borrowed
from lastgood.teaching.checks.lab19.passages import COUNTED, RATIO
from lastgood.teaching.checks.report import Report, part

Events = list[dict[str, Any]]
SAVE_EVERY = 5  # steps
TOLERANCE = 0.01
OF_WHAT = "The first two make the productive hours; divide them by the third, all hours of the run."


def log(source: random.Random, hours_per_step: float) -> Events:
    """The events of a run with failures, among them those that are counted wrongly most easily.

    One comes before the ground of the last was made good; one finds the newest checkpoint damaged; one comes
    right after a save.
    """
    writer = _Log(hours_per_step)
    writer.tell("started")
    first = SAVE_EVERY * source.randrange(2, 4) + source.randrange(2, SAVE_EVERY)
    writer.train(first)
    writer.fail(source.uniform(0.5, 3))
    writer.train(first - 1)
    writer.fail(source.uniform(0.5, 3))
    writer.train(writer.step + SAVE_EVERY + source.randrange(1, SAVE_EVERY))
    writer.fail(source.uniform(0.5, 3), damaged=True)
    writer.train((writer.step // SAVE_EVERY + 3) * SAVE_EVERY)
    writer.fail(source.uniform(0.5, 3))
    writer.train(writer.step + source.randrange(3, 9))
    writer.tell("finished")
    return writer.events


class _Log:
    def __init__(self, hours_per_step: float) -> None:
        self.events: Events = []
        self.step, self.hours = 0, 0.0
        self._per_step = hours_per_step
        self._saved = [0]

    def tell(self, kind: str) -> None:
        self.events.append({"kind": kind, "step": self.step, "hours": round(self.hours, 4)})

    def train(self, until: int) -> None:
        while self.step < until:
            self.step, self.hours = self.step + 1, self.hours + self._per_step
            self.tell("step")
            if self.step % SAVE_EVERY == 0:
                self.hours += 0.1
                self._saved = [s for s in self._saved if s < self.step] + [self.step]
                self.tell("saved")

    def fail(self, wait: float, *, damaged: bool = False) -> None:
        self.tell("failed")
        self.hours += wait
        self.step = self._saved[-2 if damaged else -1]
        self.tell("restarted")


def lost_steps(events: Events) -> list[int]:
    """For each failure, the step that the run had reached less the step at which it was resumed."""
    failed = [event["step"] for event in events if event["kind"] == "failed"]
    resumed = [event["step"] for event in events if event["kind"] == "restarted"]
    return [reached - step for reached, step in zip(failed, resumed, strict=True)]


def ettr(events: Events, hours_per_step: float) -> float:
    """Hours of the steps that the run consists of, over the hours that it took."""
    return float(events[-1]["step"] * hours_per_step / events[-1]["hours"])


def _draw(seed: int) -> Data:
    source = random.Random(seed)
    while True:
        hours_per_step = source.choice((0.5, 0.25, 1.5))
        events = log(source, hours_per_step)
        if abs(ettr(events, hours_per_step) - 0.5) > 0.02:  # else what is wasted looks like what is not
            return {"events": events, "hours_per_step": hours_per_step}


def _measure_lost(names: dict[str, Any], inputs: Data) -> Data:
    refused = borrowed(names["0"])
    if refused:
        return {"error": refused}
    value, fault = attempt(names["0"], [dict(event) for event in inputs["events"]])
    if fault:
        return {"error": fault}
    try:
        return {"lost": [int(steps) for steps in value]}
    except (TypeError, ValueError):
        return {"error": f"The result is {value!r}; a list of numbers is wanted, one for each failure."[:300]}


def _judge_lost(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return LOST.failed(data["error"])
    events = inputs["events"]
    right, lost = lost_steps(events), data["lost"]
    if lost == right:
        return Report(LOST.exercise, (part("lost steps", LOST.worth, ""),))
    why = next((words for words, wrong in MISCOUNTS.items() if wrong(events) == lost), "")
    why = why or _differs(events, lost)
    executed = sum(event["kind"] == "step" for event in events)
    told = (
        f"You say {lost}, {sum(lost)} steps in all. The log has {executed} steps, and the run has "
        f"{events[-1]['step']}: {sum(right)} were lost."
    )
    return LOST.failed(f"{told} {why}".rstrip(), COUNTED)


def _differs(events: Events, lost: list[int]) -> str:
    """Where a list of lost steps, of no known mistake, first leaves the right one."""
    right = lost_steps(events)
    if len(lost) != len(right):
        return f"The log has {len(right)} failures: one number for each, 0 for one that cost nothing."
    number = next(k for k, steps in enumerate(right) if steps != lost[k])
    reached = [event["step"] for event in events if event["kind"] == "failed"][number]
    resumed = [event["step"] for event in events if event["kind"] == "restarted"][number]
    return f"Failure {number + 1} came at step {reached}, and the run was resumed at step {resumed}."


def _pairs(events: Events, reached: Callable[[Events], int]) -> list[int]:
    """For each restart, `reached` of the events before, less the step of the restart."""
    places = [place for place, event in enumerate(events) if event["kind"] == "restarted"]
    return [reached(events[:place]) - events[place]["step"] for place in places]


def _latest(events: Events, kind: str) -> int:
    return next((int(event["step"]) for event in reversed(events) if event["kind"] == kind), 0)


MISCOUNTS: dict[str, Callable[[Events], list[int]]] = {
    "You count from the furthest step ever reached, so what was lost once is counted again.": (
        lambda events: _pairs(events, lambda before: max(event["step"] for event in before))
    ),
    "You count back to the last save. It may be damaged: the run goes on where the restart says.": (
        lambda events: [
            _latest(events[: place + 1], "failed") - _latest(events[: place + 1], "saved")
            for place, event in enumerate(events)
            if event["kind"] == "restarted"
        ]
    ),
    "You count the step of the checkpoint as well: it was saved, so it is not lost.": (
        lambda events: [steps + 1 for steps in lost_steps(events)]
    ),
    "That is where the run was resumed, not what was lost.": (
        lambda events: [event["step"] for event in events if event["kind"] == "restarted"]
    ),
}


def _measure_ettr(names: dict[str, Any], inputs: Data) -> Data:
    refused = borrowed(names["0"])
    if refused:
        return {"error": refused}
    events = [dict(event) for event in inputs["events"]]
    value, fault = attempt(names["0"], events, inputs["hours_per_step"])
    if fault:
        return {"error": fault}
    try:
        return {"ettr": float(value)}
    except (TypeError, ValueError):
        return {"error": f"The result is {value!r}; a number between 0 and 1 is wanted."[:300]}


def _judge_ettr(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return ETTR.failed(data["error"])
    events, per_step = inputs["events"], inputs["hours_per_step"]
    found, right = data["ettr"], ettr(events, per_step)
    if abs(found - right) <= TOLERANCE * right:
        return Report(ETTR.exercise, (part("effective training time", ETTR.worth, ""),))
    executed = sum(event["kind"] == "step" for event in events)
    mistakes = {
        "That counts steps that were lost. Only those that the run consists of in the end are productive.": (
            executed * per_step / events[-1]["hours"]
        ),
        "That leaves out the hours in which nothing was computed: divide by the whole time of the run.": (
            events[-1]["step"] / executed
        ),
        "That is upside down: productive hours over all hours.": 1 / right,
        "That counts steps, not hours.": right / per_step,
        "Those are the productive hours. Divide them by all hours of the run.": right * events[-1]["hours"],
        "That is the share that was wasted.": 1 - right,
    }
    words, wrong = min(
        mistakes.items(), key=lambda mistake: abs(found - mistake[1])
    )  # some lie close together
    why = words if abs(found - wrong) <= TOLERANCE * wrong else OF_WHAT
    last = events[-1]
    told = f"You get {found:.4g} for a run of {last['step']} steps of {per_step} h in {last['hours']:.2f} h."
    return ETTR.failed(f"{told} {why}".rstrip(), RATIO)


LOST = Check("lost_steps", "E1 Lost steps", 2, _draw, _measure_lost, _judge_lost)
ETTR = Check("ettr", "E2 Effective training time", 2, _draw, _measure_ettr, _judge_ettr)
