"""The price of an interval as a curve: saves, lost work, their sum, and the intervals that matter marked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from lastgood.recovery import interval as library
from lastgood.teaching.checks.lab20.credit import price
from lastgood.teaching.views.style import BLUE, INK, ORANGE, new_axes, new_figure, theme, to_svg

Array: TypeAlias = NDArray[np.float64]

_POINTS = 200
_TOP = 5.0  # times the least price: what is dearer is off the picture


def price_curve(save_cost: float, mtbf: float, unit: tuple[float, str], chosen: float) -> str:
    """An SVG of a run's prices over the interval. Hours; `unit` is the axis's: its hours, and its name."""
    best = float(library.optimum(save_cost, mtbf))
    return marked_curve(save_cost, mtbf, unit, {"best": best, "yours": chosen})


def marked_curve(save_cost: float, mtbf: float, unit: tuple[float, str], marks: Mapping[str, float]) -> str:
    """An SVG of the prices, with these intervals (hours) marked by name. The first mark is the best one."""
    best, *_ = marks.values()
    low = min(best / 8, *(x / 1.5 for x in marks.values() if x > best / 100))
    high = max(best * 8, *(x * 1.5 for x in marks.values() if x < best * 100))
    hours = np.geomspace(low, min(high, 60 * mtbf), _POINTS)
    with theme():
        figure = new_figure(height=210)
        axes = new_axes(figure, 0.11, 0.19, 0.85, 0.68)
        top = 100 * _TOP * price(best, save_cost, mtbf)
        _draw(axes, hours / unit[0], save_cost / hours, _prices(hours, save_cost, mtbf), top)
        for (name, interval), colour in zip(marks.items(), (BLUE, ORANGE, ORANGE), strict=False):
            if low <= interval <= hours[-1]:
                point = (interval / unit[0], 100 * price(interval, save_cost, mtbf))
                _mark(axes, point, name, colour, math.log(interval / best))
        axes.set_xlabel(f"work between two saves, {unit[1]}")
        axes.set_title("saves and lost work, % of the work", pad=6)
        return to_svg(figure, _alt(marks, unit))


def _prices(hours: Array, save_cost: float, mtbf: float) -> Array:
    return np.asarray(library.expected_time(hours, hours, save_cost, mtbf)) / hours - 1.0


def _draw(axes: Axes, x: Array, saves: Array, both: Array, top: float) -> None:
    axes.set_xscale("log")
    axes.set_xlim(x[0], x[-1])
    axes.set_ylim(0, top)
    axes.plot(x, 100 * both, color=INK, linewidth=1.6)
    axes.plot(x, 100 * saves, color=INK, linewidth=0.9, alpha=0.7, dashes=(4, 2))
    axes.plot(x, 100 * (both - saves), color=INK, linewidth=0.9, alpha=0.7, dashes=(1, 1.5))
    ticks = [t for power in range(-3, 7) for t in (10.0**power, 3 * 10.0**power) if x[0] <= t <= x[-1]]
    axes.set_xticks(ticks, labels=[f"{t:g}" for t in ticks])
    axes.set_xticks([], minor=True)
    _name(axes, x, 100 * saves, "saves", -1)
    _name(axes, x, 100 * (both - saves), "lost work", 1)


def _name(axes: Axes, x: Array, y: Array, name: str, side: int) -> None:
    """Name a curve beside itself, in the empty corner on this side of it, where it is well below the top."""
    at = int(np.argmin(abs(y[::-side] - 0.42 * axes.get_ylim()[1])))
    place = (5 * side, -9)
    axes.annotate(
        name,
        (x[::-side][at], y[::-side][at]),
        xytext=place,
        textcoords="offset points",
        ha="left" if side > 0 else "right",
        fontsize=8.5,
    )


def _mark(axes: Axes, point: tuple[float, float], name: str, colour: str, beyond: float) -> None:
    """A line up to the curve, with its name. `beyond`: how far it lies beyond the best one, in e-folds."""
    x, y = point
    top = axes.get_ylim()[1]
    axes.plot([x, x], [0, min(y, top)], color=colour, linewidth=1.0)
    if y < top:
        axes.plot([x], [y], marker="o", color=colour, markersize=5)
    beside = abs(beyond) > 0.3
    right = beyond > 0 or y > top
    place = (7 if right else -7, -9) if beside else (0, 9 if name == "best" else 20)
    axes.annotate(
        name,
        (x, min(y, top)),
        xytext=place,
        textcoords="offset points",
        ha=("left" if right else "right") if beside else "center",
        color=colour,
        fontweight="bold",
    )


def _alt(marks: Mapping[str, float], unit: tuple[float, str]) -> str:
    where = ", ".join(
        f"{name} at {x / unit[0]:.3g} {unit[1]}" for name, x in marks.items() if math.isfinite(x)
    )
    return f"What saves and lost work cost over the interval: a valley, flat at the bottom. Marked: {where}."
