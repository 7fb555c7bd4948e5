"""What `inspect` found, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from lastgood.recovery.inspect.effects import LESSONS

HELD, MISSING, UNCLEAR = "held", "missing", "cannot be told"
COMPLETE, INCOMPLETE, REFUSED = 0, 1, 2


@dataclass
class Finding:
    """One component: is it there, how much of it, and where?"""

    component: str
    status: str
    detail: str = ""
    tensors: int = 0
    bytes: int = 0
    dtypes: dict[str, int] = field(default_factory=dict)
    where: list[str] = field(default_factory=list)
    effect: str = ""  # on a resume, where it is missing
    lesson: str = ""


@dataclass
class File:
    """A file that was read."""

    name: str
    bytes: int
    format: str


@dataclass
class Report:
    """A checkpoint, described."""

    path: str
    writer: str
    because: list[str]
    bytes: int
    files: list[File]
    findings: list[Finding]
    faults: list[str]  # what makes it incomplete
    notes: list[str]
    classes: list[str]  # that loading it in full would import
    dangers: list[str]  # functions that loading it in full could call

    @property
    def status(self) -> int:
        """0: complete. 1: something is missing. 2: not to be loaded."""
        if self.dangers:
            return REFUSED
        missing = any(finding.status == MISSING for finding in self.findings)
        return INCOMPLETE if self.faults or missing else COMPLETE

    @property
    def missing(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.status == MISSING]

    def __getitem__(self, component: str) -> Finding:
        return next(finding for finding in self.findings if finding.component == component)

    def as_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        lessons = {finding.lesson: LESSONS[finding.lesson] for finding in self.missing}
        return {"status": self.status, **asdict(self), "lessons": lessons}
