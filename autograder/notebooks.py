"""From a text twin to the notebook that is committed: cells, cell ids, metadata, bytes.

The same text always gives the same bytes. jupytext reads the text; what it leaves to chance (random cell ids)
or keeps for itself (its own metadata) is replaced here. Nothing in this module judges the content: see
`autograder.lint`.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import jupytext
import nbformat
from nbformat import NotebookNode

# With a kernel spec in the file JupyterLab starts it without asking.
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE_INFO = {"name": "python", "pygments_lexer": "ipython3"}

# Cell metadata that a person may set in a text twin. Everything else is jupytext's book-keeping.
KEPT_CELL_METADATA = ("jupyter", "nbgrader", "slideshow", "tags")

_FRONT_MATTER = """\
---
jupyter:
  kernelspec:
    display_name: Python 3
    language: python
    name: python3
---
"""
_THEIR_FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}\s+(?P<text>.*?)\s*#*\s*$")
_ANCHOR = re.compile(r"\s*<a\s+id=[^>]*>\s*</a>\s*$")
_SLUG_LENGTH = 40  # an nbformat cell id has at most 64 characters; the rest is room for counters


def lesson_notebook(text: str) -> NotebookNode:
    """The notebook of a lesson written in Markdown: a cell for each section and each ```python fence."""
    # Without a kernel in its front matter, jupytext takes the commonest fence for the notebook's language.
    notebook = jupytext.reads(_FRONT_MATTER + _THEIR_FRONT_MATTER.sub("", text), fmt="md")
    cells = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cells += [nbformat.v4.new_markdown_cell(part) for part in _split_at_headings(cell.source)]
        else:
            cells.append(cell)
    notebook.cells = cells
    return _normalised(notebook)


def master_notebook(text: str) -> NotebookNode:
    """The notebook of a lab's master written in py:percent, its nbgrader cell metadata completed."""
    notebook = jupytext.reads(text, fmt="py:percent")
    for cell in notebook.cells:
        meta = cell.metadata.get("nbgrader")
        if isinstance(meta, dict):
            meta.setdefault("task", False)
            meta.setdefault("cell_type", cell.cell_type)
    return _normalised(notebook)


def to_bytes(notebook: NotebookNode) -> bytes:
    """The file's content: as nbgrader and nbconvert write it, so that their own output needs no rewriting.

    Raises nbformat's `ValidationError` when the notebook is not a valid one.
    """
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook)
    return (text.rstrip("\n") + "\n").encode()


def grade_id(cell: NotebookNode) -> str | None:
    """The name that nbgrader knows a cell by, or None where it knows nothing of it."""
    meta = cell.metadata.get("nbgrader")
    found = meta.get("grade_id") if isinstance(meta, dict) else None
    return found if isinstance(found, str) and found else None


def slug(heading: str) -> str:
    """A heading as part of a cell id: ASCII letters, digits and single dashes, at most 40 characters."""
    text = re.sub(r"<[^>]*>", "", heading)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", text)[:_SLUG_LENGTH].strip("-") or "section"


def _normalised(notebook: NotebookNode) -> NotebookNode:
    """Without outputs, without jupytext's traces, with constant notebook metadata and steady cell ids."""
    notebook.metadata = NotebookNode(kernelspec=KERNELSPEC, language_info=LANGUAGE_INFO)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        kept: dict[str, Any] = {key: cell.metadata[key] for key in KEPT_CELL_METADATA if key in cell.metadata}
        cell.metadata = NotebookNode(kept)
        if cell.cell_type == "code":
            cell.execution_count, cell.outputs = None, []
    _assign_ids(notebook)
    return notebook


def _assign_ids(notebook: NotebookNode) -> None:
    """Name each cell by its grade_id, else by the heading it stands under and its number there.

    `optimizer-state_2` is the second cell under "Optimizer state", `check__3_1` the first under the third
    "Check". Slugs hold no underscore, so the two counters cannot be mistaken for a heading's own text.
    """
    heads: Counter[str] = Counter()
    cells: Counter[str] = Counter()
    section = "top"
    for cell in notebook.cells:
        own = section
        if cell.cell_type == "markdown":
            for index, (_, heading) in enumerate(_headings(cell.source)):
                name = slug(heading)
                heads[name] += 1
                section = name if heads[name] == 1 else f"{name}__{heads[name]}"
                own = section if index == 0 else own
        known = grade_id(cell)
        if known is None:
            cells[own] += 1
        cell["id"] = known or f"{own}_{cells[own]}"


def _headings(source: str) -> Iterator[tuple[int, str]]:
    """Line number and text of each heading that stands outside code fences and `<details>`."""
    fence, folded = "", 0
    for number, line in enumerate(source.split("\n")):
        mark = _FENCE.match(line)
        if fence:
            closes = mark and mark[1].startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence
        elif mark:
            fence = mark[1]
        else:
            folded += line.count("<details") - line.count("</details>")
            heading = _HEADING.match(line)
            if heading and folded <= 0:
                yield number, heading["text"]


def _split_at_headings(source: str) -> list[str]:
    """A Markdown cell as one cell a section; an `<a id>` on the line above a heading goes with it."""
    lines = source.split("\n")
    starts = [n - 1 if n and _ANCHOR.match(lines[n - 1]) else n for n, _ in _headings(source)]
    edges = [0, *starts, len(lines)]
    parts = ["\n".join(lines[begin:end]).strip("\n") for begin, end in pairwise(edges)]
    return [part for part in parts if part.strip()]
