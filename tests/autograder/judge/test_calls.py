"""A graded cell's call is read from its text, and nothing else is taken for one."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.judge.calls import Call, call_of

ROOT = Path(__file__).resolve().parents[3]


def graded(source: str, **tags: Any) -> nbformat.NotebookNode:
    return new_code_cell(source, metadata={"nbgrader": {"grade": True, "solution": False, **tags}})


@pytest.mark.parametrize(
    ("source", "call"),
    [
        ("check.mask(mask)", Call("mask", "mask")),
        ("check.loop(supervise, limit=3)  # patience", Call("loop", "supervise, limit=3")),
        ("# first a word\ncheck.symptom(\n    symptom,\n)", Call("symptom", "symptom")),
        ("check.nothing()", Call("nothing", "")),
    ],
)
def test_a_call_is_its_check_and_its_arguments(source: str, call: Call) -> None:
    assert call_of(graded(source)) == call


@pytest.mark.parametrize(
    "source",
    [
        "assert mask(3) is not None",
        "check.mask(mask)\nassert True",
        "other.mask(mask)",
        "check.mask",
        "x = check.mask(mask)",
        "%timeit check.mask(mask)",
        "",
    ],
)
def test_what_is_more_or_less_than_one_call_is_none(source: str) -> None:
    assert call_of(graded(source)) is None


def test_a_cell_that_is_not_a_test_is_none() -> None:
    source = "check.mask(mask)"
    assert call_of(new_code_cell(source)) is None
    assert call_of(new_markdown_cell(source)) is None
    assert call_of(graded(source, grade=False)) is None
    assert call_of(graded(source, solution=True)) is None


def test_the_errand_calls_far_with_the_same_arguments() -> None:
    source = Call("mask", "mask, n=3").at_the_kernel("lab18", "aW5wdXRz")
    assert source.endswith(".answer('lab18', 'mask', 'aW5wdXRz', mask, n=3)")
    compile(source, "<errand>", "eval")


@pytest.mark.parametrize("path", sorted((ROOT / "labs").glob("lab*/lab*.ipynb")), ids=lambda path: path.stem)
def test_each_graded_code_cell_of_each_lab_can_be_judged(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    tests = [
        cell
        for cell in cells
        if cell.cell_type == "code"
        and cell.metadata.get("nbgrader", {}).get("grade")
        and not cell.metadata.nbgrader.solution
    ]
    assert tests
    assert [cell.source for cell in tests if call_of(cell) is None] == []
