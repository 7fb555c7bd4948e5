"""The saw-tooth of progress: steps of a run against its clock, each failure with a shape and a name."""

from __future__ import annotations

from typing import Any, Final

from matplotlib.axes import Axes

from lastgood.recovery.faults import CORRUPTED, HUNG, KILLED, STORAGE_FULL, TOLD_TO_LEAVE
from lastgood.teaching.views.saw_tooth_events import DIED, Fall, SawTooth
from lastgood.teaching.views.style import BLUE, INK, ORANGE, new_axes, new_figure, theme, to_svg

SHAPES: Final = {KILLED: "X", HUNG: "s", TOLD_TO_LEAVE: "^", CORRUPTED: "D", DIED: "v"}
SIGNS: Final = {KILLED: "✖", HUNG: "■", TOLD_TO_LEAVE: "▲", CORRUPTED: "◆", STORAGE_FULL: "▤", DIED: "▼"}
_TITLE: Final = "steps of the run;  ● complete checkpoint,  −8: steps lost to a failure"  # noqa: RUF001
_OTHER_SHAPE: Final = "o"
_NEAR: Final = 3  # of the last failures are named, where there are too many to name them all
_ALL: Final = 12


def saw_tooth(run: SawTooth, whole: SawTooth, alt: str) -> str:
    """The line as far as `run` goes, on axes that have room for the `whole` run, as an inline SVG."""
    with theme():
        figure = new_figure(height=305)
        axes = new_axes(figure, 0.085, 0.135, 0.895, 0.79)
        axes.set_xlim(0.0, max(whole.hours, 1e-9) * 1.02)
        axes.set_ylim(0, max(1, whole.steps) * 1.1)
        _shade_outages(axes, run)
        axes.plot(*zip(*run.line, strict=True), color=BLUE, linewidth=1.6)
        if run.saves:
            dots: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 4, "color": BLUE}
            axes.plot(*zip(*run.saves, strict=True), **dots)
        _mark_falls(axes, run.falls, all_named=len(whole.falls) <= _ALL)
        _mark_now(axes, run)
        axes.set_xlabel("hours")
        axes.set_title(_TITLE, pad=8)
        return to_svg(figure, alt)


def _shade_outages(axes: Axes, run: SawTooth) -> None:
    place = axes.get_xaxis_transform()
    for since, until in run.outages:
        axes.axvspan(since, until, color=INK, alpha=0.12, linewidth=0)
        axes.annotate(
            f"{STORAGE_FULL} →",
            (since, 0.02),
            xycoords=place,
            xytext=(-3, 0),
            textcoords="offset points",
            ha="right",
            fontsize=8.5,
        )


def _mark_falls(axes: Axes, falls: list[Fall], *, all_named: bool) -> None:
    """A shape at each end of a process, its name to the left, above the line: nothing else is there."""
    for number, fall in enumerate(falls):
        shape = SHAPES.get(fall.cause, _OTHER_SHAPE)
        axes.plot([fall.hours], [fall.step], marker=shape, color=ORANGE, markersize=7, zorder=5)
        if all_named or number >= len(falls) - _NEAR:
            axes.annotate(
                fall.cause if fall.lost is None else f"{fall.cause} {loss(fall.lost)}",
                (fall.hours, fall.step),
                xytext=(-7, 3),
                textcoords="offset points",
                ha="right",
                va="bottom",
                color=ORANGE,
                fontsize=8.5,
                fontweight="bold",
            )


def loss(lost: int) -> str:
    """Steps that a failure cost, beside its mark."""
    return f"−{lost}" if lost else "0"  # noqa: RUF001 - a minus sign


def _mark_now(axes: Axes, run: SawTooth) -> None:
    """A hair where the run is now."""
    axes.axvline(run.now.hours, color=INK, alpha=0.55, linewidth=0.8, dashes=(3, 2))
