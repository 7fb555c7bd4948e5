"""A learning-rate schedule as a curve, a restart on it, and the curve that a wrong position leads to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from matplotlib.axes import Axes

from lastgood.teaching.views.curves import draw_restart
from lastgood.teaching.views.style import BLUE, INK, ORANGE, new_axes, new_figure, theme, to_svg
from lastgood.training.schedule import Schedule

RateAfter = Callable[[Schedule, int, int], float]  # (schedule, restart, step) to the rate that is used

NOTHING: Final = "nothing"
STEP: Final = "the step is forgotten"
STEPS_LEFT: Final = "the horizon is set to the steps left"
LONGER: Final = "the horizon is set to half as much again"
TWICE: Final = "the position is counted twice"
ONE_OFF: Final = "the position is one behind"


def _steps_left(schedule: Schedule, restart: int, step: int) -> float:
    """What a loop over `range(horizon - restart)` builds its schedule with. Its warm-up has to fit."""
    horizon = max(schedule.horizon - restart, schedule.warmup + 1)
    return replace(schedule, horizon=horizon).lr(step)


def _longer(schedule: Schedule, restart: int, step: int) -> float:
    return replace(schedule, horizon=schedule.horizon * 3 // 2).lr(step)


MISTAKES: Final[dict[str, RateAfter]] = {
    NOTHING: lambda schedule, restart, step: schedule.lr(step),
    STEP: lambda schedule, restart, step: schedule.lr(step - restart),
    STEPS_LEFT: _steps_left,
    LONGER: _longer,
    TWICE: lambda schedule, restart, step: schedule.lr(step + restart),
    ONE_OFF: lambda schedule, restart, step: schedule.lr(step - 1),
}


@dataclass(frozen=True)
class Restart:
    """A schedule, the first step after a restart, and what went wrong there: a key of MISTAKES."""

    schedule: Schedule
    at: int
    mistake: str = NOTHING

    @cached_property
    def right(self) -> list[float]:
        """The rate of each step from 0 to the one before the horizon."""
        return [self.schedule.lr(step) for step in range(self.schedule.horizon)]

    @cached_property
    def used(self) -> list[float]:
        """The rate that each step from the restart on is made with."""
        rate = MISTAKES[self.mistake]
        return [rate(self.schedule, self.at, step) for step in range(self.at, self.schedule.horizon)]

    @property
    def left(self) -> list[float]:
        """The rate that each step from the restart on should be made with."""
        return self.right[self.at :]

    @property
    def first_wrong(self) -> int | None:
        """The first step with another rate than its own."""
        pairs = enumerate(zip(self.left, self.used, strict=True), self.at)
        return next((step for step, (right, used) in pairs if right != used), None)

    @property
    def worst(self) -> int:
        """The step where one rate is the most times the other."""
        return self.at + max(range(len(self.left)), key=lambda i: _apart(self.left[i], self.used[i]))

    def peaks(self, rates: list[float]) -> float:
        """Rates added up, counted in steps at the peak: how much training they make."""
        return sum(rates) / self.schedule.peak


def _apart(right: float, used: float) -> float:
    low, high = sorted((right, used))
    return 1.0 if high == 0.0 else high / max(low, 1e-12)


def schedule_curve(restart: Restart, alt: str) -> str:
    """Both curves, the restart, and the difference between them shaded, as an inline SVG."""
    schedule, at = restart.schedule, restart.at
    steps, after = range(schedule.horizon), range(at, schedule.horizon)
    with theme():
        figure = new_figure(height=225)
        axes = new_axes(figure, 0.105, 0.175, 0.875, 0.71)
        axes.set_xlim(0, schedule.horizon * 1.02)
        axes.set_ylim(0, 1.17 * schedule.peak)
        axes.fill_between(after, restart.left, restart.used, color=ORANGE, alpha=0.16, linewidth=0)
        axes.plot(steps, restart.right, color=BLUE, alpha=0.7, linewidth=3.4)
        axes.plot(after, restart.used, color=ORANGE, linewidth=1.3)
        draw_restart(axes, at)
        _name_parts(axes, restart)
        axes.yaxis.set_major_formatter(lambda rate, _: f"{rate:.2g}")
        axes.set_xlabel("step")
        axes.set_title("learning rate of each step", pad=8)
        return to_svg(figure, alt)


def _name_parts(axes: Axes, restart: Restart) -> None:
    schedule, at = restart.schedule, restart.at
    top = 1.15 * schedule.peak
    near_end = at > 0.6 * schedule.horizon
    axes.annotate(
        f"killed and resumed at step {at}",
        (at, top),
        xytext=(-5 if near_end else 5, 0),
        textcoords="offset points",
        ha="right" if near_end else "left",
        va="top",
    )
    axes.plot([schedule.warmup] * 2, [0, schedule.peak], color=INK, alpha=0.3, linewidth=0.8)
    if at > schedule.warmup + 0.25 * schedule.horizon:
        axes.text(schedule.warmup + 0.008 * schedule.horizon, 0.03 * top, "warm-up ends", fontsize=8.5)
    if 0.09 < schedule.floor / schedule.peak < 0.5:
        place = (schedule.horizon, 0.9 * schedule.floor)
        axes.text(*place, "floor, at the horizon", ha="right", va="top", fontsize=8.5)
