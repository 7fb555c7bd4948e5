"""The command `lastgood solution`."""

import pytest
from typer.testing import CliRunner

from lastgood.cli import app
from lastgood.teaching.study.record import Points, keep_points, mark_read, so_far

SOLVED = "os.replace(temporary"


@pytest.fixture
def run(repository, monkeypatch):
    monkeypatch.chdir(repository)
    return lambda *arguments: CliRunner().invoke(app, ["solution", *arguments])


def test_it_is_shown_to_who_asks_twice(run):
    first, second = run("18", "save"), run("18", "C1")
    assert first.exit_code == second.exit_code == 0
    assert SOLVED not in first.output
    assert "`lastgood check 18`" in first.output
    assert "type it once more: `lastgood solution 18 save`" in first.output
    assert SOLVED in second.output
    assert "As long as the new file" in second.output  # how one gets there


def test_asking_for_one_shows_no_other(run):
    run("18", "save")
    assert "tril()" not in run("18", "causal_mask").output


@pytest.mark.parametrize(("earned", "shown"), [(6, True), (5.5, False)])
def test_it_is_shown_at_once_to_who_has_all_its_points(run, earned, shown):
    keep_points("lab18", {"check-save-load": Points(earned, 6), "check-causal-mask": Points(2, 2)})
    assert (SOLVED in run("18", "save").output) is shown


def test_a_written_answer_comes_with_what_its_points_are_for(run):
    first = run("18", "how-many").output
    assert "Write yours, in your own words" in first
    second = run("18", "how-many").output
    assert "I keep several" in second
    assert "A point each: how many" in second


def test_asking_changes_no_progress(run):
    mark_read("18", True)
    keep_points("lab18", {"check-save-load": Points(1, 6)})
    before = so_far()
    run("18", "save")
    assert so_far() == before


def test_code_is_shown_without_broken_lines(run):
    keep_points("lab20", {"check-plan": Points(3, 3)})
    lines = run("20", "plan").output.splitlines()
    assert any(len(line) > 100 and line.endswith("loses no more than the bound.") for line in lines)


def test_where_nothing_can_be_kept_it_is_shown_the_first_time(run, home):
    home.write_text("a file where the folder should be")
    result = run("18", "save")
    assert "Nothing could be kept" in result.output
    assert SOLVED in result.output


def test_a_course_without_solutions_says_so(course, monkeypatch):
    monkeypatch.chdir(course)
    result = CliRunner().invoke(app, ["solution", "18", "assert-answer-42"])
    assert result.exit_code == 1
    assert "This copy of the course has no solution of lab18" in result.output
