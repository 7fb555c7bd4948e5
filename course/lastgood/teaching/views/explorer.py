"""An explorer: untick a component, and see what the resumed run becomes without it."""

from __future__ import annotations

from html import escape
from typing import Any

import ipywidgets as widgets

from lastgood.recovery.components import COMPONENTS, TITLES
from lastgood.teaching.views.controls import LINE, PAUSE, Handle, Later, call_later
from lastgood.teaching.views.curves import loss_figure
from lastgood.teaching.views.resume import Curve, ResumeExperiment, describe, reasons
from lastgood.training.logbook import ENTROPY

_SHOWN_BEFORE = 20  # steps before the restart that the picture shows
_INTRO = (
    f"<p style='{LINE}'>A run is killed."
    " A new run, of another seed, gets back what is ticked, and trains on:</p>"
)
_NOTE = (
    f"<p style='{LINE};opacity:.75'>The floor is the entropy of the text: on text that it has not"
    " seen, no model does better on average. Training loss can dip below it over several epochs, by"
    " memorising.<br>"
    "If a tick changes nothing, the kernel was restarted: run this cell again.</p>"
)


class ResumeExplorer:
    """Five ticks, a picture and the words under it.

    `later(seconds, action)` schedules a redraw and returns a handle with `cancel()`: several quick ticks are
    answered once.
    """

    def __init__(self, experiment: ResumeExperiment | None = None, *, later: Later = call_later) -> None:
        self.experiment = experiment or ResumeExperiment()
        self._later = later
        self._waiting: Handle | None = None
        self.boxes = {
            name: widgets.Checkbox(
                value=True, description=TITLES[name], indent=False, layout=widgets.Layout(width="auto")
            )
            for name in COMPONENTS
        }
        self.picture = widgets.HTML()
        self.words = widgets.HTML()
        # Its place is kept free, so that the picture does not move when a word appears there.
        self.status = widgets.HTML(layout=widgets.Layout(flex="0 0 90px"))
        for box in self.boxes.values():
            box.observe(self._on_tick, names="value")
        intro = widgets.HTML(_INTRO, layout=widgets.Layout(flex="0 1 auto"))
        ticks = widgets.HBox(
            list(self.boxes.values()), layout=widgets.Layout(flex_flow="row wrap", grid_gap="0 18px")
        )
        self.widget = widgets.VBox(
            [
                widgets.HBox([intro, self.status]),
                ticks,
                self.picture,
                self.words,
                widgets.HTML(_NOTE),
            ]
        )

    @property
    def ticked(self) -> frozenset[str]:
        """Components that are put back."""
        return frozenset(name for name, box in self.boxes.items() if box.value)

    def set_ticked(self, *components: str) -> None:
        """Tick these components and no others, as a hand would: the picture follows after the pause."""
        for name, box in self.boxes.items():
            box.value = name in components

    def _on_tick(self, change: Any) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        self.status.value = "Computing…"
        self._waiting = self._later(PAUSE, self.redraw)

    def redraw(self) -> None:
        """Compute and show the curve of what is ticked now; an exception too, which a kernel would hide."""
        self._waiting = None
        try:
            curve = self.experiment.resume(self.ticked)
            self.picture.value, self.words.value = self._draw(curve), _in_words(curve)
        except Exception as error:  # whatever it is, the reader has to see it
            self.picture.value = ""
            cause = escape(f"{type(error).__name__}: {error}")
            self.words.value = (
                f"<p style='{LINE}'><b>This could not be computed.</b> {cause}<br>"
                "Run this cell again; if that does not help, restart the kernel first.</p>"
            )
        finally:
            self.status.value = ""

    def _draw(self, curve: Curve) -> str:
        losses = [step.loss for step in self.experiment.reference]
        first = max(0, curve.restart - _SHOWN_BEFORE)
        return loss_figure(
            losses[first:],
            curve.losses,
            first_step=first,
            restart=curve.restart,
            floor=ENTROPY,
            alt=f"Loss of the uninterrupted and of the resumed run, and their difference. {describe(curve)}",
        )


def _in_words(curve: Curve) -> str:
    lines = [f"<b>{escape(describe(curve))}</b>", *(escape(reason) for reason in reasons(curve))]
    last = curve.reference[-1].step
    if curve.first_difference is not None:
        lines.append(
            f"Held-out loss after step {last}: {curve.heldout:.3f}, "
            f"uninterrupted {curve.reference_heldout:.3f} nats a character."
        )
    return f"<p role='status' style='{LINE}'>{'<br>'.join(lines)}</p>"


def resume_explorer(experiment: ResumeExperiment | None = None) -> widgets.VBox:
    """The explorer, its first picture computed: some seconds. A moved tick then takes one or two."""
    explorer = ResumeExplorer(experiment)
    explorer.redraw()
    return explorer.widget
