"""Makes a graded notebook inert, after its points are known and before it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Unicode

from autograder.inert.markdown import inert_html
from autograder.inert.outputs import inert

REPORTS: Final = "lastgood_reports"  # in the resources: grade_id → HTML of the report that the judge wrote
_LANGUAGE: Final = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"}


class Inert(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Leaves text and pixels of what a learner wrote, and the instructor's own prose as it is."""

    release = Unicode("", help="The folder of released labs, whose prose may hold HTML.").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Make every cell inert."""
        about = resources["nbgrader"]
        ours = self._prose(Path(self.release, about["assignment"], f"{about['notebook']}.ipynb"))
        kernel = nb.metadata.get("kernelspec")
        nb.metadata = NotebookNode(language_info=NotebookNode(_LANGUAGE))
        if kernel is not None:  # nbgrader has put the instructor's there
            nb.metadata["kernelspec"] = kernel
        for cell in nb.cells:
            self._make_inert(cell, ours, resources.get(REPORTS, {}))
        return nb, resources

    def _make_inert(self, cell: NotebookNode, ours: set[str], reports: dict[str, str]) -> None:
        graded = cell.metadata.get("nbgrader")
        cell.metadata = NotebookNode({} if graded is None else {"nbgrader": graded})
        if cell.cell_type == "code":
            report = reports.get(graded["grade_id"], "") if graded else ""
            cell.outputs = [inert(output, report) for output in cell.outputs]
            return
        attachments = cell.pop("attachments", None) or {}
        if cell.source in ours:
            if attachments:
                cell["attachments"] = attachments
            return
        if cell.cell_type == "raw":  # nbconvert puts such a cell into the page as it is
            cell["cell_type"] = "markdown"
            cell.source = _fenced(cell.source)
        cell.source = inert_html(cell.source, attachments)

    def _prose(self, notebook: Path) -> set[str]:
        """The texts of the instructor's own cells."""
        if not notebook.is_file():
            return set()
        cells = nbformat.read(notebook, as_version=4).cells
        return {cell.source for cell in cells if cell.cell_type != "code"}


def _fenced(text: str) -> str:
    fence = "`" * (3 + text.count("`"))
    return f"{fence}\n{text}\n{fence}"
