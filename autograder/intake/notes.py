"""What the intake has to say stands at the top of the autograded notebook, for learner and instructor."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output
from nbgrader import utils
from nbgrader.preprocessors import NbGraderPreprocessor

MARK: Final = "lastgood"  # in a cell's metadata, where no cell of a learner's keeps it
NOT_RUN: Final = "This was not run, for no answer could be read. The top of the page says why."
_PLAIN: Final = re.compile(r"[^\w .,:;()/-]")


def notes_of(notebook: NotebookNode) -> tuple[str, ...]:
    """What the intake did to an autograded notebook, in sentences."""
    first = notebook.cells[0] if notebook.cells else None
    about = first.metadata.get(MARK, {}) if first is not None else {}
    return tuple(about.get("notes", ()))


class Notes(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Puts the notes into a graded notebook: the last of the preprocessors, so that none takes them out."""

    def __init__(self, notes: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.notes = tuple(notes)

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Put them at the top."""
        for cell in nb.cells:
            cell.metadata.pop(MARK, None)
        if self.notes:
            nb.cells.insert(0, _cell(self.notes, {cell.get("id") for cell in nb.cells}))
        return nb, resources


class NotRun(NbGraderPreprocessor):  # type: ignore[misc]
    """In place of running a notebook that nobody handed in: no test of it passes, not even one that would."""

    def preprocess_cell(self, cell: NotebookNode, resources: Any, index: int) -> tuple[NotebookNode, Any]:
        """Let a graded cell fail."""
        if cell.cell_type == "code" and utils.is_grade(cell):
            cell.outputs = [new_output("error", ename="NothingToRun", evalue=NOT_RUN, traceback=[NOT_RUN])]
        return cell, resources


def _cell(notes: tuple[str, ...], taken: set[Any]) -> NotebookNode:
    """One line of HTML. A file's name stands in it, so every character that could be markup is an entity."""
    lines = "".join(f"<li>{_PLAIN.sub(_entity, note)}</li>" for note in notes)
    source = f"<div><p><strong>About this submission</strong></p><ul>{lines}</ul></div>"
    names = ("notes", *map("notes-{}".format, range(len(taken))))
    name = next(name for name in names if name not in taken)
    made: NotebookNode = new_markdown_cell(source, id=name, metadata={MARK: {"notes": list(notes)}})
    return made


def _entity(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"
