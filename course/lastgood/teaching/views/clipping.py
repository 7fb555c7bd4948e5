"""A view of gradient clipping: a real run's norms under any threshold, and what becomes of the direction."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any, Final

import ipywidgets as widgets
import numpy as np

from lastgood.teaching.views.clipping_norms import Norms, record
from lastgood.teaching.views.clipping_picture import EXAMPLE, clipping_figure, example_after
from lastgood.teaching.views.controls import (
    RESTARTED,
    Later,
    Redrawn,
    call_later,
    paragraph,
    slider,
    spoken,
    wrapped,
)

TOGETHER: Final = "by the global norm"
ONE_BY_ONE: Final = "each tensor by itself"
_EXAMPLE_NORM: Final = float(np.hypot(*EXAMPLE))


class ClippingView:
    """A threshold, a menu, the norms before and after, and a button that trains with the threshold.

    `trained` gives the norms of a run for the threshold that it is to be trained with.
    """

    def __init__(
        self, trained: Callable[[float], Norms] = record, *, start: float = 1.0, later: Later = call_later
    ) -> None:
        self._trained = trained
        self.norms = trained(start)
        self.max_norm = slider(
            widgets.FloatSlider, "threshold", min=0.05, max=5.0, step=0.05, value=start, readout_format=".2f"
        )
        self.way = widgets.Dropdown(options=[TOGETHER, ONE_BY_ONE], description="Clip")
        self.again = widgets.Button(
            description="Train again with this threshold", layout=widgets.Layout(width="auto")
        )
        self.note = widgets.HTML()
        self.view = Redrawn(self._draw, later=later)
        for control in (self.max_norm, self.way):
            control.observe(self.view.soon, names="value")
        self.again.on_click(self._train_again)
        self._tell_the_run()
        self.widget = widgets.VBox(
            [
                wrapped([self.max_norm, self.way, self.again]),
                self.view.picture,
                self.view.words,
                self.note,
                widgets.HTML(paragraph(RESTARTED, quiet=True)),
            ]
        )

    @property
    def together(self) -> bool:
        return bool(self.way.value == TOGETHER)

    def _train_again(self, button: Any) -> None:
        self.again.disabled, self.note.value = True, paragraph("Training, some seconds…", quiet=True)
        try:
            self.norms = self._trained(self.max_norm.value)
        except Exception as error:  # a kernel would hide it
            cause = escape(f"{type(error).__name__}: {error}")
            self.note.value = paragraph(f"<b>The run could not be trained.</b> {cause}")
        else:
            self._tell_the_run()
            self.view.now()
        finally:
            self.again.disabled = False

    def _tell_the_run(self) -> None:
        norms = self.norms
        noise = (
            ""
            if norms.damaged is None
            else f" The batch of step {norms.damaged} was random characters; it raised the held-out loss by "
            f"{norms.rise:.3f}."
        )
        self.note.value = paragraph(
            f"<b>The run:</b> {len(norms.total)} steps of the course's GPT, trained with the global norm "
            f"clipped at {norms.max_norm:.2f}.{noise} Held-out loss at the end: {norms.heldout:.3f} nats a "
            "character. Moving the threshold shows what <i>these</i> gradients would become. It does not "
            "change the run: with another threshold the later gradients would have been others.",
            quiet=True,
        )

    def _draw(self) -> tuple[str, str]:
        norms, limit = self.norms, self.max_norm.value
        clipped = norms.globally(limit) if self.together else norms.one_by_one(limit)
        sentence, more = in_words(norms, limit, together=self.together)
        alt = (
            f"Gradient norms of {len(norms.total)} steps before and after clipping at {limit:.2f}, and an "
            f"example of two tensors as an arrow. {sentence} {more}"
        )
        picture = clipping_figure(norms, clipped, limit, alt, together=self.together)
        return picture, spoken(sentence, more)


def in_words(norms: Norms, limit: float, *, together: bool) -> tuple[str, str]:
    """How many steps a threshold touches, and what it does to the direction, in the run and the example."""
    clipped = norms.globally(limit) if together else norms.one_by_one(limit)
    touched, steps = int(clipped.touched.sum()), len(norms.total)
    how_many = f"{touched} of {steps} steps are clipped at {limit:.2f}"
    a, b = example_after(limit, together=together)
    turned = _angle(EXAMPLE, (a, b))
    example = f"The example: norms {EXAMPLE[0]:g} and {EXAMPLE[1]:g} become {a:.2f} and {b:.2f}"
    if not touched:
        return f"{how_many}: nothing changes.", f"{example}."
    if together:
        lowest = float(np.min(limit / norms.total))
        return (
            f"{how_many}, and none turns.",
            f"The smallest factor is {lowest:.2f}. {example}: "
            + (
                f"both times {limit / _EXAMPLE_NORM:.2f}."
                if limit < _EXAMPLE_NORM
                else "it is below the threshold."
            ),
        )
    angles = clipped.turned[clipped.touched]
    return (
        f"{how_many}. Half of them turn by over {np.median(angles):.1f}°, the worst by {angles.max():.1f}°.",
        f"Their norm is still up to {clipped.norms.max():.2f}: each tensor has the threshold for itself. "
        f"{example}: the arrow turns by {turned:.0f}°.",
    )


def _angle(one: tuple[float, float], other: tuple[float, float]) -> float:
    return float(np.degrees(abs(np.arctan2(one[1], one[0]) - np.arctan2(other[1], other[0]))))


def clipping_view() -> widgets.VBox:
    """The view, its run trained and its first picture drawn: some seconds."""
    view = ClippingView()
    view.view.now()
    return view.widget
