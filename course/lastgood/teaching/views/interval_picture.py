"""What an interval costs, as a curve: its lowest point, Young's, the reader's own, and the flat stretch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from lastgood.recovery import interval
from lastgood.teaching.views.style import BLUE, INK, ORANGE, new_axes, new_figure, theme, to_svg

FLAT: Final = 0.01  # the stretch that is shaded: at most so much longer than at the best
_HIGHEST: Final = 15.0  # times the best cost; a choice above that is marked at the edge
_REACH: Final = 18.0  # times the best interval, to either side
_ROOM: Final = 0.42  # beyond the reader's choice, as a share of the axis before it
_TICKS: Final = {
    "1 s": 1 / 3600, "10 s": 1 / 360, "1 min": 1 / 60, "5 min": 1 / 12, "20 min": 1 / 3, "1 h": 1.0,
    "4 h": 4.0, "16 h": 16.0, "3 days": 72.0, "2 weeks": 336.0, "2 months": 1_440.0, "1 year": 8_760.0,
}  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """A job's numbers and the reader's interval. Hours."""

    save: float
    mtbf: float
    restart: float
    mine: float

    @cached_property
    def best(self) -> float:
        return float(interval.optimum(self.save, self.mtbf))

    @cached_property
    def young(self) -> float:
        return float(interval.young(self.save, self.mtbf))

    @cached_property
    def flat(self) -> tuple[float, float]:
        return interval.flat_range(self.save, self.mtbf, FLAT)

    def cost(self, work: float) -> float:
        """Expected time beyond the work, as a share of the work, where one saves after so much of it."""
        return float(self.costs(np.array([work]))[0])

    def costs(self, work: NDArray[np.float64]) -> NDArray[np.float64]:
        ettr = np.asarray(interval.ettr(work, self.save, self.mtbf, self.restart))
        with np.errstate(divide="ignore"):
            return 1.0 / ettr - 1.0

    @property
    def restarts(self) -> float:
        """The share of the work that no interval saves: what restarts alone would cost."""
        return math.expm1(self.restart / self.mtbf)

    @property
    def excess(self) -> float:
        """How much longer the run takes with the reader's interval than with the best, as a fraction."""
        return float(interval.excess(self.mine, self.save, self.mtbf))

    def two_prices(self, work: float) -> float:
        """Saves and lost work together, to first order, as a share of the work: Young's sum."""
        return float(interval.waste(work, self.save, self.mtbf))


def span(hours: float) -> str:
    """A time as a person says it."""
    if hours < 0.9999 / 60:
        said = f"{hours * 3600:.2g} s"
    elif hours < 0.995:
        said = f"{hours * 60:.{0 if hours >= 1 / 6 else 1}f} min"
    elif hours < 72:
        said = f"{hours:.{0 if hours >= 20 else 1}f} h"
    else:
        said = f"{hours / 24:,.{0 if hours >= 480 else 1}f} days"
    return said.replace(".0 ", " ")


def percent(share: float) -> str:
    """A share with two digits that tell something."""
    if share >= 10.0:
        return "over 1,000 %"
    points = 100.0 * share
    if 0.0 < points < 0.005:
        return "under 0.01 %"
    digits = 0 if points >= 100 else 1 if points >= 10 else 2
    return f"{points:,.{digits}f} %"


