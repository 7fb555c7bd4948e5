"""What is done of the course, row by row, and what comes next: for the notebook and for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lastgood.teaching.study.outline import Stage
from lastgood.teaching.study.record import Progress

LEGEND: Final = (
    "Points are those of the last Validate. Written answers are read by a person and have none here. "
    "A lesson's minutes are for reading."
)


@dataclass(frozen=True)
class Row:
    """A lesson or lab, and what a learner has done of it, in words; empty where that is nothing."""

    stage: Stage
    status: str
    done: bool
    begun: bool


def status(row: Row, coming: Row | None) -> str:
    """What is said of a row; of the one that comes next, that too."""
    return " ".join(filter(None, [row.status, "← next" if row is coming else ""]))


def rows(stages: Sequence[Stage], progress: Progress) -> list[Row]:
    """A row for each stage, in their order."""
    return [(_lab if stage.kind == "lab" else _lesson)(stage, progress) for stage in stages]


def ticked(stage: Stage, progress: Progress) -> tuple[int, int]:
    """How many reps of a lesson are ticked, and how many were before they were reworded."""
    kept = progress.ticked.get(stage.number, frozenset())
    current = {rep.key for rep in stage.reps}
    return len(kept & current), len(kept - current)


def _lesson(stage: Stage, progress: Progress) -> Row:
    read = stage.number in progress.read
    reps, _ = ticked(stage, progress)
    words = ["✓ read"] if read else []
    if reps:
        words.append(f"{reps} of {len(stage.reps)} reps")
    return Row(stage, ", ".join(words), read, bool(words))


def _lab(stage: Stage, progress: Progress) -> Row:
    points = progress.points.get(stage.lab)
    if points is None:
        return Row(stage, "", False, False)
    return Row(stage, f"{'✓ ' if points.full else ''}{points}", points.full, True)


def next_row(found: Sequence[Row]) -> Row | None:
    """What comes next: the first that is not done, counted from the furthest that was begun.

    So whoever began with lesson 18 is sent back to lab 00 only in the end. None where all is done.
    """
    furthest = max((place for place, row in enumerate(found) if row.begun), default=0)
    return next((row for row in [*found[furthest:], *found[:furthest]] if not row.done), None)


def what_next(found: Sequence[Row]) -> list[str | Stage]:
    """What comes next: a sentence in pieces, where a stage stands for its name and a link to it."""
    row = next_row(found)
    if row is None:
        return ["Every lesson is read, and every lab has its points."]
    if any(one.begun for one in found):
        return ["Next: ", row.stage, f", {row.stage.title}" * (row.stage.kind == "lesson"), "."]
    lesson = next((one.stage for one in found if one.stage.kind == "lesson"), row.stage)
    if row.stage is lesson:
        return ["Begin with ", lesson, "."]
    return ["Begin with ", row.stage, ", or, if you have written a GPT yourself, with ", lesson, "."]
