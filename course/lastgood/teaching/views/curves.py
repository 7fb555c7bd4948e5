"""Two loss curves that should be one: of a run never interrupted, and of one that was killed and resumed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from lastgood.teaching.views.style import BLUE, INK, ORANGE, new_axes, new_figure, theme, to_svg
from lastgood.training.logbook import ENTROPY


def loss_curves_svg(
    reference_losses: Sequence[float], resumed_losses: Sequence[float | None], first_step: int, alt: str
) -> str:
    """Both curves from the first step after a restart on, as an inline SVG.

    Losses are in nats a character; both lists begin at `first_step`. None stands for a step that the resumed
    run did not take, and a list may end early. The floor is named, not drawn to scale: far below a run that
    has only begun, it would press the curves together until they look like one.
    """
    return loss_figure(
        reference_losses, resumed_losses, first_step=first_step, restart=first_step, floor=None, alt=alt
    )


def loss_figure(
    reference: Sequence[float],
    resumed: Sequence[float | None],
    *,
    first_step: int,
    restart: int,
    floor: float | None,
    alt: str,
    title: str = "",
) -> str:
    """Loss of both runs above, the size of their difference below, as an inline SVG.

    `reference` begins at step `first_step`, `resumed` at step `restart`; losses are in nats a character, and
    so is `floor`, where there is one. Raises ValueError where `restart` comes before `first_step` or `alt` is
    empty.
    """
    if restart < first_step:
        raise ValueError(f"a restart at step {restart} is before the first step shown, {first_step}")
    end = first_step + len(reference)
    with theme():
        figure = new_figure(height=300)
        upper = new_axes(figure, 0.09, 0.42, 0.735, 0.51)
        lower = new_axes(figure, 0.09, 0.12, 0.735, 0.2)
        draw_losses(upper, reference, resumed, first_step=first_step, restart=restart, floor=floor)
        _name_floor(upper, floor)
        _label_ends(upper, reference, resumed, end - 1)
        upper.set_title(title or "training loss of each step, nats a character", pad=9)
        _draw_gaps(lower, reference[restart - first_step :], resumed, restart)
        lower.set_title("difference between the two, nats a character", pad=5)
        lower.set_xlabel("step")
        upper.tick_params(labelbottom=False)
        for axes in (upper, lower):
            axes.set_xlim(first_step - 1, end)
            draw_restart(axes, restart)
        _name_restart(upper, restart)
        return to_svg(figure, alt)


def draw_losses(
    axes: Axes,
    reference: Sequence[float],
    resumed: Sequence[float | None],
    *,
    first_step: int,
    restart: int,
    floor: float | None,
    top: float | None = None,
) -> None:
    """Both curves and the floor, on axes that reach from below all of it to `top`, or above the curves.

    The uninterrupted run is a broad pale line, the resumed one a thin line on it: both show where they agree.
    """
    shown = [float("nan") if loss is None else loss for loss in resumed]
    axes.plot(_steps(first_step, reference), reference, color=BLUE, alpha=0.7, linewidth=3.4)
    axes.plot(_steps(restart, shown), shown, color=ORANGE, linewidth=1.2)
    finite = [x for x in (*reference, *shown) if math.isfinite(x)] or [0.0, 1.0]
    lowest, highest = min(finite), max(finite)
    edge = lowest - 0.05
    if floor is not None:
        axes.axhline(floor, color=INK, alpha=0.55, linewidth=0.8)
        lowest, edge = min(lowest, floor), min(edge, floor - 0.12)
    axes.set_ylim(edge, top or highest + 0.08 * (highest - lowest) + 0.1)


def draw_restart(axes: Axes, restart: int) -> None:
    """A broken line before the first step after the restart."""
    axes.axvline(restart - 0.5, color=INK, alpha=0.55, linewidth=0.8, dashes=(3, 2))


def label_floor(axes: Axes, floor: float, words: str) -> None:
    """Say on the floor's line, at the right, what it is."""
    place = axes.get_yaxis_transform()
    axes.text(0.995, floor, words, transform=place, ha="right", va="bottom", fontsize=8.5)


