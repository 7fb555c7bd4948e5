"""What is due, and what is said of it."""

from datetime import UTC, datetime, timedelta

import pytest

from lastgood.teaching.study import deck as decks
from lastgood.teaching.study import record
from lastgood.teaching.study.deck import Deck, DeckError

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)


class Clock:
    """A clock that stands until it is set."""

    def __init__(self):
        self.moment = NOON

    def __call__(self):
        return self.moment


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def deck(cards, clock):
    """Makes a deck of the small course."""
    return lambda lesson=None: Deck(cards, lesson, clock)


def rate_all(deck, rating="good"):
    for card in deck.waiting():
        deck.rate(card, rating)


def reword(cards, before, after):
    path = cards / "course/questions/18.md"
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after))


def keep_ledger(cards):
    from lastgood.teaching.study.cards import ledger
    from lastgood.teaching.study.identity import LEDGER, as_text

    (cards / LEDGER).write_text(as_text(ledger(cards)))


def test_nothing_comes_of_lessons_that_were_neither_read_nor_begun(deck):
    assert deck().waiting() == []
    assert deck().head().startswith("Nothing is due. Cards come from lessons that you have ticked as read")


def test_a_lesson_that_was_read_brings_its_cards(deck):
    record.mark_read("18", True)
    assert [card.lesson for card in deck().waiting()] == ["18"] * 5
    assert deck().head() == "5 cards to review."


def test_a_day_brings_so_many_new_cards_and_no_more(deck, clock, monkeypatch):
    monkeypatch.setattr(decks, "NEW_A_DAY", 2)
    record.mark_read("18", True)
    today = deck()
    assert len(today.waiting()) == 2
    rate_all(today, "easy")
    assert today.waiting() == []
    assert today.ahead() == "Nothing is due. Next: tomorrow, 2 cards."
    clock.moment += DAY
    assert len(deck().waiting()) == 2


@pytest.mark.parametrize("lesson", ["18", 18, "lesson 18", "lab18", " 18 "])
def test_a_lesson_asked_for_by_name_brings_all_of_its_questions(deck, lesson):
    assert [card.where for card in deck(lesson).waiting()] == ["lesson 18"] * 2 + [
        "questions to lesson 18"
    ] * 2
    assert deck(lesson).head() == "4 cards to lesson 18."


@pytest.mark.parametrize("lesson", ["21", "20", "", "eighteen"])
def test_a_lesson_without_cards_is_refused_with_those_that_have_some(deck, lesson):
    with pytest.raises(DeckError, match="There are for: 18"):
        deck(lesson)


def test_a_malformed_question_is_told_with_its_place(cards, deck):
    reword(cards, "- **A.** The rename itself.\n", "")
    with pytest.raises(DeckError, match=r"course/questions/18\.md:17"):
        deck()


def test_what_was_rated_comes_back_when_it_is_due(deck, clock):
    now = deck("18")
    rate_all(now)
    rate_all(deck())
    assert now.ahead() != deck().ahead()
    assert deck().ahead().startswith("Nothing is due. Next: in ")
    assert deck().ahead().endswith("days, 5 cards.")
    clock.moment += 30 * DAY
    assert len(deck().waiting()) == 5
    assert deck().ahead() == "5 cards are due now."


def test_the_terms_of_a_lesson_follow_its_questions(deck):
    rate_all(deck("18"))
    assert [card.id for card in deck().waiting()] == ["term:atomic-rename"]


def test_what_was_forgotten_comes_back_in_ten_minutes(deck, clock):
    now = deck("18")
    now.rate(now.waiting()[0], "again")
    clock.moment += timedelta(minutes=10)
    assert now.waiting()[0].id in {card.id for card in deck().waiting()}


def test_the_cards_of_a_lesson_that_are_not_due_come_last(deck):
    now = deck("18")
    first = now.waiting()[0]
    now.rate(first, "good")
    assert now.waiting()[-1] == first


def test_another_deck_sees_what_this_one_kept_when_it_looks_again(deck):
    one, other = deck("18"), deck("18")
    rate_all(one, "easy")
    assert other.ahead() != one.ahead()
    other.look_again()
    assert other.ahead() == one.ahead()


def test_ratings_say_when_the_card_comes_again(deck):
    ahead = deck("18").outlook(deck("18").waiting()[0])
    assert ahead["again"] == "in 10 minutes"
    assert ahead["good"].startswith("in ")
    assert list(ahead) == ["again", "hard", "good", "easy"]


@pytest.mark.parametrize(
    ("gap", "said"),
    [
        (timedelta(seconds=1), "in 1 minute"),
        (timedelta(minutes=9.6), "in 10 minutes"),
        (timedelta(hours=3), "today at 15:00"),
        (DAY, "tomorrow"),
        (40 * DAY, "in 40 days"),
    ],
)
def test_moments_are_told_as_one_says_them(gap, said, monkeypatch):
    assert decks.when(NOON + gap, NOON) == said


def test_a_clock_set_back_is_told_and_hides_no_card(deck, clock):
    clock.moment = NOON + 365 * DAY
    rate_all(deck("18"))
    rate_all(deck())
    clock.moment = NOON
    assert len(deck().waiting()) == 5
    [note] = deck().notes()
    assert note.startswith("The clock has been set back: 5 cards were rated at times up to 2027-11-30")
    rate_all(deck())
    assert deck().notes() == []
    assert deck().waiting() == []


def test_a_small_edit_keeps_the_history_and_the_card_says_so(cards, deck, clock):
    keep_ledger(cards)
    rate_all(deck("18"))
    rate_all(deck())
    reword(cards, "when the power fails", "if the power fails")
    assert deck().waiting() == []
    notes = [deck().note_on(card) for card in deck("18").waiting()]
    assert sorted(notes)[-1].startswith("The wording of this card has changed a little")
    assert len(list(filter(None, notes))) == 1
    assert deck().notes() == []


def test_a_large_edit_begins_afresh_and_that_is_said_until_the_next_rating(cards, deck, clock):
    keep_ledger(cards)
    rate_all(deck("18"))
    rate_all(deck())
    reword(cards, "What makes a rename last, when the power fails?", "Where does a name stand?")
    clock.moment += DAY
    [fresh] = deck().waiting()
    assert fresh.text == "Where does a name stand?"
    [note] = deck().notes()
    assert note.startswith(
        "1 card that you have rated is no longer in the course: removed, or so much rewritten"
    )
    deck().rate(fresh, "good")
    assert deck().notes() == []


def test_a_deleted_question_is_told_and_its_ratings_are_kept(cards, deck, home):
    rate_all(deck("18"))
    (cards / "course/questions/18.md").unlink()
    assert deck().notes()[0].startswith("2 cards that you have rated are no longer")
    assert "What makes a rename last" in (home / "progress.json").read_text()
