"""When a card comes again: computed by FSRS from all its ratings, each time anew.

Nothing but ratings is kept, so that two notebooks that rate at once cannot contradict each other, and a newer
FSRS computes better dates from the same history. A day begins at four in the morning: whoever learns past
midnight is still in the evening before. Whatever comes after days comes at the beginning of its day.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fsrs import Card, Scheduler

RATINGS: Final = ("again", "hard", "good", "easy")
_MORNING: Final = 4  # the hour at which a day begins
_SOON: Final = timedelta(minutes=10)  # until what was forgotten, or is new, is asked once more


@dataclass(frozen=True)
class Rated:
    """One rating, and the moment, with its time zone, at which the clock stood."""

    when: datetime
    rating: str


def due(log: Sequence[Rated], now: datetime) -> datetime:
    """When a card with these ratings, at least one, is to be asked next.

    Clocks are set back, and ahead. Time counts only beyond the latest day seen before, so that no interval is
    negative; and a card whose last rating lies in the future is due now instead of when that has come.
    """
    last = log[-1].when
    return now if last > now else _after(last, _interval(log))


def outlook(log: Sequence[Rated], now: datetime) -> dict[str, datetime]:
    """When a card would be due after each of the ratings, if it were rated now."""
    return {rating: _after(now, _interval([*log, Rated(now, rating)])) for rating in RATINGS}


def day(moment: datetime) -> date:
    """The day that a moment belongs to, where the learner is."""
    return (moment.astimezone() - timedelta(hours=_MORNING)).date()


def begin(of: date) -> datetime:
    """When that day begins."""
    return datetime.combine(of, time(_MORNING)).astimezone()


def _after(moment: datetime, interval: timedelta) -> datetime:
    if interval < timedelta(days=1):
        return moment + interval
    return begin(day(moment) + timedelta(days=interval.days))


def _interval(log: Sequence[Rated]) -> timedelta:
    """The interval after the last rating. FSRS counts spans of 24 hours, so it is told days, as noons."""
    from fsrs import Card, Rating

    card: Card = Card(card_id=0)  # without an id, it would wait for a fresh one
    latest = datetime.min.replace(tzinfo=UTC)
    for rated in log:
        latest = max(latest, datetime.combine(day(rated.when), time(12), UTC))
        card, _ = _scheduler().review_card(card, Rating[rated.rating.capitalize()], latest)
    return card.due - latest


@cache
def _scheduler() -> Scheduler:
    from fsrs import Scheduler

    # Without fuzzing: the same ratings always give the same dates.
    return Scheduler(learning_steps=(_SOON,), relearning_steps=(_SOON,), enable_fuzzing=False)
