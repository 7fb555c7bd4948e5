"""Which hints and solutions a learner has asked for: kept in the progress file, under a key of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lastgood.exercises import Exercise
from lastgood.teaching.study import store
from lastgood.teaching.study.record import Points
from lastgood.teaching.study.store import Content

_KEY = "asked"


@dataclass(frozen=True)
class Asked:
    """What is known of an exercise.

    Attributes:
        hints: how many were shown.
        solution: whether the solution was asked for.
        solved: whether all points were earned at the last check.
    """

    hints: int = 0
    solution: bool = False
    solved: bool = False


def so_far(lab: str, exercise: Exercise) -> Asked:
    """What has been asked so far. Never raises."""
    content = store.look().content
    entry = _entry(content, lab, exercise)
    hints = entry.get("hints")
    points = content["labs"].get(lab, {}).get("exercises", {}).get(exercise.graded)
    return Asked(
        hints if type(hints) is int and hints > 0 else 0,
        isinstance(entry.get("solution"), str),
        points is not None and Points(points["earned"], points["possible"]).full and points["possible"] > 0,
    )


def keep_hints(lab: str, exercise: Exercise, shown: int) -> None:
    """Keep that so many hints were shown. Raises StoreError."""
    _change(lab, exercise, lambda entry: entry.update(hints=shown))


def keep_solution(lab: str, exercise: Exercise) -> None:
    """Keep that the solution was asked for. Raises StoreError."""
    _change(lab, exercise, lambda entry: entry.update(solution=store.now()))


def _change(lab: str, exercise: Exercise, edit: Callable[[dict[str, Any]], None]) -> None:
    def edit_whole(content: Content) -> None:
        entry = _entry(content, lab, exercise)
        edit(entry)
        labs = _object(content.get(_KEY))
        content[_KEY] = {**labs, lab: {**_object(labs.get(lab)), exercise.graded: entry}}

    store.change(edit_whole)


def _entry(content: Content, lab: str, exercise: Exercise) -> dict[str, Any]:
    """What the file has on an exercise, whatever somebody wrote there by hand."""
    return dict(_object(_object(_object(content.get(_KEY)).get(lab)).get(exercise.graded)))


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
