"""nbgrader's validator, with what a failed cell showed beside what it raised."""

import os
import re
from collections.abc import Iterator
from typing import Any

from nbconvert.filters import ansi2html, strip_ansi
from nbformat import NotebookNode
from nbformat.reader import NotJSONError
from nbgrader.apps import NbGrader
from nbgrader.nbgraderformat import SchemaTooNewError, SchemaTooOldError
from nbgrader.nbgraderformat import ValidationError as SchemaError
from nbgrader.utils import determine_grade, is_grade, is_solution
from nbgrader.validator import Validator

from lastgood.teaching.checks.report import METADATA, CheckFailed

# The dialog puts an error into a <pre> that neither wraps nor has the page's font.
_RICH = '<div style="white-space: normal; font-family: var(--jp-content-font-family)">{}</div>'
_PLAIN = '<span style="white-space: pre-wrap; overflow-wrap: anywhere">{}</span>'
_HEADING = re.compile(r"^#+ +(.+?) *#*$", re.MULTILINE)

_FRESH = "`lastgood reset` puts a fresh copy there and keeps this one beside it. Then copy your answers over."


class RichValidator(Validator):  # type: ignore[misc]  # nbgrader has no types
    """nbgrader's validator, that remembers which cells failed, the heading over each, and all points."""

    failed_cells: tuple[tuple[NotebookNode, str], ...] = ()
    scored: tuple[dict[str, Any], ...] = ()

    def _get_failed_cells(self, nb: NotebookNode) -> list[NotebookNode]:
        failed: list[NotebookNode] = super()._get_failed_cells(nb)
        over = {id(cell): heading for cell, heading in _under_headings(nb)}
        self.failed_cells = tuple((cell, over[id(cell)]) for cell in failed)
        self.scored = tuple(_scored(cell) for cell in nb.cells if is_grade(cell) and not is_solution(cell))
        return failed


def _under_headings(nb: NotebookNode) -> Iterator[tuple[NotebookNode, str]]:
    heading = "the top"
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            heading = [heading, *_HEADING.findall(cell.source)][-1]
        yield cell, heading


def _scored(cell: NotebookNode) -> dict[str, Any]:
    """The points of a cell that is graded by itself: nbgrader's, or the check's where it raised its report.

    In grading it returns that report, and nbgrader gives those points.
    """
    earned, possible = determine_grade(cell)
    trouble = [output for output in cell.outputs if next(_trouble(output, rich=True), None) is not None]
    raised = any(output.output_type == "error" for output in cell.outputs)
    if raised and not trouble:
        [points] = [
            output.metadata[METADATA]["points"]
            for output in cell.outputs
            if METADATA in output.get("metadata", {})
        ][-1:] or [0.0]
        earned = min(max(float(points), 0.0), possible)
    return {"name": cell.metadata.nbgrader.grade_id, "earned": earned, "possible": possible}


def validate(path: str) -> dict[str, Any]:
    """Validate a notebook under the configuration found in the current folder; takes as long as its cells.

    Returns:
        `failed` (dicts of `source`, `error`, `text`), `changed` (sources), `type_changed` (dicts of
        `source`, `old_type`, `new_type`) and `scored` (dicts of `name`, `earned`, `possible`), where a
        changed cell leaves the failed ones and the points untold; or only `problem`, a text.
    """
    app = NbGrader()
    app.load_config_file()
    validator = RichValidator(config=app.config)
    try:
        found = validator.validate(os.path.abspath(path))
    except (SchemaTooOldError, SchemaTooNewError):
        return {"problem": f"{path} was made with another version of nbgrader. {_FRESH}"}
    except NotJSONError:
        return {"problem": f"{path} is not a notebook, or only part of one. {_FRESH}"}
    except SchemaError:
        return {"problem": f"The marks that nbgrader keeps in the cells of {path} are damaged. {_FRESH}"}
    # nbgrader leaves the failures out of its answer where a cell was changed.
    failed = validator.failed_cells if "failed" in found else ()
    judged = not found.keys() & {"changed", "type_changed"}
    return {
        "failed": [
            {
                "source": cell.source.strip(),
                "error": error_html(cell, heading),
                "text": error_text(cell, heading),
            }
            for cell, heading in failed
        ],
        "changed": [cell["source"] for cell in found.get("changed", [])],
        "type_changed": found.get("type_changed", []),
        "scored": list(validator.scored) if judged else [],
    }


def error_html(cell: NotebookNode, heading: str) -> str:
    """Return a failed cell's outputs as HTML: the report that it shows, if any, and what it raised."""
    outputs = cell.get("outputs", [])
    reports = [markup for output in outputs for markup in _markup(output)]
    texts = [text for output in outputs for text in _trouble(output, rich=bool(reports))]
    if not reports and not texts:
        texts = [error_text(cell, heading)]
    shown = [_RICH.format(markup) for markup in reports]
    return "".join(shown + [_PLAIN.format(ansi2html(text)) for text in texts])


def error_text(cell: NotebookNode, heading: str) -> str:
    """Return the same in plain words."""
    texts = [text for output in cell.get("outputs", []) for text in _trouble(output, rich=False)]
    if texts:
        return str(strip_ansi("\n".join(texts)))
    if cell.cell_type == "markdown" or cell.metadata.nbgrader.get("solution"):
        return f"There is no answer here yet, under “{heading}”."
    return "Not all of this cell's points are earned yet. Run it in the notebook to see what is missing."


def _markup(output: NotebookNode) -> Iterator[str]:
    if markup := output.get("data", {}).get("text/html"):
        yield markup


def _trouble(output: NotebookNode, *, rich: bool) -> Iterator[str]:
    """Yield what nbgrader counts as failing a cell."""
    # A check shows its report and then raises it in plain words, for those who see only what is raised.
    if output.output_type == "error" and not (rich and output.ename == CheckFailed.__name__):
        yield "\n".join(output.traceback)
    elif output.output_type == "stream" and output.name == "stderr":
        yield f"This was printed to stderr, which costs the cell its points:\n{output.text}"
