"""An explorer: shape a schedule, restart the run on it, and see the curve that a mistake leads to."""

from __future__ import annotations

from typing import Any, Final

import ipywidgets as widgets

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
from lastgood.teaching.views.schedule_picture import MISTAKES, NOTHING, Restart, schedule_curve
from lastgood.training.run import RunConfig
from lastgood.training.schedule import Schedule

_PEAKS: Final = (1e-4, 2e-4, 3e-4, 6e-4, 1e-3, 2e-3, 3e-3, 6e-3, 1e-2)
_STEP: Final = 10  # of the sliders that count steps
_NOTE: Final = "Broad line: the schedule. Thin line: the rates that the resumed run uses."


class ScheduleExplorer:
    """Five sliders, a menu of what went wrong at the restart, both curves, and in words what it costs."""

    def __init__(self, *, later: Later = call_later) -> None:
        start = RunConfig().schedule
        whole = widgets.IntSlider
        peaks = [(f"{peak:g}", peak) for peak in _PEAKS]
        self.peak = slider(widgets.SelectionSlider, "peak", options=peaks, value=start.peak)
        self.warmup = slider(whole, "warm-up, steps", min=_STEP, max=190, step=_STEP, value=start.warmup)
        self.horizon = slider(whole, "horizon, steps", min=200, max=2_000, step=50, value=start.horizon)
        self.floor = slider(whole, "floor, % of the peak", min=0, max=100, step=5, value=10)
        self.at = slider(whole, "restart at step", min=_STEP, max=590, step=_STEP, value=200)
        self.mistake = widgets.Dropdown(
            options=list(MISTAKES),
            value=NOTHING,
            description="What went wrong at the restart",
            style={"description_width": "initial"},
            layout=widgets.Layout(width="auto", max_width="100%"),
        )
        self.view = Redrawn(self._draw, later=later)
        self.horizon.observe(self._keep_the_restart_before_the_end, names="value")
        shape = [self.peak, self.warmup, self.horizon, self.floor]
        for control in (*shape, self.at, self.mistake):
            control.observe(self.view.soon, names="value")
        self.widget = widgets.VBox(
            [
                self.mistake,
                wrapped([*shape, self.at]),
                self.view.picture,
                self.view.words,
                widgets.HTML(paragraph(f"{_NOTE}<br>{RESTARTED}", quiet=True)),
            ]
        )

    @property
    def restart(self) -> Restart:
        """What the controls stand for."""
        peak = self.peak.value
        schedule = Schedule(peak, self.warmup.value, self.horizon.value, self.floor.value / 100 * peak)
        return Restart(schedule, self.at.value, self.mistake.value)

    def _keep_the_restart_before_the_end(self, change: Any) -> None:
        self.at.max = change["new"] - _STEP

    def _draw(self) -> tuple[str, str]:
        restart = self.restart
        sentence, more = in_words(restart)
        alt = (
            f"Learning rate by step: a line up to {restart.schedule.peak:g}, then half a cosine down "
            f"to {restart.schedule.floor:.2g}; and what a run resumed at step {restart.at} uses. "
            f"{sentence} {more}"
        )
        return schedule_curve(restart, alt), spoken(sentence, more)


def in_words(restart: Restart) -> tuple[str, str]:
    """The first wrong step and by how much, and what all of them together come to."""
    schedule, at = restart.schedule, restart.at
    due, spent = restart.peaks(restart.left), restart.peaks(restart.used)
    rest = f"The rates of the {len(restart.left)} steps left should add up to {due:.1f} peaks"
    first = restart.first_wrong
    if first is None:
        same = "" if restart.mistake == NOTHING else ", this time"
        return f"The resumed run goes on along its curve{same}.", f"{rest}, and do."
    used, right = restart.used[first - at], schedule.lr(first)
    sentence = f"The first wrong step is {first}: {used:.3g} instead of {right:.3g}, {_ratio(used, right)}."
    more = f"{rest}, but come to {spent:.1f}{_change(spent, due)}."
    worst = restart.worst
    if worst != first:
        used, right = restart.used[worst - at], schedule.lr(worst)
        more += f" The rates are furthest apart at step {worst}: {used:.3g} instead of {right:.3g}."
    return sentence, more


def _ratio(used: float, right: float) -> str:
    if right == 0.0:
        return "where it should be nothing"
    factor = used / right
    return f"{factor:.5f} times as high" if 0.99 < factor < 1.01 else f"{factor:.2g} times as high"


def _change(spent: float, due: float) -> str:
    if due == 0.0:
        return ""
    return f", {abs(spent / due - 1):.1%} too {'much' if spent > due else 'little'}"


def schedule_explorer() -> widgets.VBox:
    """The explorer, its first picture drawn: the schedule of the course's small run."""
    explorer = ScheduleExplorer()
    explorer.view.now()
    return explorer.widget
