"""Whose points are kept after a validation."""

import pytest

from lastgood.server.points import record
from lastgood.server.validation import Result, Scored
from lastgood.teaching.study.record import Points, so_far

RESULT = Result(scored=[Scored("mask", 2, 2), Scored("loss", 0.5, 2)])


def test_a_learners_copy_of_a_lab_has_its_points_kept(course):
    assert record(RESULT, course / "work/lab18/lab18.ipynb", course) == ()
    assert so_far().points == {"lab18": Points(2.5, 4)}


@pytest.mark.parametrize(
    "path",
    [
        "labs/lab18/lab18.ipynb",
        "solutions/lab18/lab18.ipynb",
        "work/lab18/lab18-Copy1.ipynb",
        "work/lab77/lab77.ipynb",
        "work/lessons/18.ipynb",
        "../lab18.ipynb",
    ],
)
def test_a_master_and_a_file_elsewhere_are_not_kept(course, home, path):
    assert record(RESULT, course / path, course) == ()
    assert not home.exists()


@pytest.mark.parametrize("result", [Result(), Result(changed=["x"]), Result(type_changed=[{}])])
def test_where_nothing_was_judged_the_last_points_stay(course, result):
    lab = course / "work/lab18/lab18.ipynb"
    record(RESULT, lab, course)
    record(result, lab, course)
    assert so_far().points == {"lab18": Points(2.5, 4)}


def test_where_nothing_can_be_kept_a_sentence_says_so(course, home):
    home.write_text("a file where the folder should be")
    [sentence] = record(RESULT, course / "work/lab18/lab18.ipynb", course)
    assert sentence.startswith("Nothing could be kept")


def test_a_damaged_file_is_set_aside_and_told(course, home):
    home.mkdir()
    (home / "progress.json").write_text("{")
    [sentence] = record(RESULT, course / "work/lab18/lab18.ipynb", course)
    assert "set aside" in sentence
    assert so_far().points == {"lab18": Points(2.5, 4)}