def curve(choice: Choice, alt: str) -> str:
    """The curve and what is marked on it, as an inline SVG."""
    low, high = _range(choice)
    grid = np.geomspace(low, high, 400)
    lowest, mine = choice.cost(choice.best), choice.cost(choice.mine)
    top = min(max(2.6 * lowest, 1.25 * mine), _HIGHEST * lowest)
    with theme():
        figure = new_figure(height=240)
        axes = new_axes(figure, 0.115, 0.165, 0.865, 0.73)
        axes.set_xscale("log")
        axes.set_xlim(low, high)
        axes.set_ylim(0.0, top)
        _shade(axes, choice, top)
        axes.plot(grid, np.minimum(choice.costs(grid), 3 * top), color=BLUE, linewidth=1.8)
        _mark_restarts(axes, choice.restarts, top)
        _mark_best(axes, choice, lowest)
        _mark_mine(axes, choice, mine, top)
        ticks = {name: at for name, at in _TICKS.items() if low <= at <= low * (high / low) ** 0.96}
        axes.set_xticks(list(ticks.values()), labels=list(ticks))
        axes.minorticks_off()
        axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:,g} %")
        axes.set_xlabel("work between two saves")
        axes.set_title("time beyond the work, as a share of the work", pad=8)
        return to_svg(figure, alt)


def _range(choice: Choice) -> tuple[float, float]:
    """Intervals that the axis shows: the valley, and room for a name on the far side of the reader's own."""
    low, high = choice.best / _REACH, choice.best * _REACH
    if choice.mine > choice.best:
        high = max(high, choice.mine * (choice.mine / low) ** _ROOM)
    else:
        low = min(low, choice.mine / (high / choice.mine) ** _ROOM)
    return low, high


def _shade(axes: Axes, choice: Choice, top: float) -> None:
    shortest, longest = choice.flat
    axes.axvspan(shortest, longest, color=BLUE, alpha=0.14, linewidth=0)
    middle = math.sqrt(shortest * longest)
    words = f"within {100 * FLAT:g} % of the best"
    axes.text(middle, 0.985 * top, words, ha="center", va="top", fontsize=8.5)


def _mark_restarts(axes: Axes, share: float, top: float) -> None:
    if share < 0.09 * top:
        return
    axes.axhline(share, color=INK, alpha=0.55, linewidth=0.8, dashes=(3, 2))
    where: dict[str, Any] = {
        "transform": axes.get_yaxis_transform(),
        "ha": "right",
        "va": "top",
        "fontsize": 8.5,
    }
    axes.text(0.995, share - 0.015 * top, "restarts alone", **where)


def _mark_best(axes: Axes, choice: Choice, lowest: float) -> None:
    """The lowest point and Young's: often one, so their names stand together, above both."""
    young = choice.cost(choice.young)
    dot: dict[str, Any] = {"linestyle": "none", "color": BLUE, "zorder": 4, "clip_on": False}
    axes.plot([choice.young], [young], marker="D", markersize=9, markerfacecolor="none", **dot)
    axes.plot([choice.best], [lowest], marker="o", markersize=5, **dot)
    axes.annotate(
        f"● best: {span(choice.best)}, {percent(lowest)}\n◇ Young: {span(choice.young)}",
        (choice.best, max(lowest, young)),
        xytext=(0, 13),
        textcoords="offset points",
        ha="center",
        va="bottom",
        color=BLUE,
        fontweight="bold",
        linespacing=1.35,
    )


def _mark_mine(axes: Axes, choice: Choice, cost: float, top: float) -> None:
    """The reader's choice, named outside the valley and below the slope, where there is always room."""
    shown = min(cost, 0.9 * top) if math.isfinite(cost) else 0.9 * top
    axes.plot([choice.mine] * 2, [0, shown], color=ORANGE, linewidth=0.9, dashes=(2, 2))
    marker = "s" if shown == cost else "^"
    axes.plot([choice.mine], [shown], marker=marker, color=ORANGE, markersize=7, zorder=5)
    up = "" if shown == cost else "↑ "
    words = f"{up}■ yours: {span(choice.mine)}\n{percent(cost)}"
    longer = choice.mine > choice.best
    offset, align = ((7, -7), "left") if longer else ((-7, -7), "right")
    axes.annotate(
        words,
        (choice.mine, shown),
        xytext=offset,
        textcoords="offset points",
        ha=align,
        va="top",
        color=ORANGE,
        fontweight="bold",
    )
