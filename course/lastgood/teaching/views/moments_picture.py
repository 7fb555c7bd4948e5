"""One parameter's gradient, moments and updates around a restart, undisturbed and restarted."""

from __future__ import annotations

from typing import Final

import numpy as np
from matplotlib.axes import Axes

from lastgood.teaching.views.moments_restart import AFTER, Array, Restart
from lastgood.teaching.views.style import BLUE, INK, ORANGE, new_axes, new_figure, theme, to_svg

_BEFORE: Final = 20  # steps shown before the restart
_PANELS: Final = (0.725, 0.415, 0.105)  # where each begins, from below
_ROOM: Final = 1.15  # of an axis, beyond the largest value on it


def panels(restart: Restart, alt: str) -> str:
    """Three panels over the same steps, as an inline SVG: first moment, root of the second, update."""
    with theme():
        figure = new_figure(height=340)
        first, second, update = (new_axes(figure, 0.115, bottom, 0.865, 0.205) for bottom in _PANELS)
        for axes in (first, second, update):
            axes.set_xlim(max(0, restart.at - _BEFORE), restart.at + AFTER + 1)
            axes.axvline(restart.at + 0.5, color=INK, alpha=0.6, linewidth=0.8, dashes=(2, 2))
        _first(first, restart)
        _second(second, restart)
        _update(update, restart)
        for axes in (first, second):
            axes.tick_params(labelbottom=False)
        update.set_xlabel("update")
        return to_svg(figure, alt)


def _first(axes: Axes, restart: Restart) -> None:
    gradients = restart.gradients[:, restart.column]
    steps = np.arange(1, len(gradients) + 1)
    axes.plot(steps, gradients, linestyle="none", marker="o", markersize=2.2, color=INK, alpha=0.5)
    _lines(axes, restart, *restart.series("first"))
    axes.set_title("● gradient, and m, the moving average of it", pad=4)
    _symmetric(axes, gradients[max(0, restart.at - _BEFORE) :])
    top = axes.get_ylim()[1]
    axes.text(restart.at + 0.9, top, "restart", fontsize=8.5, va="top")


def _second(axes: Axes, restart: Restart) -> None:
    kept, other = (np.sqrt(series) for series in restart.series("second"))
    _lines(axes, restart, kept, other)
    axes.set_title("√v, the root of the moving average of its square", pad=4)
    axes.set_ylim(0.0, _ROOM * max(float(kept[max(0, restart.at - _BEFORE) :].max()), float(other.max())))


def _update(axes: Axes, restart: Restart) -> None:
    kept, other = restart.series("update")
    axes.axhline(0.0, color=INK, alpha=0.35, linewidth=0.7)
    _lines(axes, restart, kept, other)
    axes.plot([restart.at + 1], [other[0]], marker="s", markersize=4.5, color=ORANGE, zorder=5)
    axes.set_title("the update, in learning rates", pad=4)
    _symmetric(axes, kept[max(0, restart.at - _BEFORE) :], other)
    place = {"xycoords": "axes fraction", "ha": "right", "va": "bottom", "fontweight": "bold"}
    axes.annotate("━ undisturbed", (0.83, 1.03), color=BLUE, **place)  # type: ignore[arg-type]  # one dict, three types
    axes.annotate("╍ restarted", (1.0, 1.03), color=ORANGE, **place)  # type: ignore[arg-type]


def _lines(axes: Axes, restart: Restart, kept: Array, other: Array) -> None:
    axes.plot(np.arange(1, len(kept) + 1), kept, color=BLUE, linewidth=1.5)
    after = np.arange(restart.at + 1, restart.at + AFTER + 1)
    axes.plot(after, other, color=ORANGE, linewidth=1.7, dashes=(3, 1.2))


def _symmetric(axes: Axes, *values: Array) -> None:
    reach = _ROOM * max(float(np.abs(value).max()) for value in values)
    axes.set_ylim(-reach, reach)
