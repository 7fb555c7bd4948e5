"""What is kept of a learner's work: lessons read, reps ticked, the points of each lab's last validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lastgood.teaching.study import store
from lastgood.teaching.study.outline import Rep
from lastgood.teaching.study.store import Content, Found


@dataclass(frozen=True)
class Points:
    """Points of an exercise or of a lab. Written answers, which a person reads, have none here."""

    earned: float
    possible: float

    @property
    def full(self) -> bool:
        return self.earned >= self.possible

    def __str__(self) -> str:
        return f"{self.earned:g} of {self.possible:g} points"


@dataclass(frozen=True)
class Progress:
    """What a learner has done, and what has to be said about the file that holds it.

    Attributes:
        read: numbers of the lessons read, such as "18".
        ticked: for a lesson's number, the keys of its reps that were ticked, reworded ones among them.
        points: for a lab's name, such as "lab18", those of its last validation.
        notes: sentences, such as that a damaged file was set aside.
    """

    read: frozenset[str]
    ticked: Mapping[str, frozenset[str]]
    points: Mapping[str, Points]
    notes: tuple[str, ...] = ()


def so_far() -> Progress:
    """What has been done so far. Never raises."""
    return _progress(store.look())


def mark_read(lesson: str, done: bool) -> Progress:
    """Keep that a lesson was read, or that it was not after all. Raises StoreError."""

    def edit(content: Content) -> None:
        entry = content["lessons"].setdefault(lesson, {})
        if done:
            entry["read"] = store.now()
        else:
            entry.pop("read", None)

    return _progress(store.change(edit))


def mark_rep(lesson: str, rep: Rep, done: bool) -> Progress:
    """Keep that a rep of a lesson was done, or that it was not after all. Raises StoreError."""

    def edit(content: Content) -> None:
        reps = content["lessons"].setdefault(lesson, {}).setdefault("reps", {})
        if done:
            reps[rep.key] = {"done": store.now(), "text": rep.label}
        else:
            reps.pop(rep.key, None)

    return _progress(store.change(edit))


def keep_points(lab: str, exercises: Mapping[str, Points]) -> Progress:
    """Keep what a validation found, in place of what the one before it found. Raises StoreError."""

    def entry(points: Points) -> dict[str, float]:
        return {"earned": _short(points.earned), "possible": _short(points.possible)}

    whole = Points(sum(p.earned for p in exercises.values()), sum(p.possible for p in exercises.values()))
    each = {name: entry(points) for name, points in exercises.items()}

    def edit(content: Content) -> None:
        content["labs"].setdefault(lab, {}).update(validated=store.now(), **entry(whole), exercises=each)

    return _progress(store.change(edit))


def _short(points: float) -> float:
    """For those who read the file: 3, not 3.0, and no tail of nines."""
    rounded = round(points, 6)
    return int(rounded) if rounded == int(rounded) else rounded


def _progress(found: Found) -> Progress:
    lessons, labs = found.content["lessons"], found.content["labs"]
    return Progress(
        read=frozenset(number for number, entry in lessons.items() if "read" in entry),
        ticked={number: frozenset(entry.get("reps", {})) for number, entry in lessons.items()},
        points={name: Points(entry["earned"], entry["possible"]) for name, entry in labs.items()},
        notes=found.notes,
    )
