"""`lastgood review`: the cards that are due, in the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from lastgood.commands.errors import plain_errors

if TYPE_CHECKING:
    from rich.console import Console

    from lastgood.teaching.study.answers import Verdict
    from lastgood.teaching.study.cards import Card
    from lastgood.teaching.study.deck import Deck

_STOP = "q"


class _StopError(Exception):
    """The learner asked to stop."""


def review(
    lesson: Annotated[
        str | None,
        typer.Argument(help="A lesson, such as 18: all of its questions.", show_default="what is due"),
    ] = None,
) -> None:
    """Review cards: answer, compare with the Check, and say how well you knew it."""
    from rich.console import Console

    from lastgood.teaching.study.deck import Deck, DeckError
    from lastgood.workspace import WorkspaceError, find_root

    with plain_errors(WorkspaceError, DeckError):
        deck = Deck(find_root(), lesson)
    console = Console(highlight=False)
    for line in [deck.head(), *deck.notes()]:
        console.print(line, markup=False, soft_wrap=True)
    _review(deck, console)


def _review(deck: Deck, console: Console) -> None:
    waiting, kept, refused = deck.waiting(), 0, ""
    if not waiting:
        return
    console.print("Answer in a line, or press Enter to see the Check. Ctrl-D stops; what you rated is kept.")
    try:
        for number, card in enumerate(waiting, start=1):
            _ask(deck, card, f"{number} of {len(waiting)}, from {card.where}", console)
            fault = _keep(deck, card, _rating(deck, card, console))
            kept += not fault
            if fault and not refused:
                console.print(fault, style="red", markup=False, soft_wrap=True)
            refused = refused or fault
    except (EOFError, KeyboardInterrupt, _StopError):
        console.print("\nStopped.")
    console.print(
        f"\n{kept} {'rating' if kept == 1 else 'ratings'} kept. {deck.ahead()}", markup=False, soft_wrap=True
    )


def _ask(deck: Deck, card: Card, head: str, console: Console) -> None:
    """Ask a card, take an answer, and show the Check. Raises EOFError, KeyboardInterrupt."""
    from rich.markdown import Markdown

    from lastgood.teaching.study.markup import unlinked

    console.print()
    console.rule(head, align="left", characters="─")
    if note := deck.note_on(card):
        console.print(note, markup=False, soft_wrap=True)
    console.print(Markdown(unlinked(card.whole), hyperlinks=False))
    verdict = _answer(card, console)
    console.print()
    console.print(Markdown(unlinked(verdict.words if verdict else card.check), hyperlinks=False))


def _answer(card: Card, console: Console) -> Verdict | None:
    """What is said of the learner's answer; None where only they can say."""
    from lastgood.teaching.study.answers import AnswerError

    while True:
        given = input("\nYour answer: ")
        if card.form is None or not given.strip():
            return None
        try:
            return card.form.judge(given)
        except AnswerError as error:
            console.print(str(error), markup=False, soft_wrap=True)


def _rating(deck: Deck, card: Card, console: Console) -> str:
    """How well they knew it. Raises EOFError, KeyboardInterrupt, _StopError."""
    from lastgood.teaching.study.schedule import RATINGS

    outlook = deck.outlook(card)
    shown = "   ".join(f"{key} {name} ({outlook[name]})" for key, name in enumerate(RATINGS, start=1))
    console.print(f"\nHow well did you know it?   {shown}   {_STOP} stop", markup=False, soft_wrap=True)
    keys = {str(key): name for key, name in enumerate(RATINGS, start=1)}
    keys |= {name[0]: name for name in RATINGS} | {name: name for name in RATINGS}
    while True:
        key = _key().strip().lower()
        if key == _STOP:
            raise _StopError
        if key in keys:
            return keys[key]
        if key:
            console.print(f"Press 1, 2, 3 or 4, or {_STOP}.", markup=False)


def _key() -> str:
    """One key, at once in a terminal; else a line."""
    return typer.getchar() if sys.stdin.isatty() else input()


def _keep(deck: Deck, card: Card, rating: str) -> str:
    """Keep a rating; where that cannot be, say why."""
    from lastgood.teaching.study.store import StoreError

    try:
        deck.rate(card, rating)
    except StoreError as error:
        return str(error)
    return ""
