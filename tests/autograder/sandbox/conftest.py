"""What the tests of the sandbox share: a notebook that is run behind walls, and a small class."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from sqlalchemy.exc import SAWarning
from traitlets.config import Config

from autograder.course import Course

ROOT = Path(__file__).resolve().parents[3]
GRADED = ("first", "second", "third")
_TAGS = {"schema_version": 3, "task": False, "locked": False, "grade": False, "solution": False}


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., list[NotebookNode]]:
    """A function that runs cells in a sandboxed kernel, with limits by trait, and returns the cells."""
    from autograder.sandbox.execute import SandboxedExecute

    def run(*sources: str, **traits: Any) -> list[NotebookNode]:
        config = Config({"SandboxedExecute": {"root": str(ROOT), "timeout": 60, "iopub_timeout": 10}})
        for name, value in traits.items():
            section = "SandboxedExecute" if SandboxedExecute.class_traits().get(name) else "Sandbox"
            config[section][name] = value
        notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
        ran, _ = SandboxedExecute(config=config).preprocess(notebook, {"metadata": {"path": str(tmp_path)}})
        return list(ran.cells)

    return run


def said(cell: NotebookNode) -> str:
    """Everything that a cell shows, as text."""
    texts = []
    for output in cell.outputs:
        texts += [output.get("text", ""), *output.get("traceback", ()), str(output.get("data", ""))]
    return "\n".join(texts)


def small_class(root: Path, answers: dict[str, str], settings: str = "") -> Path:
    """A course with one lab, and a submission for each answer: what its one solution cell holds.

    Its three graded cells are worth a point each. The first comes before the answer, the second wants of it
    that `y == 2`, and the third passes where it is run at all, and to nbgrader also where it is not.
    """
    root.mkdir()
    text = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    (root / "nbgrader_config.py").write_text(f"{text}\n{settings}\n", encoding="utf-8")
    cells = [
        new_code_cell("x = 1"),
        _graded("first", "assert x == 1"),
        new_code_cell("### BEGIN SOLUTION\ny = 2\n### END SOLUTION"),
        _graded("second", "assert y == 2"),
        _graded("third", "z = 3"),
    ]
    cells[2].metadata["nbgrader"] = {**_TAGS, "solution": True, "grade_id": "answer"}
    source = root / "solutions/lab/lab.ipynb"
    source.parent.mkdir(parents=True)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # nbgrader's own, in this process
        Course(root).generate_assignment("lab", root / "release.log")
    for student, answer in answers.items():
        notebook = nbformat.read(root / "labs/lab/lab.ipynb", as_version=4)
        notebook.cells[2].source = answer
        for cell in notebook.cells:
            cell.metadata["tags"] = ["skip-execution", "raises-exception"]  # nbclient heeds these
        path = root / "submitted" / student / "lab/lab.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
    return root


def _graded(name: str, source: str) -> NotebookNode:
    cell = new_code_cell(source)
    cell.metadata["nbgrader"] = {**_TAGS, "grade": True, "locked": True, "grade_id": name, "points": 1}
    return cell
