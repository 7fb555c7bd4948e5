"""The table of lesson 18: what comes back, framework by framework."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from docs.frameworks.results import Result, Seen
from lastgood.recovery.resuming import KEPT

LESSON = "course/lessons/18_what_a_checkpoint_has_to_hold.md"
BEGIN, END = "<!-- make frameworks -->", "<!-- end -->"
COLUMNS = {
    "parameters, optimizer state": ("parameters", "buffers", "optimizer"),
    "step, schedule": ("step", "schedule"),
    "data loader": ("data loader",),
    "RNG state": ("Python RNG", "NumPy RNG", "torch RNG", "CUDA RNG"),
}


def table(results: Sequence[Result]) -> str:
    """Markdown, with the versions and the date below."""
    lines = [f"| framework | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 1) + "|"]
    for result in results:
        cells = [_cell(result.findings, parts) for parts in COLUMNS.values()]
        lines.append(f"| {result.title} | {' | '.join(cells)} |")
    versions = sorted({f"{result.package} {result.version}" for result in results}, key=str.lower)
    dates = sorted({result.date for result in results})
    made = f"Versions: `{'`, `'.join(versions)}`; on `{'`, `'.join(dates)}`."
    return "\n".join([*lines, "", made])


def _cell(findings: Sequence[Seen], parts: Sequence[str]) -> str:
    """The worst of its parts: lost, or kept though no file holds it, or kept."""
    mine = [finding for finding in findings if finding.component in parts]
    lost = [finding for finding in mine if finding.status != KEPT]
    if lost:
        some = "" if len(lost) == len(mine) else " in part"
        unused = ", though in the file" if all(finding.in_file == "held" for finding in lost) else ""
        return f"**lost{some}**{unused}"
    if any(finding.in_file != "held" for finding in mine):
        return "back, by other means"
    return "back"


def put(text: str, rows: str) -> str:
    """The lesson with these rows between its marks."""
    head, begun, rest = text.partition(BEGIN)
    _, ended, tail = rest.partition(END)
    if not begun or not ended:
        raise ValueError(f"{LESSON} has no lines {BEGIN} and {END}")
    return f"{head}{BEGIN}\n\n{rows}\n\n{END}{tail}"


def refresh(root: Path, results: Sequence[Result]) -> None:
    """Put the table into the lesson."""
    lesson = root / LESSON
    lesson.write_text(put(lesson.read_text(encoding="utf-8"), table(results)), encoding="utf-8")
