"""The command `lastgood hint`."""

import json

import pytest
from typer.testing import CliRunner

from lastgood.cli import app

HINTS = "As long as the new file", "os.replace(a, b)", "A kill ends the process"


@pytest.fixture
def run(repository, monkeypatch):
    monkeypatch.chdir(repository)
    return lambda *arguments: CliRunner().invoke(app, ["hint", *arguments])


def shown(result):
    assert result.exit_code == 0
    return [number for number, hint in enumerate(HINTS, 1) if hint in result.output]


def test_each_time_there_is_one_more_and_after_the_last_all(run):
    assert [shown(run("18", "save")) for _ in range(5)] == [[1], [2], [3], [1, 2, 3], [1, 2, 3]]


def test_all_are_shown_at_once_when_asked(run):
    assert shown(run("18", "save", "--all")) == [1, 2, 3]


def test_each_exercise_counts_for_itself(run):
    run("18", "save")
    assert "how many" in " ".join(run("18", "causal_mask").output.split()).casefold()
    assert shown(run("18", "load")) == [2]


def test_it_says_what_comes_next(run):
    assert "1 of 3 hints. `lastgood hint 18 save` shows the next one." in run("18", "C1").output
    assert "`lastgood solution 18 save`" in run("18", "C1", "--all").output


def test_an_exercise_without_hints_says_so_and_what_is_asked(run):
    result = run("18", "looks-fine")
    assert result.exit_code == 0
    assert "has no hints" in result.output
    assert "What do you answer?" in " ".join(result.output.split())


def test_without_an_exercise_it_lists_them(run):
    result = run("18")
    assert result.exit_code == 1
    assert "C1  save, load" in result.output
    assert "`lastgood hint 18 causal_mask`" in result.output


def test_what_somebody_wrote_into_the_file_by_hand_stops_nothing(run, home):
    home.mkdir(parents=True)
    for asked in (3, {"lab18": []}, {"lab18": {"check-save-load": {"hints": "many"}}}):
        (home / "progress.json").write_text(json.dumps({"version": 1, "asked": asked}))
        assert shown(run("18", "save")) == [1]


def test_where_nothing_can_be_kept_the_hint_is_shown_all_the_same(run, home):
    home.write_text("a file where the folder should be")
    result = run("18", "save")
    assert shown(result) == [1]
    assert "`--all` shows all hints" in " ".join(result.output.split())
