"""Cards in a notebook: one asks, the learner answers, reveals the Check beside the answer, and rates it.

Everything can be reached with the keyboard, and focus goes to what comes next. The controls stay in the page
and are shown and hidden: a message to one that the page has not drawn yet would be lost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any, Final

import ipywidgets as widgets

from lastgood.teaching.study.answers import AnswerError, Choice, Verdict
from lastgood.teaching.study.cards import Card
from lastgood.teaching.study.deck import Deck, counted
from lastgood.teaching.study.markup import html, plain
from lastgood.teaching.study.options import STYLE, Options
from lastgood.teaching.study.schedule import RATINGS
from lastgood.teaching.study.store import StoreError
from lastgood.teaching.views.controls import PAUSE, call_later, paragraph

_RESTARTED: Final = (
    "You can stop at any time: each rating is kept at once. If a button does nothing, run this cell again."
)
_RATE: Final = "How well did you know it?"
# Jupyter's own style cuts long labels off.
_STYLE: Final = (
    "<style>.lastgood-cards .widget-html-content, .lastgood-cards .widget-htmlmath-content"
    " {white-space:normal; line-height:1.45; height:auto}"
    # What was answered is to be read beside the Check, though it can no longer be changed.
    ".lastgood-cards :disabled, .lastgood-cards .lastgood-option.jupyter-button:disabled {opacity:1}"
    ".lastgood-cards textarea:disabled, .lastgood-cards input:disabled"
    " {color:var(--jp-content-font-color1); -webkit-text-fill-color:var(--jp-content-font-color1)}"
    f"{STYLE}</style>"
)


class Flashcards:
    """What `review` returns.

    Attributes:
        deck: the cards.
        card: the one that is asked; None before the first and after the last.
        head: which one of how many.
        question: what is asked.
        words, options, number: where it is answered: in words, by an option, by a number.
        reveal: shows the Check.
        check: the Check, beside the answer.
        ratings: a button for each rating.
        again: after the last card, shows what has become due.
        told: the line below, which screen readers say.
        widget: all of them together.
    """

    def __init__(self, deck: Deck) -> None:
        self.deck = deck
        self.card: Card | None = None
        self._done = 0
        self._make()
        self._begin()

    def _make(self) -> None:
        wide = {"width": "100%", "max_width": "640px"}
        self.head, self.told = widgets.HTML(), widgets.HTML()
        self.question, self.check = widgets.HTMLMath(), widgets.HTMLMath()
        self.words = widgets.Textarea(
            description="Your answer", rows=4, layout=widgets.Layout(**wide), placeholder="In your own words"
        )
        self.options = Options()
        self.number = widgets.Text(description="Your answer", layout=widgets.Layout(**wide))
        self.reveal = self._button("Reveal the Check", self._on_reveal)
        self.ratings = {
            name: self._button(name.capitalize(), partial(self._on_rate, name)) for name in RATINGS
        }
        self.again = self._button("Look again", self._on_again)
        answer = widgets.VBox(
            [self.words, self.options.widget, self.number, self.reveal],
            layout=widgets.Layout(flex="1 1 320px", overflow="visible"),
        )
        self.check.layout.flex = "1 1 320px"
        beside = widgets.HBox([answer, self.check], layout=_wrapped("8px 24px"))
        self._rate = widgets.VBox(
            [
                widgets.HTML(paragraph(_RATE)),
                widgets.HBox(list(self.ratings.values()), layout=_wrapped("8px")),
            ]
        )
        quiet = widgets.HTML(_STYLE + paragraph(_RESTARTED, quiet=True))
        self.widget = widgets.VBox(
            [self.head, self.question, beside, self._rate, self.told, self.again, quiet]
        )
        self.widget.add_class("lastgood-cards")

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = self.widget._repr_mimebundle_(**options)
        return {**bundle, "text/plain": repr(self)}

    def __repr__(self) -> str:
        return "\n".join([self.deck.head(), *self.deck.notes()])

    def _begin(self) -> None:
        self._waiting = self.deck.waiting()
        self._done = 0
        notes = self.deck.notes()
        self._next()
        if notes:
            self._tell(*notes)

    def _next(self, *told: str) -> None:
        """Ask the next card, or say that there is none."""
        self.card = self._waiting[self._done] if self._done < len(self._waiting) else None
        self.check.value = ""
        _show(self._rate, False)
        _show(self.again, self.card is None)
        _show(self.reveal, self.card is not None)
        form = self.card.form if self.card else None
        self._input = (
            self.words if form is None else self.options if isinstance(form, Choice) else self.number
        )
        for control in (self.words, self.options, self.number):
            _show(control, self.card is not None and control is self._input)
            control.disabled = False
        if self.card:
            self._ask(self.card)
            self._tell(*told, self.deck.note_on(self.card))
        else:
            self.question.value = ""
            done = f"Done: {counted(self._done)}. " if self._done else ""
            self.head.value = paragraph(f"<b>{escape(done + self.deck.ahead())}</b>")
            self._tell(*told)

    def _ask(self, card: Card) -> None:
        self.head.value = paragraph(
            f"Card {self._done + 1} of {len(self._waiting)}, from {escape(card.where)}", quiet=True
        )
        self.question.value = html(card.text)
        self.words.value = self.number.value = ""
        if isinstance(card.form, Choice):
            self.options.ask({name: plain(text) for name, text in card.form.options.items()})
        elif card.form:
            self.number.placeholder = f"As {card.form.asked}"

    def _on_reveal(self) -> None:
        if self.card is None:
            return
        try:
            verdict = self._judge(self.card)
        except AnswerError as error:
            self._tell(str(error))
            self._focus(self._input)
            return
        self._input.disabled = True
        shown = html(verdict.words if verdict else self.card.check)
        self.check.value = f"<div role='status'>{paragraph('<b>Check</b>')}{shown}</div>"
        for name, coming in self.deck.outlook(self.card).items():
            self.ratings[name].description = f"{name.capitalize()}: {coming}"
        _show(self.reveal, False)
        _show(self._rate, True)
        self._tell()
        self._focus(self.ratings["good" if verdict and verdict.right else "again"])

    def _judge(self, card: Card) -> Verdict | None:
        """What is said of the answer; None where only its author can say. Raises AnswerError."""
        given: str = self._input.value or ""
        return card.form.judge(given) if card.form and given.strip() else None

    def _on_rate(self, name: str) -> None:
        if self.card is None or self._rate.layout.display == "none":
            return
        told = ""
        try:
            self.deck.rate(self.card, name)
        except StoreError as error:
            told = str(error)
        self._done += 1
        self._next(told)
        self._focus(self._input if self.card else self.again)

    def _on_again(self) -> None:
        self.deck.look_again()
        self._begin()
        self._focus(self._input if self.card else self.again)

    def _button(self, description: str, act: Callable[[], None]) -> Any:
        def press(_: Any) -> None:
            try:
                act()
            except Exception as error:  # whatever it is: a kernel would hide it
                self._tell(f"This did not work. {type(error).__name__}: {error}")

        button = widgets.Button(
            description=description, layout=widgets.Layout(width="auto", min_width="96px")
        )
        button.on_click(press)
        return button

    def _focus(self, control: Any) -> None:
        """After a moment, when the page has shown it."""
        call_later(PAUSE, control.focus)

    def _tell(self, *sentences: str) -> None:
        lines = "<br>".join(escape(sentence) for sentence in sentences if sentence)
        self.told.value = f"<div role='status'>{paragraph(lines) if lines else ''}</div>"


def _show(control: Any, shown: bool) -> None:
    control.layout.display = None if shown else "none"


def _wrapped(gap: str) -> Any:
    return widgets.Layout(flex_flow="row wrap", grid_gap=gap, align_items="flex-start", overflow="visible")
