"""A check, whatever it tests: stderr stays empty, and a lab's checks answer to their names."""

import os
import sys
import warnings

import pytest

from lastgood.teaching.checks.core import NOT_WRITTEN, Check, Checks, Data
from lastgood.teaching.checks.questions import numeric
from lastgood.teaching.checks.report import Report

SUM = numeric("total", "A A sum", lambda: 3.0)


def test_a_right_answer_that_warns_keeps_its_points_and_the_cells_stderr_stays_empty(
    capfd: pytest.CaptureFixture[str],
) -> None:
    # nbgrader takes any text on stderr for a failed cell, also a native library's (PR 1904)
    def noisy() -> float:
        sys.stderr.write(warnings.formatwarning("careful", UserWarning, "cell", 1))
        print("from Python", file=sys.stderr)
        os.write(2, b"from a native library\n")
        return 3.0

    assert SUM.run((noisy,)).passed
    assert capfd.readouterr().err == ""
    print("and stderr works again", file=sys.stderr)
    assert capfd.readouterr().err == "and stderr works again\n"


def test_a_lab_s_checks_are_attributes_and_another_name_is_an_error_that_lists_them() -> None:
    check = Checks(SUM)
    assert check.total is SUM
    with pytest.raises(AttributeError, match="no check 'sum'; it has total"):
        check.sum  # noqa: B018


def test_what_is_not_written_yet_is_not_called_lost() -> None:
    def blank() -> float:
        raise NotImplementedError

    report = SUM.run((blank,))
    assert report.points == 0
    assert NOT_WRITTEN in report.text().replace("\n       ", " ")
    assert "LOST" not in report.text()
    assert "○ not yet" in report._repr_html_()


def test_a_result_that_cannot_cross_a_wire_is_no_answer() -> None:
    def verdict(inputs: Data, data: Data) -> Report:
        return check.failed(data["error"])

    check = Check("any", "A Any", 1, lambda seed: {}, lambda names, inputs: {"value": object()}, verdict)
    assert "not made of tensors, numbers and text" in check.run(()).text()


def test_the_same_seed_draws_the_same_inputs() -> None:
    drawn: list[list[float]] = []

    def keep(*arguments: float) -> float:
        drawn.append(list(arguments))
        return 0.0

    check = numeric("n", "A N", lambda n: n, lambda source: [source.random()])
    for seed in (1, 1, 2):
        check.run((keep,), seed=seed)
    assert drawn[0] == drawn[1] != drawn[2]
