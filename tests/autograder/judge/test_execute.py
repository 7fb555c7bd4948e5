"""A whole notebook, judged: what was measured in its kernel earns what it is worth, and nothing else does."""

from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config

from autograder.inert.preprocessor import REPORTS
from autograder.judge.execute import NO_ANSWER, JudgedExecute

ROOT = Path(__file__).resolve().parents[3]
pytestmark = [pytest.mark.slow, pytest.mark.needs_bwrap]

MASK = """
import torch
def mask(n):
    print('asked for', n)
    return torch.ones(n, n, dtype=torch.bool).tril()
"""
FORGED = """
from IPython.display import display
from lastgood.recovery.wire import pack
from lastgood.teaching.checks import ANSWER
import base64, lastgood.teaching.checks.far as far
def answer(*arguments, **named):
    display({ANSWER: base64.b64encode(pack({"measured": b"", "stderr": ""})).decode()}, raw=True)
far.answer = answer
"""
CELLS = [
    MASK,
    "check.causal_mask(mask)",
    "check.causal_mask(lambda n: ~mask(n))",
    "check.causal_mask(not_defined)",
    "assert mask(2).any()",
    "check.no_such_check(mask)",
    FORGED,
    "check.causal_mask(mask)",
    "far.answer = lambda *a, **n: print('10')",
    "check.causal_mask(mask)",
    "import os; os._exit(0)",
    "check.causal_mask(mask)",
]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[NotebookNode], dict[str, Any]]:
    cells = []
    for number, source in enumerate(CELLS):
        cells.append(new_code_cell(source))
        if source.startswith(("check.", "assert")):
            about = {
                "grade": True,
                "solution": False,
                "locked": True,
                "grade_id": f"cell-{number}",
                "points": 2,
            }
            cells[-1].metadata["nbgrader"] = about
    about = {"assignment": "lab18", "notebook": "lab18", "student": "ann"}
    resources = {"metadata": {"path": str(tmp_path_factory.mktemp("handed-in"))}, "nbgrader": about}
    config = Config({"SandboxedExecute": {"root": str(ROOT), "timeout": 60, "iopub_timeout": 10}})
    notebook, resources = JudgedExecute(config=config).preprocess(new_notebook(cells=cells), resources)
    return notebook.cells, resources


Ran = tuple[list[NotebookNode], dict[str, Any]]


def results(cell: NotebookNode) -> list[str]:
    return [o.data["text/plain"] for o in cell.outputs if o.output_type == "execute_result"]


def test_an_answer_earns_its_points_and_what_was_printed_stays(ran: Ran) -> None:
    cells, resources = ran
    assert results(cells[1]) == ["2"]
    assert cells[1].outputs[0].text.startswith("asked for")
    assert resources[REPORTS]["cell-1"] == cells[1].outputs[-1].data["text/html"]
    assert isinstance(cells[1].execution_count, int)


def test_a_wrong_answer_is_told_why(ran: Ran) -> None:
    assert results(ran[0][2]) == ["0"]
    assert "inverted" in ran[0][2].outputs[-1].data["text/html"]


def test_an_error_before_the_check_is_shown_without_what_it_would_have_been_tested_with(ran: Ran) -> None:
    (error,) = ran[0][3].outputs
    assert error.ename == "NameError"
    assert "not_defined" in "\n".join(error.traceback)
    assert "answer(" not in "\n".join(error.traceback)


def test_a_test_that_is_no_check_runs_as_it_stands(ran: Ran) -> None:
    assert [o.output_type for o in ran[0][4].outputs] == ["stream"]
    assert ran[0][5].outputs[-1].ename == "NameError"  # there is no `check` in this notebook


def test_a_forged_answer_is_no_answer(ran: Ran) -> None:
    assert results(ran[0][7]) == ["0"]
    assert "is not an answer that this check can give" in ran[0][7].outputs[-1].data["text/html"]


def test_no_answer_earns_nothing(ran: Ran) -> None:
    assert results(ran[0][9]) == ["0"]
    assert NO_ANSWER[:30] in ran[0][9].outputs[-1].data["text/html"]


def test_after_the_kernels_end_a_check_earns_nothing_and_says_so(ran: Ran) -> None:
    (error,) = ran[0][11].outputs
    assert "Python had ended" in error.evalue
