"""Gradient norms before and after clipping, step by step, and beside them the direction: kept, or turned."""

from __future__ import annotations

from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Patch, Rectangle

from lastgood.teaching.views.clipping_norms import Clipped, Norms
from lastgood.teaching.views.style import BLUE, INK, ORANGE, new_axes, new_figure, theme, to_svg

EXAMPLE: Final = (0.7, 2.4)  # norms of two tensors; together 2.5
_ARROW: Final = {"arrowstyle": "-|>", "mutation_scale": 11, "shrinkA": 0, "shrinkB": 0}


def example_after(max_norm: float, *, together: bool) -> tuple[float, float]:
    """The example's two norms after clipping, by one factor or by a factor each."""
    a, b = EXAMPLE
    if together:
        factor = min(1.0, max_norm / float(np.hypot(a, b)))
        return a * factor, b * factor
    return min(a, max_norm), min(b, max_norm)


def clipping_figure(norms: Norms, clipped: Clipped, max_norm: float, alt: str, *, together: bool) -> str:
    """The run's norms on the left, the example of two tensors on the right, as an inline SVG."""
    with theme():
        figure = new_figure(height=250)
        _draw_norms(new_axes(figure, 0.075, 0.16, 0.53, 0.73), norms, clipped, max_norm, together=together)
        _draw_arrows(new_axes(figure, 0.705, 0.16, 0.29, 0.73), max_norm, together=together)
        return to_svg(figure, alt)


def _draw_norms(axes: Axes, norms: Norms, clipped: Clipped, max_norm: float, *, together: bool) -> None:
    steps = np.arange(len(norms.total))
    top = 1.14 * float(norms.total.max())
    axes.plot(steps, norms.total, color=BLUE, alpha=0.7, linewidth=2.6)
    axes.plot(steps, clipped.norms, color=ORANGE, linewidth=1.3)
    axes.axhline(max_norm, color=INK, alpha=0.55, linewidth=0.8, dashes=(3, 2))
    axes.eventplot(
        steps[clipped.touched],
        lineoffsets=-0.045 * top,
        linelengths=0.045 * top,
        colors=ORANGE,
        linewidths=1.0,
    )
    axes.set_xlim(-1, len(steps))
    axes.set_ylim(-0.075 * top, max(top, 0.0))
    axes.text(0.0, 0.985 * top, "before", color=BLUE, fontweight="bold", va="top")
    axes.text(0.18 * len(steps), 0.985 * top, "after", color=ORANGE, fontweight="bold", va="top")
    if norms.damaged is not None:
        axes.text(
            norms.damaged - 3,
            float(norms.total[norms.damaged]),
            "damaged\nbatch",
            ha="right",
            va="top",
            fontsize=8.5,
        )
    axes.set_yticks([tick for tick in range(10) if tick < top])
    axes.set_title("gradient norm of each step; ticks below: clipped", pad=8)
    axes.set_xlabel("step")


def _draw_arrows(axes: Axes, max_norm: float, *, together: bool) -> None:
    """Both norms as one arrow. All tensors together must end in the circle, each by itself in the square."""
    limit: Patch
    if together:
        limit = Circle((0, 0), max_norm, fill=False)
    else:
        limit = Rectangle((0, 0), max_norm, max_norm, fill=False)
    limit.set(edgecolor=INK, alpha=0.55, linewidth=0.8, linestyle=(0, (3, 2)))
    axes.add_patch(limit)
    after = example_after(max_norm, together=together)
    for end, colour, width in ((EXAMPLE, BLUE, 2.6), (after, ORANGE, 1.6)):
        style = {**_ARROW, "color": colour, "linewidth": width}
        axes.annotate("", end, xytext=(0, 0), arrowprops=style)
    axes.set_aspect("equal", adjustable="box")
    axes.set_xlim(0, 1.95)
    axes.set_ylim(0, 2.75)
    axes.set_xticks([0, 1])
    axes.set_yticks([0, 1, 2])
    axes.text(EXAMPLE[0] + 0.08, EXAMPLE[1], "before", color=BLUE, fontweight="bold", va="center")
    axes.text(after[0] + 0.1, min(after[1], 2.1), "after", color=ORANGE, fontweight="bold", va="center")
    axes.set_xlabel("norm of tensor A")
    axes.set_title("two tensors: norm of B", pad=8)
