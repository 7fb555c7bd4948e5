"""When a card comes again."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from lastgood.teaching.study.schedule import RATINGS, Rated, begin, day, due, outlook

EVENING = datetime(2026, 11, 30, 21, 0, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture(autouse=True, params=["UTC", "Asia/Tokyo", "America/Los_Angeles"])
def _zone(request, monkeypatch):
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def log(*pairs):
    return [Rated(when, rating) for when, rating in pairs]


def test_what_was_forgotten_comes_again_in_minutes_and_what_was_known_in_days():
    ahead = outlook([], EVENING)
    assert tuple(ahead) == RATINGS
    assert ahead["again"] == EVENING + timedelta(minutes=10)
    assert ahead["again"] < ahead["hard"] < ahead["good"] < ahead["easy"]
    assert day(ahead["good"]) > day(EVENING)


def test_a_card_that_comes_on_a_day_comes_when_the_day_begins():
    found = outlook([], EVENING)["good"]
    assert found == begin(day(found))
    assert found.astimezone().hour == 4


def test_past_midnight_it_is_still_the_evening_before():
    midnight = begin(day(EVENING)) + timedelta(hours=20)
    assert day(midnight - timedelta(minutes=1)) == day(midnight + timedelta(hours=3, minutes=59))
    assert day(midnight + timedelta(hours=4)) == day(midnight) + DAY


def test_intervals_grow_while_it_is_known():
    history, moment, gaps = [], EVENING, []
    for _ in range(6):
        history.append(Rated(moment, "good"))
        gaps.append(due(history, moment) - moment)
        moment = due(history, moment)
    assert gaps == sorted(gaps)
    assert gaps[-1] > 30 * DAY


def test_the_same_ratings_always_give_the_same_dates():
    history = log((EVENING, "good"), (EVENING + 3 * DAY, "hard"), (EVENING + 9 * DAY, "easy"))
    assert len({due(history, EVENING + 9 * DAY) for _ in range(20)}) == 1


@pytest.mark.parametrize("rating", RATINGS)
@pytest.mark.parametrize("back", [timedelta(minutes=1), DAY, 400 * DAY])
def test_a_clock_set_back_between_two_ratings_counts_as_no_time(rating, back):
    honest = log((EVENING, "good"), (EVENING, rating))
    crooked = log((EVENING, "good"), (EVENING - back, rating))
    assert due(crooked, EVENING - back) - (EVENING - back) >= timedelta(minutes=10) - DAY
    assert due(crooked, EVENING - back) > EVENING - back
    spans = [day(due(history, history[-1].when)) - day(history[-1].when) for history in (honest, crooked)]
    assert spans[0] == spans[1]


def test_a_clock_that_ran_ahead_does_not_hide_a_card_until_then():
    ahead = log((EVENING + 365 * DAY, "easy"))
    assert due(ahead, EVENING) == EVENING
    again = [*ahead, Rated(EVENING, "good")]
    assert EVENING < due(again, EVENING) < EVENING + 60 * DAY


def test_one_rating_under_a_clock_that_was_reset_to_the_beginning_does_not_make_the_next_gap_of_decades():
    reset = log((EVENING, "good"), (datetime(1970, 1, 1, tzinfo=UTC), "good"), (EVENING + DAY, "good"))
    assert due(reset, EVENING + DAY) < EVENING + 60 * DAY
