"""What validating a notebook finds, without a server."""

import asyncio

import pytest

from lastgood.server.validation import Failed, Result, ValidationError, validate

WRONG_CHECKSUM = "0" * 32


@pytest.fixture
def found(course, monkeypatch):
    """Validates a notebook in this process."""
    from lastgood.server.rich import validate as validate_here  # nbgrader takes seconds

    monkeypatch.chdir(course)
    return lambda path: validate_here(str(path))


def test_a_notebook_whose_checks_pass_has_nothing_against_it(course, notebooks, found):
    path = notebooks.write(course / "right.ipynb", notebooks.graded("assert True"))
    scored = [{"name": "assert-True", "earned": 1, "possible": 1}]
    assert found(path) == {"failed": [], "changed": [], "type_changed": [], "scored": scored}


REPORTS = """\
import sys
from IPython.display import display
from lastgood.teaching.checks.report import Report, deliver, part
right, wrong = part("the loss", 1.5, ""), part("the mask", 1, "row 3 sees row 4")
"""


POINTS = {
    "deliver(Report('1', (right,)))": 1.5,
    "deliver(Report('1', (right, wrong)))": 1.5,  # raised, so that Validate shows it
    "deliver(Report('1', (wrong,)))": 0,
    "Report('1', (right, wrong))": 1.5,
    "print('!', file=sys.stderr)\ndeliver(Report('1', (right, wrong)))": 0,
    "display(right, metadata={'lastgood': {'points': 2}})\n1 / 0": 0,
    "assert True": 2.5,
    "assert False": 0,
    "-1": 2.5,  # so nbgrader reads it
}


def test_points_are_those_that_grading_gives(course, notebooks, found):
    cells = [notebooks.graded(source, points=2.5) for source in POINTS]
    for number, cell in enumerate(cells):
        cell.metadata.nbgrader.grade_id = str(number)
    path = notebooks.write(course / "points.ipynb", notebooks.code(REPORTS), *cells, notebooks.code("1 / 0"))
    scored = found(path)["scored"]
    assert [cell["name"] for cell in scored] == [str(number) for number in range(len(POINTS))]
    assert dict(zip(POINTS, (cell["earned"] for cell in scored), strict=True)) == POINTS
    assert {cell["possible"] for cell in scored} == {2.5}


def test_a_cell_that_was_turned_into_another_kind_is_told(course, notebooks, found):
    cell = notebooks.graded("assert True")
    cell.metadata.nbgrader.cell_type = "markdown"
    path = notebooks.write(course / "turned.ipynb", cell)
    turned = {"source": "assert True", "old_type": "code", "new_type": "markdown"}
    assert found(path)["type_changed"] == [turned]


@pytest.mark.parametrize(
    ("configuration", "told"), [("", "changed"), ("c.Validator.ignore_checksums = True", "failed")]
)
def test_a_locked_cell_that_was_changed_is_told_unless_the_course_says_otherwise(
    course, notebooks, found, configuration, told
):
    (course / "nbgrader_config.py").write_text(f"c = get_config()\n{configuration}\n")
    cell = notebooks.graded("assert False")
    cell.metadata.nbgrader.checksum = WRONG_CHECKSUM
    answer = found(notebooks.write(course / "changed.ipynb", cell))
    scored = answer.pop("scored")
    assert [kind for kind, cells in answer.items() if cells] == [told]
    assert bool(scored) is (told == "failed")


def test_an_untouched_written_answer_is_told(course, notebooks, found):
    from nbgrader.utils import compute_checksum

    cell = notebooks.text("YOUR ANSWER HERE")
    graded = notebooks.graded("essay").metadata.nbgrader
    cell.metadata.nbgrader = graded | {"solution": True, "locked": False, "cell_type": "markdown"}
    cell.metadata.nbgrader.checksum = compute_checksum(cell)
    over, under = notebooks.text("## One\n\n### In your own words"), notebooks.text("## After")
    answer = found(notebooks.write(course / "written.ipynb", over, cell, under))
    [failed] = answer["failed"]
    assert failed["text"] == "There is no answer here yet, under “In your own words”."
    assert failed["text"] in failed["error"]
    assert answer["scored"] == [], "a person gives its points"


def test_a_file_that_is_no_notebook_is_told_in_plain_words(course, found):
    (course / "torn.ipynb").write_text('{"cells": [')
    assert "is not a notebook" in found("torn.ipynb")["problem"]


@pytest.mark.parametrize(
    ("damage", "said"), [({"schema_version": 1}, "another version"), ({"checksum": "no"}, "damaged")]
)
def test_marks_that_nbgrader_cannot_read_are_told_in_plain_words(course, notebooks, found, damage, said):
    cell = notebooks.graded("assert True")
    cell.metadata.nbgrader |= damage
    assert said in found(notebooks.write(course / "damaged.ipynb", cell))["problem"]


def test_a_run_past_its_deadline_is_stopped_and_says_so(course):
    notebook = course / "labs/lab18/lab18.ipynb"
    with pytest.raises(ValidationError, match=r"stopped: the notebook still ran after 0\.01 s"):
        asyncio.run(validate(notebook, course, deadline=0.01))


@pytest.mark.parametrize(
    ("result", "passed"),
    [
        (Result(), True),
        (Result(failed=[Failed("", "", "")]), False),
        (Result(changed=[""]), False),
        (Result(type_changed=[{}]), False),
    ],
)
def test_a_result_passes_where_nothing_is_wrong(result, passed):
    assert result.passed is passed
