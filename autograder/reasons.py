"""Why a graded cell lost points, read from what the cell put out: plain text that is safe to print.

A report's points are its text/plain, which is what nbgrader reads; its reasons stand in its text/html only.
"""

import re
from collections.abc import Sequence
from html.parser import HTMLParser

from nbformat import NotebookNode

LAST_LINES = 6  # of an error that is no report
NO_END = "CellTimeoutError"  # what nbgrader calls a cell that it had to interrupt

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_ARROW = re.compile(r"-+> (?P<line>\d+) (?P<code>.*)")
_INVISIBLE = {code: None for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def reason(cell: NotebookNode, earlier: Sequence[NotebookNode] = ()) -> str:
    """What a graded code cell's outputs say of lost points.

    An error counts before a report, and a report before anything else, as nbgrader's own reading goes. Where
    a name is missing, it is the first of the `earlier` cells to fail that says why.
    """
    errors = _errors(cell)
    if errors and errors[-1].ename == "NameError":
        for failed in filter(None, map(_errors, earlier)):
            return "An earlier cell failed.\n" + _last_lines("\n".join(failed[-1].traceback))
    if any(error.ename == NO_END for error in errors):
        return _never_ended(errors)
    if errors:
        return _last_lines("\n".join(errors[-1].traceback) or f"{errors[-1].ename}: {errors[-1].evalue}")
    said = "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stderr")
    if said:
        return "Text on stderr costs all points: " + _last_lines(said)
    results = [output.data for output in cell.outputs if output.output_type == "execute_result"]
    for data in results:
        html = _joined(data.get("text/html", ""))
        if "lastgood-report" in html:
            return plain(_lost(html))
    for data in results:
        return f"The cell's result is: {_last_lines(_joined(data.get('text/plain', '')))}"
    return "The cell shows no result."


def plain(text: str) -> str:
    """The text without colours and without other characters that move a terminal's cursor."""
    return _ANSI.sub("", text).translate(_INVISIBLE)


def _errors(cell: NotebookNode) -> list[NotebookNode]:
    return [output for output in cell.get("outputs", []) if output.output_type == "error"]


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def _last_lines(text: str) -> str:
    lines = [line.rstrip() for line in plain(text).splitlines() if line.strip()]
    return "\n".join(lines[-LAST_LINES:])


def _never_ended(errors: list[NotebookNode]) -> str:
    """A sentence that names the line in which the interrupt found the cell, where it is known."""
    frames = plain("\n".join(line for error in errors for line in error.traceback))
    found = list(_ARROW.finditer(frames))
    where = f" It was at line {found[-1]['line']}: {found[-1]['code'].strip()}" if found else ""
    return f"It did not end in time and was stopped.{where}"


def _lost(html: str) -> str:
    """A report's lost parts, those with one reason together, then its note."""
    reader = _ReportReader()
    reader.feed(html)
    reader.close()
    exercise = reader.head.rpartition(":")[0]
    titles: dict[str, list[str]] = {}
    for mark, title, why in reader.rows:
        if not mark.startswith("✓"):
            titles.setdefault(why, []).append(title)
    parts = [why if lost == [exercise] else f"{', '.join(lost)}: {why}" for why, lost in titles.items()]
    return "\n".join(filter(None, [*parts, reader.note]))


class _ReportReader(HTMLParser):
    """Collects a report's head, its rows as (mark, title, why), and its note; leaves the figure."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.head, self.note = "", ""
        self.rows: list[tuple[str, str, str]] = []
        self._cells: list[str] = []  # of the row that is open
        self._title = ""
        self._within: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "br":
            self._add("\n")
            return
        self._within.append(tag)
        if tag == "tr":
            self._cells, self._title = [], ""
        elif tag == "td":
            self._cells.append("")

    def handle_endtag(self, tag: str) -> None:
        while self._within and self._within.pop() != tag:
            pass  # an element that was never closed ends with the one around it
        if tag == "tr" and len(self._cells) >= 2:
            mark, why, *_ = (
                "\n".join(filter(None, map(str.strip, cell.split("\n")))) for cell in self._cells
            )
            self.rows.append((mark, self._title.strip(), why))

    def handle_data(self, data: str) -> None:
        if "svg" not in self._within and "em" not in self._within:  # the figure, and what to reread
            self._add(data)

    def _add(self, data: str) -> None:
        if "td" in self._within:
            if "strong" in self._within:
                self._title += data
            else:
                self._cells[-1] += data
        elif "p" in self._within:
            if "strong" in self._within:
                self.head += data
            else:
                self.note += data
