"""What is said of each lesson and lab, and what comes next."""

import pytest

from lastgood.teaching.study.outline import outline
from lastgood.teaching.study.overview import next_row, rows, ticked, what_next
from lastgood.teaching.study.record import Points, Progress

LESSON = frozenset({"18"})


def progress(read=frozenset(), ticked=None, **points):
    return Progress(frozenset(read), ticked or {}, {lab: Points(*found) for lab, found in points.items()})


@pytest.fixture
def keys(small):
    return [rep.key for rep in outline(small)[1].reps]


def said(root, done):
    return [row.status for row in rows(outline(root), done)]


def test_each_row_says_what_was_done_and_nothing_of_what_was_not(small, keys):
    assert said(small, progress()) == ["", "", ""]
    done = progress(LESSON, {"18": frozenset(keys[:2])}, lab00=(30, 30), lab18=(17, 24))
    assert said(small, done) == ["✓ 30 of 30 points", "✓ read, 2 of 3 reps", "17 of 24 points"]
    assert said(small, progress(ticked={"18": frozenset(keys[:1])}))[1] == "1 of 3 reps"


def test_a_rep_that_was_reworded_is_not_ticked(small, keys):
    done = progress(ticked={"18": frozenset([keys[0], "old wording"])})
    assert ticked(outline(small)[1], done) == (1, 1)
    assert said(small, done)[1] == "1 of 3 reps"


@pytest.mark.parametrize(
    ("done", "coming"),
    [
        (progress(), "lab 00"),
        (progress(lab00=(29, 30)), "lab 00"),
        (progress(lab00=(30, 30)), "lesson 18"),
        (progress(LESSON), "lab 18"),  # who began later is not sent back …
        (progress(LESSON, lab18=(3, 24)), "lab 18"),
        (progress(LESSON, lab18=(24, 24)), "lab 00"),  # … before the end
        (progress(lab18=(24, 24)), "lab 00"),
        (progress(LESSON, lab18=(24, 24), lab00=(30, 30)), None),
    ],
)
def test_what_comes_next_is_the_first_that_is_not_done_after_the_furthest(small, done, coming):
    found = next_row(rows(outline(small), done))
    assert (found and found.stage.name) == coming


@pytest.mark.parametrize(
    ("done", "sentence"),
    [
        (progress(), "Begin with lab 00, or, if you have written a GPT yourself, with lesson 18."),
        (progress(lab00=(30, 30)), "Next: lesson 18, What to keep."),
        (progress(LESSON), "Next: lab 18."),
        (progress(LESSON, lab18=(2, 2), lab00=(3, 3)), "Every lesson is read, and every lab has its points."),
    ],
)
def test_one_sentence_says_so(small, done, sentence):
    pieces = what_next(rows(outline(small), done))
    assert "".join(piece if isinstance(piece, str) else piece.name for piece in pieces) == sentence


def test_an_unknown_lab_or_lesson_in_the_record_is_passed_over(small):
    assert said(small, progress(frozenset({"77"}), {"77": frozenset({"x"})}, lab77=(1, 2))) == ["", "", ""]
