"""The command `lastgood progress`."""

import json

import pytest
from typer.testing import CliRunner

from lastgood.cli import app
from lastgood.teaching.study.record import Points, keep_points, mark_read


def run(*arguments):
    return CliRunner().invoke(app, ["progress", *arguments])


@pytest.fixture(autouse=True)
def _in_the_course(repository, monkeypatch):
    monkeypatch.chdir(repository)


def test_it_shows_every_lesson_and_lab_and_what_comes_next(home):
    mark_read("18", True)
    keep_points("lab18", {"mask": Points(17, 24)})
    output = run().output
    assert "What a checkpoint has to hold" in output
    assert "17 of 24 points ← next" in output
    assert "Next: lab 18. `lastgood lab` opens it." in output
    assert str(home / "progress.json") in output


def test_it_says_the_same_to_programs(home):
    mark_read("18", True)
    told = json.loads(run("--json").output)
    assert told["next"] == "lab 18"
    [lesson] = [stage for stage in told["stages"] if stage["name"] == "lesson 18"]
    assert (lesson["status"], lesson["done"], lesson["minutes"]) == ("✓ read", True, "25")


def test_it_says_what_it_set_aside(home):
    home.mkdir(parents=True)
    (home / "progress.json").write_text("{")
    first, again = run(), run()
    assert first.exit_code == again.exit_code == 0
    assert "progress.damaged.json was set aside" in first.output
    assert "progress.damaged.json was set aside" in again.output


def test_a_home_that_cannot_be_used_is_told_and_the_map_is_shown(home):
    home.write_text("a file where the folder should be")
    result = run()
    assert result.exit_code == 0
    assert "could not be read" in result.output
    assert "lab 18" in result.output


def test_a_notebook_of_the_course_that_is_damaged_is_named(course, monkeypatch):
    (course / "labs/lab18/lab18.ipynb").write_text("{")
    monkeypatch.chdir(course)
    result = run()
    assert result.exit_code == 1
    assert "lab18.ipynb cannot be read" in result.output
