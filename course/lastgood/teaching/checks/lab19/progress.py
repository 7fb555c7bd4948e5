"""Lab 19, part C: deaths in a row that brought no new step."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from lastgood.teaching.checks.core import Check, Data, attempt, borrowed
from lastgood.teaching.checks.lab19.passages import FOR_EVER
from lastgood.teaching.checks.lab19.reference import no_progress
from lastgood.teaching.checks.report import Report, part


def _draw(seed: int) -> Data:
    """Histories: the step that each process had reached when it died. They tell the mistakes apart."""
    source = random.Random(seed)
    a, b, c = sorted(source.sample(range(20, 400), 3))
    return {
        "histories": [
            [a, b, b, b],  # a poison step
            [a, b, b, c],  # progress after all
            [a, a, b, a, a + 1],  # further than the one before, and not further than before
            [a, a, a, b, b],  # two stretches of them: only the last one counts
            [a, c, b],
            [a],
            [],
            [0, 0],  # not one step was ever done
        ]
    }


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    answers = []
    for history in inputs["histories"]:
        refused = borrowed(names["0"])
        value, fault = (None, refused) if refused else attempt(names["0"], list(history))
        if fault:
            return {"error": f"{fault} (for {history})" if value is None and "raised" in fault else fault}
        answers.append(value if isinstance(value, int) else repr(value))
    return {"answers": answers}


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return PROGRESS.failed(data["error"])
    answers = list(zip(inputs["histories"], data["answers"], strict=True))
    wrong = [(history, answer) for history, answer in answers if answer != no_progress(history)]
    if not wrong:
        return Report(PROGRESS.exercise, (part("deaths without progress", PROGRESS.worth, ""),))
    history, answer = wrong[0]
    told = f"The processes died at steps {history}: you say {answer}, and it is {no_progress(history)}."
    why = next((words for words, mistake in MISTAKES.items() if all(mistake(h) == a for h, a in answers)), "")
    return PROGRESS.failed(f"{told} {why or _why(history)}", FOR_EVER)


def _why(history: list[int]) -> str:
    """Why `no_progress` of a history is what it is, where the mistake is none of those below."""
    if not history:
        return "Nobody has died yet."
    furthest, last = max(history), len(history) - no_progress(history)
    if not last:
        return "The job begins at step 0, and no process got past it."
    if last == len(history):
        return "The last process got further than all before it."
    return f"Process {last} got further than all before it, to step {furthest}. Count those after it."


def _in_a_row(history: list[int], futile: Callable[[list[int], int], bool]) -> int:
    """Count from the end, as long as `futile(steps before, step)` holds."""
    count = 0
    for place in range(len(history) - 1, -1, -1):
        if not futile(history[:place], history[place]):
            break
        count += 1
    return count


MISTAKES: dict[str, Callable[[list[int]], int]] = {
    "You count every death. One after new steps is no reason to give up: it starts the count anew.": len,
    "You compare with the process before. Compare with the furthest step of all processes before.": (
        lambda history: _in_a_row(history, lambda before, step: step <= (before or [0])[-1])
    ),
    "You count deaths at one and the same step. Dying earlier is no progress either.": (
        lambda history: _in_a_row(history, lambda before, step: step == max(before, default=0))
    ),
    "You count all that brought nothing, not those in a row: progress starts the count anew.": (
        lambda history: sum(step <= max(history[:k], default=0) for k, step in enumerate(history))
    ),
    "You count one too many: the first death at a step did bring that step.": (
        lambda history: no_progress(history) + bool(history)
    ),
    "Nothing was done before the first step: a process that dies at step 0 has brought nothing.": (
        lambda history: _in_a_row(history, lambda before, step: step <= max(before, default=-1))
    ),
}

PROGRESS = Check("no_progress", "C Deaths without progress", 2, _draw, _measure, _judge)
