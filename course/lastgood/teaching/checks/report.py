"""What a learner reads after a check: points and a reason for each part, as text and as HTML."""

from __future__ import annotations

import html
import os
import textwrap
from dataclasses import dataclass, field

COLUMNS = 96  # Validate's dialog does not wrap
METADATA = "lastgood"  # of an output: the points of a report that is then raised


@dataclass(frozen=True)
class Part:
    """One thing to be tested. `points` of `worth` were earned; `why` says what a learner can act on."""

    title: str
    points: float
    worth: float
    why: str = ""
    reread: str = ""
    pending: bool = False  # not written yet, or not tested yet: nothing that could be called lost

    def __post_init__(self) -> None:
        # A reason may quote what came from where the learner's code ran, and that may be anything.
        if not isinstance(self.why, str):
            raise TypeError(f"{self.title}: a reason is a text, not a {type(self.why).__name__}")

    @property
    def passed(self) -> bool:
        return self.points >= self.worth


def part(title: str, worth: float, fault: str, reread: str = "") -> Part:
    """All of `worth` where there is no fault, else nothing and the fault as the reason."""
    return Part(title, 0.0 if fault else worth, worth, fault, reread if fault else "")


def untested(title: str, worth: float, why: str) -> Part:
    """A part that waits for another one; `why` says for what."""
    return Part(title, 0.0, worth, f"Not tested yet. {why}", pending=True)


@dataclass(frozen=True)
class Report:
    """The outcome of one exercise. Its `repr` is its points, which is what nbgrader reads."""

    exercise: str
    parts: tuple[Part, ...]
    note: str = ""
    figure: str = field(default="", repr=False)  # SVG

    @property
    def worth(self) -> float:
        return sum(p.worth for p in self.parts)

    @property
    def points(self) -> float:
        """Points earned, from 0 to `worth`."""
        return min(self.worth, max(0.0, sum(p.points for p in self.parts)))

    @property
    def passed(self) -> bool:
        return all(p.passed for p in self.parts)

    def __repr__(self) -> str:
        return f"{self.points:g}"

    @property
    def _rereadings(self) -> list[str]:
        """Each passage once, however many parts point to it."""
        return list(dict.fromkeys(p.reread for p in self.parts if p.reread))

    def text(self) -> str:
        """The report in plain text, for terminals and for Validate."""
        lines = [f"{self.exercise}: {self.points:g} of {self.worth:g} points"]
        for p in self.parts:
            lines.append(f"  {_WORD[_fate(p)]} {p.title} ({p.points:g} of {p.worth:g})")
            lines += _wrapped(p.why, "       ")
        lines += _wrapped(self.note, "  ")
        return "\n".join(lines + [line for p in self._rereadings for line in _wrapped(f"Reread: {p}", "  ")])

    def _repr_html_(self) -> str:
        head = f"{'✓ ' if self.passed else ''}{self.exercise}: {self.points:g} of {self.worth:g} points"
        note = f"<p style='{_LINE}'>{html.escape(self.note)}</p>" if self.note else ""
        reread = "".join(
            f"<p style='{_LINE}'><em>Reread: {html.escape(passage)}</em></p>" for passage in self._rereadings
        )
        return (
            f"<div class='lastgood-report'><p style='{_LINE}'><strong>{html.escape(head)}</strong></p>"
            f"{self._table()}{note}{self.figure}{reread}</div>"
        )

    def _table(self) -> str:
        """A row for each part. What an only part would say again after the head is left out."""
        alone = len(self.parts) == 1
        if alone and self.passed:
            return ""
        rows = "".join(
            f"<tr><td style='{_CELL};white-space:nowrap'>{_MARK[_fate(p)]}</td>"
            f"<td style='{_CELL}'>{_prose(p, titled=not alone)}</td>"
            + ("" if alone else f"<td style='{_CELL};white-space:nowrap'>{p.points:g} of {p.worth:g}</td>")
            + "</tr>"
            for p in self.parts
        )
        return f"<table style='max-width:700px;margin:0 0 8px'>{rows}</table>"


_LINE = "margin:0 0 8px"  # Validate's dialog has margins of its own, JupyterLab's output has others
_CELL = "text-align:left;vertical-align:top;padding:4px 8px"


_WORD = {"ok": "ok  ", "lost": "LOST", "not yet": "--  "}
_MARK = {"ok": "✓ ok", "lost": "✗ lost", "not yet": "○ not yet"}


def _fate(p: Part) -> str:
    return "ok" if p.passed else "not yet" if p.pending else "lost"


def _prose(p: Part, *, titled: bool) -> str:
    # A grader that reads the table finds the title all the same.
    title = f"<strong{'' if titled else ' hidden'}>{html.escape(p.title)}</strong>"
    lines = [html.escape(line) for line in p.why.splitlines()]
    return title + ("<br>" if titled and lines else "") + "<br>".join(lines)


def _wrapped(text: str, indent: str) -> list[str]:
    return [
        line
        for paragraph in text.splitlines()
        for line in textwrap.wrap(
            paragraph, COLUMNS, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
        )
    ]


class CheckFailed(Exception):
    """Carries a report through nbgrader's Validate, which shows an exception's text and nothing else."""

    def __init__(self, report: Report) -> None:
        super().__init__(report.text())
        self.report = report

    def _render_traceback_(self) -> list[str]:
        return str(self).split("\n")


def deliver(report: Report) -> Report:
    """Hand a report to whoever runs the cell: returned, or raised as text where Validate would show no value.

    Raises CheckFailed under Validate where points are missing.
    """
    if os.environ.get("NBGRADER_EXECUTION") == "validate" and not report.passed:
        _show(report)
        raise CheckFailed(report)
    return report


def _show(report: Report) -> None:
    from IPython.display import HTML, display  # the rich form stays among the cell's outputs

    display(HTML(report._repr_html_()), metadata={METADATA: {"points": report.points}})
