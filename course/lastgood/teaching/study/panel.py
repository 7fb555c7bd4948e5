"""The map of the course in a notebook: a table with links, and what comes next.

It is plain HTML, no widget: the links of a widget reload the whole page.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final
from urllib.parse import quote

from lastgood.teaching.study import record
from lastgood.teaching.study.outline import Stage, outline
from lastgood.teaching.study.overview import LEGEND, Row, next_row, rows, status, what_next
from lastgood.workspace import WORK, find_root

_CELL: Final = "text-align:left;vertical-align:top;padding:3px 16px 3px 0;white-space:normal"
_LINE: Final = "margin:8px 0 0;max-width:700px;line-height:1.45"
_QUIET: Final = "opacity:.75"


@dataclass(frozen=True)
class Panel:
    """What `progress()` returns: as HTML in a notebook, as text elsewhere.

    Attributes:
        found: what has been done of each lesson and lab.
        notes: what has to be said about the file that holds it.
        root: the course's.
        here: the folder from which links lead.
    """

    found: Sequence[Row]
    notes: tuple[str, ...]
    root: Path
    here: Path

    def _repr_html_(self) -> str:
        coming = next_row(self.found)
        lines = "".join(_row(row, self._link(row.stage, title=True), coming) for row in self.found)
        ahead = [piece if isinstance(piece, str) else self._link(piece) for piece in self._what_next()]
        notes = "".join(f"<p style='{_LINE}'><b>{escape(note)}</b></p>" for note in self.notes)
        return (
            f"<div class='lastgood-progress'><table style='margin:0;border-collapse:collapse'>{lines}</table>"
            f"<p style='{_LINE}'>{''.join(ahead)}</p>{notes}"
            f"<p style='{_LINE};{_QUIET}'>{LEGEND} This is how it was when the cell was run: "
            "run it again to see what has come since.</p></div>"
        )

    def __repr__(self) -> str:
        lines = [
            f"{row.stage.name:<10} {row.stage.minutes:>8} min  {row.stage.title}"
            + (f" ({row.status})" if row.status else "")
            for row in self.found
        ]
        ahead = "".join(piece if isinstance(piece, str) else piece.name for piece in what_next(self.found))
        return "\n".join([*lines, "", ahead, *self.notes])

    def _what_next(self) -> list[str | Stage]:
        return [escape(p) if isinstance(p, str) else p for p in what_next(self.found)]

    def _link(self, stage: Stage, *, title: bool = False) -> str:
        """A link to the learner's copy; outside `work/`, or where there is none, to what is shipped."""
        copied = self.here.is_relative_to(self.root / WORK) and (self.root / stage.copy).is_file()
        target = os.path.relpath(self.root / (stage.copy if copied else stage.notebook), self.here)
        words = f"{stage.name.capitalize()}. {stage.title}" if title else stage.name
        return f'<a href="{quote(Path(target).as_posix())}">{escape(words)}</a>'


def _row(row: Row, link: str, coming: Row | None) -> str:
    weight = ";font-weight:bold" if row is coming else ""
    return (
        f"<tr style='background:none'><td style='{_CELL}{weight}'>{link}</td>"
        f"<td style='{_CELL};white-space:nowrap'>{row.stage.minutes} min</td>"
        f"<td style='{_CELL}'>{escape(status(row, coming)).replace('← ', '←&nbsp;')}</td></tr>"
    )


def look_here() -> tuple[list[Row], tuple[str, ...], Path, Path]:
    """What a panel needs, for a notebook in the current folder. Raises WorkspaceError, OutlineError."""
    root, progress = find_root(), record.so_far()
    return rows(outline(root), progress), progress.notes, root.resolve(), Path.cwd().resolve()
