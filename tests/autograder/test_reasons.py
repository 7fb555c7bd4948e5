"""Why points were lost, read from a graded cell's outputs."""

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.reasons import plain, reason
from lastgood.teaching.checks.report import Part, Report

SVG = "<svg><style>p {}</style><text>a picture's words</text></svg>"


def cell(*outputs: NotebookNode) -> NotebookNode:
    return nbformat.v4.new_code_cell("check.it(it)", outputs=list(outputs))


def result(report: Report) -> NotebookNode:
    data = {"text/plain": repr(report), "text/html": report._repr_html_()}
    return nbformat.v4.new_output("execute_result", data, execution_count=1)


def error(name: str, *traceback: str) -> NotebookNode:
    return nbformat.v4.new_output("error", ename=name, evalue="", traceback=list(traceback))


def test_a_report_gives_the_parts_that_were_lost_its_note_and_nothing_else() -> None:
    parts = (
        Part("parameters", 2, 2, ""),
        Part("RNG state", 0, 2, "Not where it was.\nFirst step: 9 < 11 & counting.", "lesson 18"),
    )
    found = reason(cell(result(Report("B Capture", parts, "They part at step 9.", SVG))))
    assert found == ("RNG state: Not where it was.\nFirst step: 9 < 11 & counting.\nThey part at step 9.")


def test_parts_lost_for_one_reason_are_named_together() -> None:
    parts = tuple(Part(title, 0, 2, "That is a replay.") for title in ("parameters", "RNG state"))
    assert reason(cell(result(Report("B Capture", parts)))) == "parameters, RNG state: That is a replay."


def test_the_only_part_of_an_exercise_is_not_named_again() -> None:
    report = Report("A1 Causal mask", (Part("A1 Causal mask", 0, 2, "It is inverted."),))
    assert reason(cell(result(report))) == "It is inverted."


def test_an_error_gives_its_last_lines_without_colours() -> None:
    lines = [f"frame {number}" for number in range(20)]
    found = reason(cell(error("NameError", *lines, "\x1b[0;31mNameError\x1b[0m: name 'f' is not defined")))
    assert found.splitlines() == [*lines[-5:], "NameError: name 'f' is not defined"]


def test_a_cell_that_was_stopped_says_so_and_where_it_was() -> None:
    frames = (
        "\x1b[36mCell\x1b[39m In[4], line 1\n\x1b[32m----> \x1b[39m\x1b[32m1\x1b[39m check.it(it)\n",
        "Cell In[3], line 2, in it()\n      1 def it():\n----> 2     while True:\n      3         pass\n",
    )
    found = reason(cell(error("KeyboardInterrupt", *frames), error("CellTimeoutError", "No reply")))
    assert found == "It did not end in time and was stopped. It was at line 2: while True:"


def test_a_missing_name_is_explained_by_the_first_cell_that_failed() -> None:
    earlier = [
        nbformat.v4.new_markdown_cell("# Lab"),
        cell(),
        cell(error("SyntaxError", "SyntaxError: invalid syntax")),
        cell(error("NameError", "NameError: name 'np' is not defined")),
    ]
    graded = cell(error("NameError", "NameError: name 'it' is not defined"))
    assert reason(graded, earlier) == "An earlier cell failed.\nSyntaxError: invalid syntax"
    assert reason(graded, earlier[:2]) == "NameError: name 'it' is not defined"
    other = cell(error("ValueError", "ValueError: no"))
    assert reason(other, earlier) == "ValueError: no"


def test_text_on_stderr_is_named_as_what_cost_the_points() -> None:
    said = nbformat.v4.new_output("stream", name="stderr", text="UserWarning: careful\n")
    full = Report("A1 Causal mask", (Part("mask", 2, 2),))
    assert reason(cell(result(full), said)) == "Text on stderr costs all points: UserWarning: careful"


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        ((), "The cell shows no result."),
        ((nbformat.v4.new_output("stream", name="stdout", text="hello"),), "The cell shows no result."),
        (
            (nbformat.v4.new_output("execute_result", {"text/plain": "0"}, execution_count=1),),
            "The cell's result is: 0",
        ),
    ],
)
def test_a_cell_without_a_report_still_gets_a_reason(outputs: tuple[NotebookNode, ...], words: str) -> None:
    assert reason(cell(*outputs)) == words


def test_what_moves_a_terminals_cursor_is_taken_out() -> None:
    assert plain("a\x1b[2Jb\x1b[1;31mc\rd\x07e\x9bf\ng") == "abcdef\ng"
