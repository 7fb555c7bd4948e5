"""An explorer: one parameter's moments over a real run, and what a cold restart does to its next updates."""

from __future__ import annotations

from typing import Final

import ipywidgets as widgets
import numpy as np

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
from lastgood.teaching.views.moments_picture import panels
from lastgood.teaching.views.moments_restart import (
    AFTER,
    LOST,
    Recording,
    Restart,
    record,
    restart,
)

BETAS: Final = {"0.9, 0.95: this course": (0.9, 0.95), "0.9, 0.999: torch": (0.9, 0.999)}
CLOSE: Final = 0.05  # learning rates: the two updates count as alike when they differ by less
_FIRST_RESTART: Final = 100

_SAME_GRADIENTS: Final = (
    "Both get the same gradients, those of a real run of the course's GPT, so that only the memory differs. "
    "After a real restart, other updates would also lead to other gradients. Weight decay is left out."
)


class MomentsExplorer:
    """A slider for the restart, menus for what was lost, for the betas and for the parameter, and panels."""

    def __init__(self, recording: Recording, *, later: Later = call_later) -> None:
        self.recording = recording
        last = len(recording.gradients) - AFTER
        self.at = slider(
            widgets.IntSlider, "restart after update", min=1, max=last, value=min(_FIRST_RESTART, last)
        )
        self.lost = slider(widgets.Dropdown, "Lost", options=LOST)
        self.betas = slider(widgets.Dropdown, "β₁ and β₂", options=list(BETAS.items()))
        self.column = slider(widgets.Dropdown, "Parameter", options=list(recording.shown.items()))
        self.view = Redrawn(self._draw, later=later)
        controls = [self.at, self.lost, self.betas, self.column]
        for control in controls:
            control.observe(self.view.soon, names="value")
        self.widget = widgets.VBox(
            [
                wrapped(controls),
                self.view.picture,
                self.view.words,
                widgets.HTML(paragraph(_SAME_GRADIENTS, quiet=True)),
                widgets.HTML(paragraph(RESTARTED, quiet=True)),
            ]
        )

    @property
    def restart(self) -> Restart:
        """What the controls stand for, computed."""
        return restart(
            self.recording,
            at=self.at.value,
            lost=self.lost.value,
            betas=self.betas.value,
            column=self.column.value,
        )

    def _draw(self) -> tuple[str, str]:
        shown = self.restart
        sentence, more = in_words(shown)
        alt = f"Gradient, moments and updates of one parameter around a restart. {sentence} {more}"
        return panels(shown, alt), spoken(sentence, more)


def in_words(shown: Restart) -> tuple[str, str]:
    """The first update after the restart, this parameter's and the average one, and how long it is felt."""
    kept, other = shown.firsts
    sentence = (
        f"The first update after the restart is {_signed(other)} learning rates. "
        f"Undisturbed it is {_signed(kept)}."
    )
    size = shown.gradients.shape[1]
    mean_kept, mean_other = shown.mean_firsts
    moved_kept, moved_other = shown.mean_moved
    gaps = shown.mean_gaps
    apart = np.flatnonzero(gaps >= CLOSE)
    last = int(apart[-1]) + 1 if len(apart) else 0
    if last == AFTER:
        felt = f"After {AFTER} updates they still differ by {gaps[-1]:.2f} learning rates."
    else:
        since = (
            f"After {last} updates" if last > 1 else "After the first update" if last else "From the first on"
        )
        felt = f"{since} they differ by less than {CLOSE:g} learning rates."
    return sentence, (
        f"Average over {size:,} parameters: the first update has size {mean_other:.2f}, undisturbed "
        f"{mean_kept:.2f}. In {AFTER} updates a parameter moves {moved_other / moved_kept:.1f} times as far "
        f"as undisturbed. {felt}"
    )


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "\N{MINUS SIGN}")


def moments_explorer() -> widgets.VBox:
    """The explorer, its first picture drawn. It trains the course's GPT first, for real gradients."""
    explorer = MomentsExplorer(record())
    explorer.view.now()
    return explorer.widget
