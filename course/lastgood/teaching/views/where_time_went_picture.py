"""A waterfall from the 56 days that OPT-175B's run took down to the work that is in it."""

from __future__ import annotations

from typing import Any, Final

from matplotlib.axes import Axes

from lastgood.teaching.views.style import BLUE, INK, ORANGE, POINTS_WIDE, new_axes, new_figure, theme, to_svg
from lastgood.teaching.views.where_time_went_account import (
    NEAR_DAYS,
    TITLES,
    WALL_DAYS,
    WORK_DAYS,
    Account,
    how,
)

_HIGH: Final = 0.62  # of a row
_ACROSS: Final = 0.65  # of the figure: the axes
_POINTS_ACROSS: Final = _ACROSS * POINTS_WIDE
_POINTS_A_LETTER: Final = 4.7


def waterfall(account: Account, alt: str) -> str:
    """Bars from the wall-clock days, each part taken off, to the days of work, as an inline SVG."""
    names = [f"{TITLES[part]} (assumed)" for part in account.parts]
    rows = ["the run took (chronicles)", *names, _missing_name(account), "work in it (estimate)"]
    last = len(rows) - 1
    with theme():
        figure = new_figure(height=24 * len(rows) + 38)
        axes = new_axes(figure, 0.335, 0.125, _ACROSS, 0.86)
        _end_bar(axes, 0, WALL_DAYS)
        left = WALL_DAYS
        lowest = min(0.0, WALL_DAYS - account.explained)
        axes.set_xlim(lowest, WALL_DAYS + 0.25 * (WALL_DAYS - lowest))
        for row, (part, days) in enumerate(account.parts.items(), 1):
            _join(axes, row - 1, left)
            left -= days
            _assumed_bar(axes, row, left, days, f"{days:.1f} = {how(part, account.assumed)}")
        _join(axes, last - 2, left)
        _missing_bar(axes, last - 1, account, left)
        _join(axes, last - 1, WORK_DAYS)
        _end_bar(axes, last, WORK_DAYS)
        axes.set_yticks(range(len(rows)), labels=rows)
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(last + 0.55, -0.55)
        axes.set_xticks(range(0, 57, 14))
        axes.set_xlabel("days")
        return to_svg(figure, alt)


def _end_bar(axes: Axes, row: int, days: float) -> None:
    axes.barh(row, days, color=BLUE, height=_HIGH)
    _say(axes, row, days, f"{days:.0f} days", fontweight="bold")


def _assumed_bar(axes: Axes, row: int, left: float, days: float, words: str) -> None:
    """An outline of dashes, pale inside: nobody has measured it. The words stand where there is room."""
    axes.barh(row, days, left=left, height=_HIGH, color=ORANGE, alpha=0.3, linewidth=0)
    dashes: dict[str, Any] = {"edgecolor": ORANGE, "linewidth": 1, "linestyle": (0, (3, 2))}
    axes.barh(row, days, left=left, height=_HIGH, fill=False, **dashes)
    lowest, highest = axes.get_xlim()
    room = (left - lowest) / (highest - lowest) * _POINTS_ACROSS
    if room > _POINTS_A_LETTER * len(words):
        _say(axes, row, left, words, before=True)
    else:
        _say(axes, row, left + days, words)


def _join(axes: Axes, row: int, days: float) -> None:
    """A hair from one bar to the next, which goes on where this one ends."""
    ends = [row + _HIGH / 2, row + 1 - _HIGH / 2]
    axes.plot([days, days], ends, color=INK, alpha=0.55, linewidth=0.8)


def _say(axes: Axes, row: int, days: float, words: str, *, before: bool = False, **style: Any) -> None:
    axes.annotate(
        words,
        (days, row),
        xytext=(-5 if before else 5, 0),
        textcoords="offset points",
        ha="right" if before else "left",
        va="center",
        **style,
    )


def _missing_bar(axes: Axes, row: int, account: Account, left: float) -> None:
    """What lies between the parts and the work: empty, for nothing explains it."""
    low, high = sorted((left, WORK_DAYS))
    axes.barh(row, high - low, left=low, height=_HIGH, fill=False, edgecolor=INK, linewidth=1.2)
    days = abs(account.missing)
    words = f"{days:.1f}: the ends meet" if account.meets else f"{days:.1f} days"
    _say(axes, row, high, words, fontweight="bold")


def _missing_name(account: Account) -> str:
    return "too much" if account.missing < -NEAR_DAYS else "not explained"
