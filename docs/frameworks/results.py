"""What the audits found, and of which versions."""

from __future__ import annotations

import datetime
import json
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from lastgood.recovery.resuming import audit

HERE = Path(__file__).resolve().parent
FILE = HERE / "results.json"


@dataclass(frozen=True)
class Case:
    """One row: how a framework is used, and the run that uses it so."""

    title: str
    run: str
    package: str


@dataclass(frozen=True)
class Seen:
    """What became of a component, and what `lastgood inspect` said of the file."""

    component: str
    status: str
    in_file: str


@dataclass(frozen=True)
class Result:
    """One audit."""

    title: str
    package: str
    version: str
    date: str
    findings: list[Seen]


def measured(case: Case) -> Result:
    """Audit the case's run now, with what is installed. Raises AuditError where nothing can be said."""
    report = audit(str(HERE / "runs" / case.run))
    if report.stopped:
        raise RuntimeError(f"{case.run}: {report.stopped}\n{report.detail}")
    today = datetime.date.today().isoformat()
    found = version(case.package).partition("+")[0]
    seen = [Seen(finding.component, finding.status, finding.in_file) for finding in report.findings]
    return Result(case.title, case.package, found, today, seen)


def write(results: list[Result]) -> None:
    """Keep them for the table."""
    FILE.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n", encoding="utf-8")


def read() -> list[Result]:
    """What was kept last."""
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    return [Result(**{**one, "findings": [Seen(**each) for each in one["findings"]]}) for one in kept]
