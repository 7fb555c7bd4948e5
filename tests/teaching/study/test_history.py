"""Ratings in the file that holds a learner's progress: none is lost, none is changed."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from lastgood.teaching.study import history, record, store
from lastgood.teaching.study.cards import Card
from lastgood.teaching.study.store import StoreError

EVENING = datetime(2026, 11, 30, 21, 0, tzinfo=UTC)
CARD = Card("term:fsync", "18", "glossary", "**Fsync**:\nwhat is it?", "A call.")
RATER = """
import sys
from datetime import UTC, datetime
from lastgood.teaching.study import history
from lastgood.teaching.study.cards import Card
for number in range(int(sys.argv[2])):
    card = Card("shared" if number % 2 else sys.argv[1], "18", "", "?", "!")
    history.keep(card, "good", datetime.now(UTC), {card.id})
"""


def put(home, reviews):
    home.mkdir(parents=True, exist_ok=True)
    (home / "progress.json").write_text(json.dumps({"version": 1, "reviews": reviews}))


def test_each_rating_is_a_line_that_a_person_can_read(home):
    history.keep(CARD, "hard", EVENING, {CARD.id})
    history.keep(CARD, "good", EVENING + timedelta(days=2), {CARD.id})
    [entry] = json.loads((home / "progress.json").read_text())["reviews"].values()
    assert entry["text"] == "Fsync: what is it?"
    assert [line.split()[1] for line in entry["ratings"]] == ["hard", "good"]
    [log] = history.so_far().logs.values()
    assert [(rated.when, rated.rating) for rated in log] == [
        (EVENING, "hard"),
        (EVENING + timedelta(days=2), "good"),
    ]


def test_ratings_and_progress_leave_each_other_alone(home):
    record.mark_read("18", True)
    history.keep(CARD, "good", EVENING, {CARD.id})
    record.mark_read("19", True)
    assert history.so_far().logs.keys() == {CARD.id}
    assert history.so_far().read == {"18", "19"}


def test_two_notebooks_that_rate_at_once_lose_no_rating(home):
    raters = [subprocess.Popen([sys.executable, "-c", RATER, name, "20"]) for name in ("one", "other")]
    assert [rater.wait() for rater in raters] == [0, 0]
    logs = history.so_far().logs
    assert {name: len(log) for name, log in logs.items()} == {"one": 10, "other": 10, "shared": 20}


def test_a_clock_set_back_leaves_ratings_in_the_order_in_which_they_were_given(home):
    history.keep(CARD, "easy", EVENING, {CARD.id})
    history.keep(CARD, "again", EVENING - timedelta(days=400), {CARD.id})
    assert [rated.rating for rated in history.so_far().logs[CARD.id]] == ["easy", "again"]


@pytest.mark.parametrize(
    ("reviews", "why"),
    [
        ([], "“reviews” should be an object"),
        ({"a": {"text": "?"}}, "lacks “ratings” in “a”"),
        ({"a": {"ratings": {}}}, "“ratings” should be a list"),
        ({"a": {"ratings": ["good"]}}, "each of “ratings” should be a time and again, hard, good or easy"),
        ({"a": {"ratings": [3]}}, "each of “ratings” should be a time and"),
        (
            {"a": {"ratings": ["2026-11-30T21:00:00+00:00 splendid"]}},
            "each of “ratings” should be a time and",
        ),
        ({"a": {"ratings": ["9999-12-31T23:59:59+00:00 good"]}}, "each of “ratings” should be a time and"),
        ({"a": {"ratings": ["2026-11-30T21:00:00+00:00 good"], "text": 1}}, "“text” should be a text"),
    ],
)
def test_damaged_ratings_are_set_aside_and_not_overwritten(home, reviews, why):
    put(home, reviews)
    before = (home / "progress.json").read_text()
    found = history.keep(CARD, "good", EVENING, {CARD.id})
    assert why in found.notes[0]
    assert (home / "progress.damaged.json").read_text() == before
    assert found.logs.keys() == {CARD.id}


def test_a_time_without_its_zone_is_taken_for_this_machines(home):
    put(home, {"a": {"ratings": ["2026-11-30T21:00:00 good"]}})
    [rated] = history.so_far().logs["a"]
    assert rated.when.tzinfo is not None


def test_a_card_whose_ratings_a_hand_removed_was_never_rated(home):
    put(home, {"a": {"ratings": []}})
    assert history.so_far().logs == {}


def test_where_nothing_can_be_kept_the_ratings_so_far_stay(home, monkeypatch):
    history.keep(CARD, "good", EVENING, {CARD.id})
    before = (home / "progress.json").read_text()

    def refuse(*_):
        raise OSError(30, os.strerror(30))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(StoreError, match="Read-only file system"):
        history.keep(CARD, "easy", EVENING, {CARD.id})
    assert (home / "progress.json").read_text() == before


def test_cards_that_are_gone_count_as_told_once_something_is_rated_and_no_more_when_they_are_back(home):
    history.keep(Card("old", "18", "", "?", "!"), "good", EVENING, {"old"})
    assert history.so_far().told == set()
    assert history.keep(CARD, "good", EVENING, {CARD.id}).told == {"old"}
    assert history.keep(CARD, "good", EVENING, {CARD.id, "old"}).told == set()
    assert store.look().content["reviews"]["old"]["ratings"]
