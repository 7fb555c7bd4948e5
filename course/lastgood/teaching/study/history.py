"""What a learner has rated: an ever longer list for each card, in the file that holds their progress.

Ratings are added under the file's lock and never changed, so that of two notebooks which rate at once neither
loses one. What is due is computed from them: `schedule`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lastgood.teaching.study import store
from lastgood.teaching.study.cards import Card
from lastgood.teaching.study.schedule import Rated
from lastgood.teaching.study.store import Content, Found


@dataclass(frozen=True)
class History:
    """All ratings so far.

    Attributes:
        logs: for a card's id, its ratings, in the order in which they were given.
        texts: for a card's id, what it asked when it was last rated.
        told: ids of cards that are gone, of which the learner has been told.
        read: numbers of the lessons that the learner has ticked as read.
        notes: what has to be said about the file.
    """

    logs: Mapping[str, tuple[Rated, ...]]
    texts: Mapping[str, str]
    told: frozenset[str]
    read: frozenset[str]
    notes: tuple[str, ...] = ()


def so_far() -> History:
    """Everything rated so far. Never raises."""
    return _history(store.look())


def keep(card: Card, rating: str, when: datetime, course: Collection[str]) -> History:
    """Keep a rating. `course` are the ids of all cards: what is gone counts as told. Raises StoreError."""

    def edit(content: Content) -> None:
        reviews: dict[str, Any] = content.setdefault("reviews", {})
        entry = reviews.setdefault(card.id, {})
        entry["text"] = card.key
        entry.setdefault("ratings", []).append(f"{when.astimezone().isoformat(timespec='seconds')} {rating}")
        for name, other in reviews.items():
            if name in course:
                other.pop("gone", None)
            else:
                other.setdefault("gone", when.astimezone().isoformat(timespec="seconds"))

    return _history(store.change(edit))


def _history(found: Found) -> History:
    reviews = found.content.get("reviews", {})
    return History(
        logs={
            name: tuple(map(_rated, entry["ratings"])) for name, entry in reviews.items() if entry["ratings"]
        },
        texts={name: entry["text"] for name, entry in reviews.items() if "text" in entry},
        told=frozenset(name for name, entry in reviews.items() if "gone" in entry),
        read=frozenset(number for number, entry in found.content["lessons"].items() if "read" in entry),
        notes=found.notes,
    )


def _rated(line: str) -> Rated:
    when, rating = line.split()
    return Rated(datetime.fromisoformat(when).astimezone(), rating)
