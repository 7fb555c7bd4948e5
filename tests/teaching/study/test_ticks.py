"""The boxes at the end of a lesson."""

import pytest

from lastgood.teaching.study import record, reps
from lastgood.teaching.study.outline import OutlineError


def boxes(panel):
    return [box.value for box in panel.boxes]


def test_each_rep_has_a_box_named_as_the_lesson_begins_it(small):
    panel = reps("18")
    assert [box.description for box in panel.boxes] == ["Look at a page.", "Tomorrow: write it.", "Measure M"]
    assert panel.read.description == "I have read this lesson"


def test_a_tick_is_kept_at_once_and_shown_when_the_lesson_is_opened_again(small):
    panel = reps("18")
    panel.boxes[1].value = True
    panel.read.value = True
    assert "Lesson read, 1 of 3 reps done. Kept in" in panel.words.value
    again = reps(18)
    assert boxes(again) == [False, True, False]
    assert again.read.value
    again.boxes[1].value = again.read.value = False
    assert "Lesson not read yet, 0 of 3" in again.words.value
    assert not any(boxes(reps("18")))


def test_a_rep_that_was_reworded_is_unticked_and_the_panel_says_so_until_all_are_ticked(small, write_lesson):
    reps("18").boxes[0].value = True
    write_lesson(small, "## Real-world reps\n\n- [ ] Look at two pages.\n- [ ] Think.\n")
    panel = reps("18")
    assert boxes(panel) == [False, False]
    assert "reworded" in panel.words.value
    panel.boxes[0].value = True
    panel.boxes[1].value = True
    assert "reworded" not in panel.words.value


def test_where_nothing_can_be_kept_the_panel_says_so_and_shows_on(small, home):
    home.write_text("a file where the folder should be")
    panel = reps("18")
    assert "could not be read" in panel.words.value
    panel.boxes[0].value = True
    assert "Nothing could be kept in" in panel.words.value


def test_whatever_goes_wrong_on_a_tick_is_shown(small, monkeypatch):
    panel = reps("18")
    monkeypatch.setattr(record, "mark_rep", lambda *_: 1 / 0)
    panel.boxes[0].value = True
    assert "ZeroDivisionError" in panel.words.value


def test_without_widgets_it_is_a_list_of_plain_text(small):
    panel = reps("18")
    panel.boxes[2].value = True
    assert repr(panel).splitlines() == [
        "[ ] Look at a page.",
        "[ ] Tomorrow: write it.",
        "[x] Measure M",
        "[ ] I have read this lesson",
    ]
    assert panel._repr_mimebundle_()["text/plain"] == repr(panel)
    assert "application/vnd.jupyter.widget-view+json" in panel._repr_mimebundle_()


@pytest.mark.parametrize("lesson", ["21", 0, "eighteen"])
def test_a_lesson_that_is_not_there_is_refused_with_those_that_are(small, lesson):
    with pytest.raises(OutlineError, match=r"The lessons: 18\."):
        reps(lesson)