def _name_floor(axes: Axes, floor: float | None) -> None:
    if floor is not None:
        label_floor(axes, floor, f"floor of the held-out loss, {floor:.3f}: the text's entropy")
    else:
        words = f"↓ far below: floor of the held-out loss, {ENTROPY:.3f}"
        axes.text(0.01, 0.02, words, transform=axes.transAxes, va="bottom", fontsize=8.5)


def _name_restart(axes: Axes, restart: int) -> None:
    axes.annotate(
        "restart",
        (restart - 0.5, 1.0),
        xycoords=axes.get_xaxis_transform(),
        xytext=(4, 0),
        textcoords="offset points",
        va="top",
        fontsize=8.5,
    )


def _steps(first: int, losses: Sequence[object]) -> range:
    return range(first, first + len(losses))


def _label_ends(axes: Axes, reference: Sequence[float], resumed: Sequence[float | None], last: int) -> None:
    """Name each curve beside its end, the higher one above, far enough apart to be read."""
    low, high = axes.get_ylim()
    ends = [(_end(reference), "uninterrupted", BLUE)]
    if any(loss is not None for loss in resumed):
        ends.append((_end(resumed), "resumed", ORANGE))
    ends.sort(reverse=True)
    apart = max(0.085 * (high - low) - abs(ends[0][0] - ends[-1][0]), 0.0) / 2 if len(ends) == 2 else 0.0
    for (height, name, colour), shift in zip(ends, (apart, -apart), strict=False):
        axes.text(last + 1.2, height + shift, name, color=colour, va="center", fontweight="bold")


def _end(losses: Sequence[float | None]) -> float:
    """Mean of the last finite losses: one alone may be an outlier."""
    finite = [x for x in losses if x is not None and math.isfinite(x)][-6:]
    return sum(finite) / len(finite) if finite else 0.0


def _draw_gaps(axes: Axes, reference: Sequence[float], resumed: Sequence[float | None], restart: int) -> None:
    """A dot a step: how far apart the losses are, in powers of ten; where they are equal, on a line below."""
    both = enumerate(zip(reference, resumed, strict=False), restart)
    pairs = [(step, a, b) for step, (a, b) in both if b is not None]
    equal = [step for step, a, b in pairs if a == b]
    gaps = {step: math.log10(abs(a - b)) for step, a, b in pairs if a != b and math.isfinite(a - b)}
    low = min(-3, math.floor(min(gaps.values(), default=0)))
    high = max(0, math.ceil(max(gaps.values(), default=0)))
    line = low - 0.3 * (high - low)
    axes.axhline(line, color=INK, alpha=0.25, linewidth=0.8)
    dots: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 3.2, "markeredgewidth": 0}
    axes.plot(equal, [line] * len(equal), color=BLUE, **dots)
    axes.plot(list(gaps), list(gaps.values()), color=ORANGE, **dots)
    axes.set_ylim(line - 0.12 * (high - low), high + 0.1 * (high - low))
    decades = range(high, low - 1, -max(1, (high - low) // 3))
    axes.set_yticks([line, *decades], labels=["equal", *map(_power, decades)])
    if not pairs:
        _say(axes, "the resumed run took no step")
    elif len(equal) == len(pairs):
        _say(axes, f"all {len(pairs)} losses are exactly equal")
    elif lost := len(pairs) - len(equal) - len(gaps):
        _say(axes, f"{lost} losses are not finite")


def _power(exponent: int) -> str:
    if -3 <= exponent <= 3:
        return f"{10.0**exponent:g}"
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _say(axes: Axes, words: str) -> None:
    axes.text(0.6, 0.62, words, transform=axes.transAxes, ha="center", va="center")
