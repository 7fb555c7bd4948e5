"""The command `lastgood reset`."""

import pytest
from typer.testing import CliRunner

from lastgood.cli import app

COPY = "work/lab18/lab18.ipynb"


@pytest.fixture
def run(course, monkeypatch):
    monkeypatch.chdir(course)
    CliRunner().invoke(app, ["start"])
    return lambda *arguments: CliRunner().invoke(app, ["reset", *arguments])


def edit(course):
    text = (course / COPY).read_text()
    (course / COPY).write_text(text.replace("answer == 42", "answer == 41"))


def test_it_says_where_the_learners_version_is_and_what_to_do_in_jupyterlab(run, course):
    edit(course)
    result = run("18")
    assert result.exit_code == 0
    [aside] = (course / "work/lab18").glob("*.before-reset-*")
    assert f"Your version is kept in {aside.relative_to(course)}." in result.output
    assert "reload the page" in result.output
    assert "answer == 42" in (course / COPY).read_text()


def test_it_resets_one_exercise(run, course):
    edit(course)
    result = run("18", "assert-answer-42")
    assert result.exit_code == 0
    assert "What you had written stands under it" in result.output
    assert not list((course / "work/lab18").glob("*.before-reset-*"))


def test_it_says_that_nothing_was_changed(run):
    assert "as it was released. Nothing was changed." in run("18").output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("19",), "There is no lab '19'"),
        (("18", "zebra"), "assert-answer-42"),
        (("18", ""), "no exercise ''"),
    ],
)
def test_what_is_not_there_is_told_in_plain_words(run, arguments, said):
    result = run(*arguments)
    assert result.exit_code == 1
    assert said in result.output


def test_a_copy_that_cannot_be_reset_is_told_in_plain_words(run, course):
    (course / COPY).write_text("{")
    result = run("18", "assert-answer-42")
    assert result.exit_code == 1
    assert "is not JSON" in result.output
