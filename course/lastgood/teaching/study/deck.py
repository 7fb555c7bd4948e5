"""Which cards are due, what is said of them, and where a rating goes: for the notebook and the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from lastgood.teaching.study import history
from lastgood.teaching.study.cards import Card, cards
from lastgood.teaching.study.identity import IdentityError, same
from lastgood.teaching.study.outline import OutlineError
from lastgood.teaching.study.questions import QuestionError
from lastgood.teaching.study.schedule import begin, day, due, outlook
from lastgood.teaching.study.terms import TermError

NEW_A_DAY: Final = 10  # cards never rated before that a day asks by itself

Clock = Callable[[], datetime]


class DeckError(Exception):
    """There are no such cards, or the course's questions cannot be read; the message says why."""


def now() -> datetime:
    """This moment, where the learner is."""
    return datetime.now().astimezone()


class Deck:
    """The cards of a course, or of one lesson, and how each stands.

    A lesson that is asked for by name gives its questions. Its terms, which are many, follow by and by.

    Args:
        root: the course's.
        lesson: its number, such as "18"; None for whatever is due.
        clock: gives the moment.

    Raises:
        DeckError: there is no card for that lesson, or the course's questions cannot be read.
    """

    def __init__(self, root: Path, lesson: str | int | None = None, clock: Clock = now) -> None:
        self._course = of_course(root)
        self.lesson = None if lesson is None else self._number(str(lesson))
        self._clock = clock
        self._ids = {card.id for card in self._course}
        self._history = history.so_far()

    def _number(self, lesson: str) -> str:
        number = lesson.strip().lower().removeprefix("lesson").removeprefix("lab").strip().rjust(2, "0")
        known = sorted({card.lesson for card in self._course if not card.is_term})
        if number not in known:
            raise DeckError(
                f"There are no cards for lesson {lesson!r}. There are for: {', '.join(known) or 'none'}."
            )
        return number

    def look_again(self) -> None:
        """Read what has been kept since, by this deck or another."""
        self._history = history.so_far()

    def waiting(self) -> list[Card]:
        """The cards to ask now: those due, then new ones; of a lesson every question, those not due last."""
        moment = self._clock()
        if self.lesson is None:
            return [*self._due(moment), *self._new()[: self._new_left(moment)]]
        own = [card for card in self._course if card.lesson == self.lesson and not card.is_term]
        later = {card.id for card in own if (comes := self._comes(card, moment)) and comes > moment}
        return sorted(own, key=lambda card: card.id in later)

    def rate(self, card: Card, rating: str) -> None:
        """Keep a rating. Raises StoreError."""
        self._history = history.keep(card, rating, self._clock(), self._ids)

    def outlook(self, card: Card) -> dict[str, str]:
        """For each rating, when the card would come again, in words: "in 10 minutes", "tomorrow"."""
        moment = self._clock()
        ahead = outlook(self._history.logs.get(card.id, ()), moment)
        return {rating: when(comes, moment) for rating, comes in ahead.items()}

    def head(self) -> str:
        """How many cards wait, in a sentence."""
        number = len(self.waiting())
        if self.lesson is not None:
            return f"{counted(number)} to lesson {self.lesson}."
        if number:
            return f"{counted(number)} to review."
        return self.ahead()

    def ahead(self) -> str:
        """What is due now or next, over the whole course."""
        moment = self._clock()
        asked, fresh = self._due(moment), self._new()
        if number := len(asked) + min(len(fresh), self._new_left(moment)):
            return f"{counted(number)} {'is' if number == 1 else 'are'} due now."
        dates = sorted(comes for card in self._course if (comes := self._comes(card, moment)))
        if fresh:
            dates = sorted([*dates, *[begin(day(moment) + timedelta(days=1))] * min(len(fresh), NEW_A_DAY)])
        if not dates:
            return "Nothing is due. Cards come from lessons that you have ticked as read or reviewed by name."
        number = sum(day(date) == day(dates[0]) for date in dates)
        return f"Nothing is due. Next: {when(dates[0], moment)}, {counted(number)}."

    def notes(self) -> list[str]:
        """What has to be said of the file, the clock, and of cards that are gone."""
        return [*self._history.notes, *self._on_clock(), *self._on_gone()]

    def note_on(self, card: Card) -> str:
        """What has to be said of one card: that its wording has changed since it was last rated."""
        before = self._history.texts.get(card.id)
        if before is None or same(before, card.key):
            return ""
        return "The wording of this card has changed a little since you last rated it. Its history stays."

    def _comes(self, card: Card, moment: datetime) -> datetime | None:
        """When a card is due; None for one never rated."""
        log = self._history.logs.get(card.id)
        return due(log, moment) if log else None

    def _due(self, moment: datetime) -> list[Card]:
        """Those due, the longest first."""
        found = [(comes, card) for card in self._course if (comes := self._comes(card, moment))]
        return [card for comes, card in sorted(found, key=lambda pair: pair[0]) if comes <= moment]

    def _new(self) -> list[Card]:
        """Cards never rated, of lessons that were ticked as read or whose cards were begun."""
        logs = self._history.logs
        begun = {card.lesson for card in self._course if card.id in logs} | self._history.read
        return [card for card in self._course if card.lesson in begun and card.id not in logs]

    def _new_left(self, moment: datetime) -> int:
        today = sum(day(log[0].when) == day(moment) for log in self._history.logs.values())
        return max(NEW_A_DAY - today, 0)

    def _on_clock(self) -> Iterator[str]:
        moment = self._clock()
        ahead = [log[-1].when for log in self._history.logs.values() if log[-1].when > moment]
        if ahead:
            yield (
                f"The clock has been set back: {counted(len(ahead))} "
                f"{'was' if len(ahead) == 1 else 'were'} rated at times up to {max(ahead):%Y-%m-%d %H:%M}, "
                "which have not come yet. They are due now. Nothing is lost."
            )

    def _on_gone(self) -> Iterator[str]:
        gone = self._history.logs.keys() - self._ids - self._history.told
        if gone:
            yield (
                f"{counted(len(gone))} that you have rated {'is' if len(gone) == 1 else 'are'} no longer in "
                "the course: removed, or so much rewritten that it begins afresh. Its ratings stay kept."
            )


def of_course(root: Path) -> list[Card]:
    """Every card of the course at `root`. Raises DeckError."""
    try:
        return cards(root)
    except (OutlineError, QuestionError, TermError, IdentityError) as error:
        raise DeckError(str(error)) from error


def counted(number: int) -> str:
    """A number of cards, in words."""
    return f"{number} card{'' if number == 1 else 's'}"


def when(comes: datetime, moment: datetime) -> str:
    """When something comes, as one says it."""
    minutes = max(round((comes - moment).total_seconds() / 60), 1)
    if minutes < 60 and day(comes) == day(moment):
        return f"in {minutes} minute{'' if minutes == 1 else 's'}"
    days = (day(comes) - day(moment)).days
    if days == 0:
        return f"today at {comes.astimezone():%H:%M}"
    return "tomorrow" if days == 1 else f"in {days} days"
