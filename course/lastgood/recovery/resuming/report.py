"""What an audit found."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

KEPT, LOST, BROKEN, UNSTABLE = "kept", "lost", "lost the second time", "not compared"


@dataclass(frozen=True)
class Finding:
    """One component: did it come back, and does the checkpoint's file hold it?"""

    component: str
    status: str
    why: str = ""
    in_file: str = ""  # held, missing, cannot be told; empty where `lastgood inspect` has no such component
    effect: str = ""  # on a resume, where it is lost and known to the course
    lesson: str = ""


@dataclass(frozen=True)
class Report:
    """A run that was killed and resumed, beside one that was not."""

    module: str
    before: int  # steps until the save
    after: int  # steps of the resumed run
    findings: list[Finding] = field(default_factory=list)  # empty without observe
    first_step: int | None = None  # that differs, counted from the run's start
    expected: list[float] = field(default_factory=list)  # losses after the save
    found: list[float] = field(default_factory=list)
    second_step: int | None = None  # that differs after a second resume, where the first one was right
    stopped: str = ""  # what raised, or did not return
    detail: str = ""  # its traceback, or the last of what was printed
    writer: str = ""  # of the checkpoint, as `lastgood inspect` recognises it
    bytes: int = 0  # of the checkpoint
    notes: list[str] = field(default_factory=list)

    @property
    def lost(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.status in (LOST, BROKEN)]

    @property
    def differs(self) -> bool:
        """Whether a component or a step is another one than without the kill."""
        return bool(self.lost) or self.first_step is not None or self.second_step is not None

    @property
    def status(self) -> int:
        """0: it resumes as if it had not been killed. 1: it does not."""
        return int(self.differs or bool(self.stopped))

    def as_data(self) -> dict[str, Any]:
        """Plain data, for JSON, which has no number for what is infinite or none: those are words."""
        losses = {"expected": _numbers(self.expected), "found": _numbers(self.found)}
        return {"status": self.status, **asdict(self), **losses}


def _numbers(losses: list[float]) -> list[float | str]:
    return [loss if math.isfinite(loss) else repr(loss) for loss in losses]
