"""Lab 18's wrong and right solutions, judged from outside the kernel: the verdicts of the suite."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.utils import determine_grade
from traitlets.config import Config

from autograder.judge.execute import JudgedExecute
from autograder.judge.warm import warm_grader
from autograder.mutants import Variant, affected, code_cells, master_text, patched, variants
from autograder.reasons import reason

ROOT = Path(__file__).resolve().parents[3]
LAB = "lab18"
MASTER = master_text(ROOT, LAB)
CONFIG = Config({"JudgedExecute": {"root": str(ROOT), "timeout": 120}})

EACH = 3  # each takes seconds: every third by `make test-slow`, the others by `make test-nightly`

pytestmark = [pytest.mark.slow, pytest.mark.needs_bwrap]


@pytest.fixture(scope="module", autouse=True)
def _warm() -> Iterator[None]:
    with warm_grader(ROOT, CONFIG):
        yield


@pytest.mark.parametrize(
    "variant",
    [
        pytest.param(variant, id=variant.name, marks=[pytest.mark.nightly] if number % EACH else [])
        for number, variant in enumerate(variants(LAB))
    ],
)
def test_the_judge_gives_a_variant_the_points_of_the_suite(variant: Variant, tmp_path: Path) -> None:
    text = patched(MASTER, variant)
    checks = affected(MASTER, text)
    cells = [cell for cell in code_cells(text) if is_needed(cell, checks)]
    notebook = new_notebook(cells=[new_code_cell(cell.source, metadata=cell.metadata) for cell in cells])
    resources = {"metadata": {"path": str(tmp_path)}, "nbgrader": {"assignment": LAB}}
    ran, _ = JudgedExecute(config=CONFIG).preprocess(notebook, resources)
    lost, said = {}, ""
    for cell in ran.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            got, worth = determine_grade(cell)
            if got != worth:
                lost[cell.metadata.nbgrader.grade_id] = worth - got
                said += reason(cell)
    assert lost == variant.loses, said


def is_needed(cell: object, checks: set[str]) -> bool:
    """Whether a check of these depends on the cell: the imports, solutions, what is given, and its own."""
    about = cell.metadata.get("nbgrader", {})
    if about.get("grade") and not about.get("solution"):
        return about["grade_id"] in checks
    return bool(about.get("solution") or about.get("locked") or "import check" in cell.source)
