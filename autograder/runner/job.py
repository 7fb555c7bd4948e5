"""What goes to a worker, and what comes back: plain data, whatever way it travels."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from autograder.runner.parcel import Entry


@dataclass(frozen=True)
class Job:
    """A submission to be graded.

    `root` is the course's folder as the worker sees it, `blank` the private gradebook's bytes, `release` a
    name for what graders and labs there must be.
    """

    root: str
    lab: str
    student: str
    parcel: tuple[Entry, ...]
    blank: bytes
    release: str


@dataclass(frozen=True)
class Score:
    """What the grader gives a graded cell: points, or None where a person has to."""

    notebook: str
    cell: str
    points: float | None


@dataclass(frozen=True)
class Remark:
    """What the grader says of a cell that a learner wrote, or nothing."""

    notebook: str
    cell: str
    text: str | None


@dataclass(frozen=True)
class Outcome:
    """What became of a submission. With a `fault` it was not graded, and there is nothing else in it.

    `files` are those of its autograded folder, by path, and `mode` their permissions; `seconds` is what it
    took, `log` what nbgrader said, `notes` what the intake did.
    """

    student: str
    seconds: float = 0.0
    log: str = ""
    fault: str = ""
    files: tuple[tuple[str, bytes], ...] = ()
    mode: int = 0o444
    submitted: datetime | None = None
    scores: tuple[Score, ...] = ()
    remarks: tuple[Remark, ...] = ()
    notes: tuple[str, ...] = ()
