"""Lab 20, part C: one life of a run by the clock, compared with the library's event loop run for run."""

from __future__ import annotations

import random
from typing import Any

from lastgood.recovery.simulate import Life, event_loop
from lastgood.teaching.checks import exact
from lastgood.teaching.checks.core import NOT_WRITTEN, Check, Data, number
from lastgood.teaching.checks.lab20.beliefs import BELIEFS, RESTART, SAVE, WORK, Belief, Numbers, live
from lastgood.teaching.checks.lab20.own import UNENDED, asked, refused
from lastgood.teaching.checks.lab20.passages import ONE_LIFE
from lastgood.teaching.checks.report import Part, Report, part

EXACT = 1e-6  # relative: hours are sums of a few numbers
DRAWN = 40
BY_HAND = (
    "Live this one by hand, as in the picture above: at each failure, what is under way, how much work is "
    "saved, and when does the restart end?"
)

# What a part's failures may strike, and what at least one of them must.
PARTS: dict[str, tuple[set[str], str]] = {
    "nothing strikes": (set(), ""),
    "failures during work": ({WORK}, WORK),
    "failures during saves": ({WORK, SAVE}, SAVE),
    "failures during restarts": ({WORK, RESTART}, RESTART),
    "drawn failure times": ({WORK, SAVE, RESTART}, ""),
}

# Beliefs that each case with failures gives the lie to, and each case in which something is struck.
SHOWN_ANYWHERE = (Belief(keeps="nothing"), Belief(clock_restarts=True))
SHOWN_WHERE = {SAVE: (Belief(saves_exposed=False),), RESTART: (Belief(restarts_exposed=False),)}


def _draw(seed: int) -> Data:
    """For each part, cases of [work, interval, save, restart, failures]. Hours that floats hold exactly."""
    source = random.Random(seed)
    cases: dict[str, list[list[Any]]] = {}
    for title, (allowed, wanted) in PARTS.items():
        if title == "drawn failure times":
            cases[title] = [_case(source, gap=2.0) for _ in range(DRAWN)]
        else:
            cases[title] = [_striking(source, allowed, wanted, remainder) for remainder in (0.0, 0.5, 0.0)]
    return {"cases": cases}


def _case(source: random.Random, gap: float, remainder: float | None = None) -> list[Any]:
    """A run, and failures that come once in `gap` of its intervals; they may go on after its end."""
    interval = source.choice([1.0, 1.5, 2.0])
    rest = source.choice([0.0, 0.5]) if remainder is None else remainder
    work = interval * source.randrange(3, 7) + rest
    times, now = [], 0.0
    while now < 4 * work:
        now += source.expovariate(1 / (gap * interval))
        times.append(round(now, 3))
    return [work, interval, source.choice([0.25, 0.5]), source.choice([0.75, 1.0]), times]


def _striking(source: random.Random, allowed: set[str], wanted: str, remainder: float) -> list[Any]:
    """A run with two or three failures that strike what they may; with none, where that is nothing."""
    telling = [*SHOWN_ANYWHERE, *SHOWN_WHERE.get(wanted, ())]
    for _ in range(10_000):  # one in some tens will do
        *numbers, times = _case(source, gap=2.0, remainder=remainder)
        failures = times[: source.randrange(2, 4)] if allowed else []
        hours, struck = live(Numbers(*numbers), failures)
        fits = set(struck) <= allowed and len(struck) == len(failures) and (wanted in struck or not wanted)
        told_apart = all(live(Numbers(*numbers), failures, belief)[0] != hours for belief in telling)
        if fits and (told_apart or not allowed):
            return [*numbers, failures]
    raise RuntimeError(f"no failures found that strike {wanted}")


def right(case: list[Any]) -> float:
    """The hours by the clock, by the library's event loop."""
    work, interval, save, restart, failures = case
    life = Life(work, interval, save, restart_hours=restart)
    return event_loop(life, failures).wall_hours


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    fault = refused(names["0"])
    if fault:
        return {"error": fault}
    parts: dict[str, Data] = {}
    for title, cases in inputs["cases"].items():
        endless = [answer for answer in parts.values() if UNENDED in answer.get("error", "")]
        # Waiting once is enough: a loop without end would be waited for in every part.
        parts[title] = {**endless[0], "hours": []} if endless else _answers(names["0"], cases)
    return {"parts": parts}


def _answers(function: Any, cases: list[list[Any]]) -> Data:
    """The function's hours in each case, up to the first in which it gives none."""
    hours: list[float] = []
    for *numbers, failures in cases:
        value, fault = asked(function, *numbers, list(failures))
        figure, not_one = (0.0, "") if fault else number(value)
        if fault or not_one:
            return {"hours": hours, "error": fault or not_one}
        hours.append(figure)
    return {"hours": hours}


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return WALL.failed(data["error"])
    answers = exact.under(data["parts"], PARTS)
    errors = [answer.get("error", "") for answer in answers.values()]
    if all(errors):
        first = next(iter(PARTS))
        case = inputs["cases"][first][len(answers[first]["hours"])]
        why = errors[0] if errors[0] == NOT_WRITTEN else f"{errors[0]}\n{_given(case)}"
        return WALL.failed(why, ONE_LIFE)
    worth = WALL.worth / len(PARTS)
    return Report(
        WALL.exercise, tuple(_part(title, worth, inputs["cases"][title], answers[title]) for title in PARTS)
    )


def _part(title: str, worth: float, cases: list[list[Any]], answer: Data) -> Part:
    # Up to the first case in which there was none, or one for each.
    some = answer["hours"]
    hours = exact.numbers(some, len(some) if "error" in answer and len(some) < len(cases) else len(cases))
    for case, given in zip(cases[: len(hours)], hours, strict=True):
        if not _same(given, right(case)):
            told = "" if "error" in answer else _belief(cases, hours) or BY_HAND
            return part(title, worth, f"{_shown(case, given)}\n{told}".strip(), ONE_LIFE)
    if "error" in answer:
        return part(title, worth, f"{answer['error']}\n{_given(cases[len(hours)])}", ONE_LIFE)
    return part(title, worth, "")


def _belief(cases: list[list[Any]], hours: list[float]) -> str:
    """The belief that explains every answer of a part, if one does."""
    for sentence, belief in BELIEFS.items():
        lived = (live(Numbers(*numbers), failures, belief)[0] for *numbers, failures in cases)
        if all(_same(given, other) for given, other in zip(hours, lived, strict=True)):
            return sentence
    return ""


def _shown(case: list[Any], given: float) -> str:
    return f"{_given(case)}: you get {given:.6g} h, and {right(case):.6g} h is right."


def _given(case: list[Any]) -> str:
    work, interval, save, restart, failures = case
    within = [time for time in failures if time < right(case)]
    times = ", ".join(f"{time:g}" for time in within[:8]) + (", …" if len(within) > 8 else "")
    strikes = f"failures at {times} h" if times else "no failure"
    return f"With {work:g} h of work, interval {interval:g}, save {save:g}, restart {restart:g}, {strikes}"


def _same(given: float, wanted: float) -> bool:
    return abs(given - wanted) <= EXACT * wanted


WALL = Check("wall_hours", "C2 One life by the clock", 5, _draw, _measure, _judge)
