"""Lesson 18's table of what frameworks bring back is the one that the last audits make."""

from pathlib import Path

import pytest

from docs.frameworks import results, table
from docs.frameworks.__main__ import CASES
from docs.frameworks.results import Result, Seen
from lastgood.recovery.resuming import KEPT, LOST

ROOT = Path(__file__).resolve().parents[1]


def result(*findings):
    return Result("`it`", "torch", "2.13.0", "2026-01-02", list(findings))


def test_the_lesson_has_the_table_of_the_last_audits():
    text = (ROOT / table.LESSON).read_text()
    assert table.put(text, table.table(results.read())) == text


def test_each_case_was_audited():
    assert [(one.title, one.package) for one in results.read()] == [(c.title, c.package) for c in CASES]
    assert all((results.HERE / "runs" / case.run).is_file() for case in CASES)


@pytest.mark.parametrize(
    ("findings", "cell"),
    [
        ([Seen("Python RNG", KEPT, "held")], "back |"),
        ([Seen("Python RNG", KEPT, "held"), Seen("torch RNG", KEPT, "")], "back, by other means |"),
        ([Seen("Python RNG", LOST, "missing")], "**lost** |"),
        ([Seen("Python RNG", LOST, "held")], "**lost**, though in the file |"),
        ([Seen("Python RNG", KEPT, "held"), Seen("torch RNG", LOST, "")], "**lost in part** |"),
    ],
)
def test_a_cell_says_the_worst_of_its_components(findings, cell):
    row = table.table([result(*findings)]).splitlines()[2]
    assert f"| {cell}" in f"{row} |"


def test_versions_and_date_stand_below():
    assert table.table([result()]).endswith("Versions: `torch 2.13.0`; on `2026-01-02`.")


def test_a_lesson_without_its_marks_is_refused():
    with pytest.raises(ValueError, match="has no lines"):
        table.put("a lesson", "rows")
