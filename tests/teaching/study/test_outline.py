"""The course as its notebooks tell it."""

import pytest

from lastgood.teaching.study.outline import OutlineError, Rep, outline


def test_lessons_and_labs_are_found_by_their_folders_each_lab_after_its_lesson(small):
    found = outline(small)
    assert [(stage.name, stage.title, stage.minutes) for stage in found] == [
        ("lab 00", "A small GPT", "60 to 90"),
        ("lesson 18", "What to keep", "20"),
        ("lab 18", "Kill <it>", "60 to 90"),
    ]
    assert [str(stage.notebook) for stage in found][:2] == [
        "labs/lab00/lab00.ipynb",
        "course/lessons/18_keep.ipynb",
    ]
    assert [str(stage.copy) for stage in found][:2] == [
        "work/lab00/lab00.ipynb",
        "work/lessons/18_keep.ipynb",
    ]


def test_reps_are_those_under_their_heading_without_addresses(small):
    [lesson] = [stage for stage in outline(small) if stage.kind == "lesson"]
    assert [rep.text for rep in lesson.reps] == [
        "Look at a page. Then think.",
        "Tomorrow: write `it`. Once.",
        "Measure $M$: how long?",
    ]
    assert [rep.label for rep in lesson.reps] == ["Look at a page.", "Tomorrow: write it.", "Measure M"]


@pytest.mark.parametrize(
    ("reps", "same"),
    [
        ("- [ ] Look at [a page](https://example.org/moved). Then think.\n", True),
        ("- [ ] Look at a page.\n  Then think.\n", True),
        ("- [ ] Look at a page. Then think again.\n", False),
    ],
)
def test_another_wording_is_another_rep_another_address_is_not(small, write_lesson, reps, same):
    write_lesson(small, "## Real-world reps\n\n" + reps)
    [rep] = outline(small)[1].reps
    assert (rep.key == Rep("Look at a page. Then think.").key) is same


def test_a_notebook_that_cannot_be_read_is_named(small):
    (small / "labs/lab18/lab18.ipynb").write_text("{")
    with pytest.raises(OutlineError, match=r"lab18\.ipynb cannot be read as a notebook"):
        outline(small)
