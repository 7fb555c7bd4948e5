"""Cards in a notebook, pressed as a learner presses them."""

import pytest

from lastgood.teaching.study import history, review, store
from lastgood.teaching.study.deck import DeckError


def shown(control):
    return control.layout.display != "none"


def rate(panel, name):
    panel.reveal.click()
    panel.ratings[name].click()


def go_to(panel, words):
    while words not in panel.card.text:
        rate(panel, "good")


@pytest.fixture
def panel(cards):
    return review("18")


def test_it_asks_and_shows_neither_check_nor_ratings_before_they_are_wanted(panel):
    assert "Card 1 of 4, from lesson 18" in panel.head.value
    assert "beside the weights?" in panel.question.value
    assert [shown(control) for control in (panel.words, panel.options, panel.number)] == [True, False, False]
    assert panel.check.value == ""
    assert not shown(panel.widget.children[3])
    panel.ratings["good"].click()
    assert history.so_far().logs == {}


def test_the_check_comes_beside_the_answer_which_stays_as_it_was_written(panel):
    panel.words.value = "the moments"
    panel.reveal.click()
    assert 'The rest: <span class="math inline">$m_t$</span> &lt; all.' in panel.check.value
    assert (panel.words.value, panel.words.disabled) == ("the moments", True)
    assert not shown(panel.reveal)
    assert shown(panel.widget.children[3])
    assert panel.ratings["again"].description == "Again: in 10 minutes"
    assert panel.ratings["good"].description.startswith("Good: in ")


def test_a_rating_is_kept_at_once_and_the_next_card_is_asked(panel):
    panel.words.value = "the moments"
    rate(panel, "hard")
    [log] = history.so_far().logs.values()
    assert [rated.rating for rated in log] == ["hard"]
    assert "Card 2 of 4" in panel.head.value
    assert (panel.words.value, panel.words.disabled, panel.check.value) == ("", False, "")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("80", "Right: <strong>80.4 GB</strong>"),
        ("13.4 GB", "Not 13.4 GB. The moments were left out."),
        ("", "<strong>80.4 GB</strong>, within 2 %"),
    ],
)
def test_a_number_is_judged_and_the_mistake_named(panel, typed, said):
    go_to(panel, "6.7 billion")
    assert [shown(control) for control in (panel.words, panel.options, panel.number)] == [False, False, True]
    assert panel.number.placeholder == "As a number, in GB"
    panel.number.value = typed
    panel.reveal.click()
    assert said in panel.check.value


def test_what_cannot_be_judged_is_told_and_can_be_mended(panel):
    go_to(panel, "6.7 billion")
    panel.number.value = "80 TB"
    panel.reveal.click()
    assert "80 TB is in another unit. Answer with a number, in GB." in panel.told.value
    assert shown(panel.reveal)
    assert not panel.number.disabled
    panel.number.value = "80"
    panel.reveal.click()
    assert "Right" in panel.check.value
    assert "another unit" not in panel.told.value


def test_an_option_that_is_taken_brings_its_own_explanation(panel):
    go_to(panel, "rename last")
    offered = [button for button in panel.options.buttons.values() if shown(button)]
    assert [button.description for button in offered] == ["A. The rename itself.", "B. A sync of the folder."]
    assert panel.options.value is None, "none is taken beforehand"
    for taken in offered[::-1]:
        taken.click()
        assert [button.description.startswith("✓") for button in offered] == [one is taken for one in offered]
    panel.reveal.click()
    assert "Not A. It is atomic, and that is another thing." in panel.check.value
    assert panel.options.disabled


def test_what_was_taken_once_is_not_taken_beforehand_the_next_time(panel):
    go_to(panel, "rename last")
    panel.options.buttons["A"].click()
    while panel.card:
        rate(panel, "again")
    panel.again.click()
    go_to(panel, "rename last")
    assert panel.options.value is None


def test_without_an_option_taken_the_whole_check_is_shown(panel):
    go_to(panel, "rename last")
    panel.reveal.click()
    assert "It is atomic" in panel.check.value
    assert "The name stands in the folder" in panel.check.value


def test_after_the_last_card_it_says_what_is_next_and_can_look_again(panel, home):
    while panel.card:
        rate(panel, "good")
    assert "Done: 4 cards. 1 card is due now." in panel.head.value
    assert not shown(panel.reveal)
    assert panel.question.value == ""
    assert shown(panel.again)
    panel.again.click()
    assert "Card 1 of 4" in panel.head.value
    assert not shown(panel.again)


def test_when_nothing_is_due_it_says_so_calmly(cards):
    panel = review()
    assert "Nothing is due." in panel.head.value
    assert panel.card is None
    assert shown(panel.again)


def focused(panel, monkeypatch):
    order = []
    for control in (panel.words, panel.number, panel.reveal):  # all buttons are of one class
        monkeypatch.setattr(
            type(control), "focus", lambda self: order.append(self.description), raising=False
        )
    return order


def test_focus_goes_to_what_comes_next(panel, monkeypatch):
    order = focused(panel, monkeypatch)
    rate(panel, "good")
    assert order == ["Again: in 10 minutes", "Your answer"]
    go_to(panel, "rename last")
    assert order[-1] == "A. The rename itself."
    panel.options.buttons["B"].click()
    panel.reveal.click()
    assert order[-1].startswith("Good: ")
    while panel.card:
        rate(panel, "good")
    assert order[-1] == "Look again"


def test_every_control_has_a_label_that_is_read_out(panel):
    panel.reveal.click()
    controls = [
        panel.words,
        panel.number,
        panel.reveal,
        panel.again,
        *panel.ratings.values(),
    ]
    assert all(control.description for control in controls)
    panel.ratings["good"].click()
    assert "role='status'" in panel.told.value
    panel.reveal.click()
    assert panel.check.value.startswith("<div role='status'>")


def test_where_nothing_can_be_kept_it_says_so_and_goes_on(cards, home):
    home.write_text("a file where the folder should be")
    panel = review("18")
    assert "could not be read" in panel.told.value
    rate(panel, "good")
    assert "Nothing could be kept in" in panel.told.value
    assert "Card 2 of 4" in panel.head.value


def test_a_damaged_file_is_told_before_the_first_card(cards, home):
    home.mkdir(parents=True)
    (home / "progress.json").write_text("{")
    assert "progress.damaged.json was set aside" in review("18").told.value


def test_two_panels_at_once_lose_no_rating(cards):
    one, other = review("18"), review("18")
    for panel in (one, other, one, other):
        rate(panel, "good")
    assert sorted(len(log) for log in history.so_far().logs.values()) == [2, 2]


def test_whatever_goes_wrong_is_shown(panel, monkeypatch):
    monkeypatch.setattr(store, "change", lambda edit: 1 / 0)
    rate(panel, "good")
    assert "ZeroDivisionError" in panel.told.value


def test_without_widgets_it_is_text(panel):
    assert repr(panel) == "4 cards to lesson 18."
    bundle = panel._repr_mimebundle_()
    assert bundle["text/plain"] == repr(panel)
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_a_lesson_without_cards_is_refused(cards):
    with pytest.raises(DeckError, match="There are for: 18"):
        review("21")
