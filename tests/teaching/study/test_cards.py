"""All cards of a course."""

import pytest

from lastgood.teaching.study.cards import cards as read
from lastgood.teaching.study.cards import ledger
from lastgood.teaching.study.identity import LEDGER, IdentityError, as_text
from lastgood.teaching.study.questions import QuestionError


def test_they_come_by_lesson_its_questions_first_then_its_terms(cards):
    assert [(card.lesson, card.where) for card in read(cards)] == [
        ("18", "lesson 18"),
        ("18", "lesson 18"),
        ("18", "questions to lesson 18"),
        ("18", "questions to lesson 18"),
        ("18", "glossary"),
        ("20", "glossary"),
    ]


def test_a_term_is_asked_once_where_it_is_met_first_and_is_known_by_its_anchor(cards):
    term = read(cards)[4]
    assert term.id == "term:atomic-rename"
    assert "Atomic rename" in term.text
    assert "in one stroke" in term.check
    assert "POSIX" in term.check


def test_labs_may_ask_too(cards, notebooks):
    text = "▢ Was it hard?\n\n<details><summary>Check</summary>\n\nIt was.\n\n</details>"
    notebooks.write(cards / "labs/lab18/lab18.ipynb", notebooks.text(text))
    assert [card.where for card in read(cards)].count("lab 18") == 1


def test_a_malformed_question_is_named_by_notebook_cell_and_line(cards, notebooks):
    notebooks.write(cards / "course/lessons/18_keep.ipynb", notebooks.text("# L"), notebooks.text("\n▢ Why?"))
    with pytest.raises(QuestionError, match=r"course/lessons/18_keep\.ipynb, cell 2, line 2: has no Check"):
        read(cards)


def test_the_same_question_twice_is_refused_with_both_places(cards):
    path = cards / "course/questions/18.md"
    text = path.read_text()
    path.write_text(text + text[text.index("▢ What") :])
    with pytest.raises(IdentityError, match=r"18\.md:29 asks the same as course/questions/18\.md:17"):
        read(cards)


def test_a_card_keeps_its_id_over_releases_though_its_text_is_edited(cards):
    before = read(cards)
    (cards / LEDGER).write_text(as_text(ledger(cards)))
    path = cards / "course/questions/18.md"
    path.write_text(path.read_text().replace("the power fails", "power fails"))
    assert [card.id for card in read(cards)] == [card.id for card in before]
    path.write_text(path.read_text().replace("What makes a rename last, when", "How long does it take after"))
    assert [card.id for card in read(cards)] != [card.id for card in before]


def test_the_courses_own_cards_can_be_read_and_are_all_different(repository):
    found = read(repository)
    assert len({card.id for card in found}) == len(found) > 60
    assert {card.lesson for card in found} >= {"08", "17", "18", "19", "20"}
