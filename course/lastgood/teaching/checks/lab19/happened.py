"""Lab 19, part A: what became of a process, from its exit status and its heartbeats."""

from __future__ import annotations

import random
import signal
from typing import Any

from lastgood.recovery.job import PATIENCE, START_PATIENCE
from lastgood.teaching.checks.core import Check, Data, attempt, borrowed
from lastgood.teaching.checks.lab19.passages import DEAD, LOOKS_ALIVE
from lastgood.teaching.checks.lab19.reference import what_happened
from lastgood.teaching.checks.report import Report, part

ENDED, NO_STATUS = "a process that has ended", "a process without an exit status"
_SIGNALS = (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV)


def _draw(seed: int) -> Data:
    """Cases of (exit status, seconds of silence, heartbeats)."""
    source = random.Random(seed)

    def beats() -> int:
        return source.randrange(1, 500)

    statuses = [
        0,
        -signal.SIGKILL,
        -source.choice(_SIGNALS),
        -signal.SIGTERM,
        1,
        source.randrange(2, 120),
    ]
    ended = [[int(status), source.uniform(2, 9) * START_PATIENCE, beats()] for status in statuses]
    ended.append([-9, PATIENCE / 2, 0])
    between = PATIENCE + source.uniform(0.3, 0.7) * (START_PATIENCE - PATIENCE)
    running = [[None, source.uniform(0, 0.8) * PATIENCE, beats()], [None, between, 0]]
    hung = [[None, between, beats()], [None, source.uniform(1.2, 3) * START_PATIENCE, 0]]
    return {"cases": ended + running + hung}


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    answers = []
    for case in inputs["cases"]:
        value, fault = (None, refused) if (refused := borrowed(names["0"])) else attempt(names["0"], *case)
        if fault:
            return {"error": fault}
        answers.append(value if isinstance(value, str) else repr(value))
    return {"answers": answers}


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return HAPPENED.failed(data["error"])
    faults = {ENDED: "", NO_STATUS: ""}
    for case, answer in zip(inputs["cases"], data["answers"], strict=True):
        title = NO_STATUS if case[0] is None else ENDED
        faults[title] = faults[title] or _fault(case, answer)
    parts = (part(ENDED, 2, faults[ENDED], DEAD), part(NO_STATUS, 2, faults[NO_STATUS], LOOKS_ALIVE))
    return Report(HAPPENED.exercise, parts)


def _fault(case: list[Any], answer: str) -> str:
    right = what_happened(*case)
    if answer == right:
        return ""
    status, silence, beats = case
    given = f"Exit status {status}, {silence:.2f} s of silence, {beats} heartbeats"
    return f"{given}: you say {answer!r}, and it is {right!r}. {_why(case, answer, right)}".rstrip()


def _why(case: list[Any], answer: str, right: str) -> str:
    status, _, beats = case
    if status is not None and answer in ("hung", "running"):
        return "Whoever has ended is silent, too: look at the exit status first."
    if right == "left":
        return "SIGTERM asks a process to leave. It left, and nothing is wrong with it."
    if right.startswith("killed") and answer == "failed":
        return "A negative exit status is a signal's number: somebody else ended the process."
    if right == "failed" and answer.startswith("killed"):
        return "A positive exit status is the program's own: an error, not a signal."
    if right == "running" and not beats:
        return (
            "It has not given its first heartbeat yet, and a start takes longer than a step: START_PATIENCE."
        )
    if right == "hung" and not beats:
        return "A start can hang, too. Without a limit you would wait for ever."
    if right.startswith("killed"):
        return f"The text has the signal's name: signal.Signals({-status}).name."
    if right == "running":
        return "Such a silence is nothing unusual. PATIENCE is the longest one between two heartbeats."
    if right == "hung":
        return "Nobody will tell you more: without a limit you would wait for ever."
    return "The table before the blank lists the texts."


HAPPENED = Check("what_happened", "A What happened", 4, _draw, _measure, _judge)
