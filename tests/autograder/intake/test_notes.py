"""Notes stand at the top of a graded notebook, and only what the intake says is a note."""

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.intake.notes import NOT_RUN, Notes, NotRun, notes_of


def noted(*notes: str, cells: list[NotebookNode] | None = None) -> NotebookNode:
    made, _ = Notes(notes).preprocess(new_notebook(cells=cells or [new_code_cell("1", id="notes")]), {})
    return made


def test_they_can_be_read_back() -> None:
    assert notes_of(noted("One.", "Two: é <b>.")) == ("One.", "Two: é <b>.")


def test_without_any_nothing_is_added() -> None:
    made = noted()
    assert (len(made.cells), notes_of(made), notes_of(new_notebook())) == (1, (), ())


def test_a_cell_that_says_it_is_one_is_none() -> None:
    forged = new_markdown_cell("x", metadata={"lastgood": {"notes": ["Full marks."]}})
    assert notes_of(noted(cells=[forged])) == ()
    assert notes_of(noted("Real.", cells=[forged])) == ("Real.",)


@pytest.mark.parametrize(
    "name", ["<script>x</script>", "**a**", "[a](http://b)", "$a$", "`a`", "&lt;", "a\nb"]
)
def test_what_a_stranger_chose_is_neither_tag_nor_markdown(name: str) -> None:
    source = noted(name).cells[0].source
    inside = source.partition("<li>")[2].partition("</li>")[0]
    assert not set(inside) & set("<>*[]$`\n")


def test_its_id_is_no_other_cells() -> None:
    ids = [cell.id for cell in noted("One.").cells]
    assert len(set(ids)) == 2


def test_where_nothing_was_handed_in_no_test_passes() -> None:
    marks = {"grade": True, "solution": False, "grade_id": "a", "points": 1}
    graded = new_code_cell("pass", metadata={"nbgrader": marks})
    cell, _ = NotRun().preprocess_cell(graded, {}, 0)
    assert [(output.output_type, output.evalue) for output in cell.outputs] == [("error", NOT_RUN)]
