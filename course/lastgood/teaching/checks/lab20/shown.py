"""What lab 20 shows: a life with three failures, the price of a wrong sign, many lives and the formula."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lastgood.recovery import interval as library
from lastgood.teaching.checks.core import attempt, quiet
from lastgood.teaching.checks.lab20.beliefs import Numbers
from lastgood.teaching.checks.lab20.curve import marked_curve
from lastgood.teaching.views.style import BLUE, INK, ORANGE, View, new_axes, new_figure, theme, to_svg

EXAMPLE, STRUCK = Numbers(work=6.0, interval=2.0, save=0.5, restart=0.75), (1.5, 4.5, 5.0)
_LIFE = [  # (clock, work that is done or saved), a corner each
    *[(0.0, 0.0), (1.5, 1.5), (1.5, 0.0), (2.25, 0.0), (4.25, 2.0), (4.5, 2.0), (4.5, 0.0), (5.75, 0.0)],
    *[(7.75, 2.0), (8.25, 2.0), (10.25, 4.0), (10.75, 4.0), (12.75, 6.0), (13.25, 6.0)],
]


def one_life() -> View:
    """A run of six hours of work by the clock, struck during work, during a save and during a restart."""
    words = (
        "a run of 6 h of work, struck at 1.5 h (work), 4.5 h (a save) and 5 h (a restart), ends at 13.25 h"
    )
    with theme():
        figure = new_figure(height=190)
        axes = new_axes(figure, 0.08, 0.21, 0.88, 0.66)
        axes.plot(*zip(*_LIFE, strict=True), color=BLUE, linewidth=1.8)
        for time, height, what in zip(STRUCK, (1.5, 2.0, 0.0), ("work", "a save", "a restart"), strict=True):
            axes.plot([time], [height], marker="x", color=ORANGE, markersize=7, markeredgewidth=2)
            place = (6, 1) if height else (4, 6)
            axes.annotate(
                what,
                (time, height),
                xytext=place,
                textcoords="offset points",
                color=ORANGE,
                fontweight="bold",
            )
        axes.set_xlim(0, 14)
        axes.set_ylim(0, 6.6)
        axes.set_xlabel("hours by the clock")
        axes.set_title("hours of work that the run holds; crosses: failures, and what they struck", pad=6)
        return View(to_svg(figure, f"A saw-tooth: {words}."), words)


def wrong_sign(save_cost: float = 2.0, mtbf: float = 4.0) -> View:
    """The valley of a run whose saves are dear: the best interval, and the form with + save_cost."""
    best, plus = (float(f(save_cost, mtbf)) for f in (library.optimum, library.young_plus_save))
    longer = float(library.excess(plus, save_cost, mtbf))
    words = f"√(2·save_cost·mtbf) + save_cost makes this run {longer:.1%} longer than it has to be"
    svg = marked_curve(save_cost, mtbf, (1.0, "hours"), {"best": best, "with + save_cost": plus})
    return View(svg, words)


def many_lives(failure_times: Any, wall_hours: Any, expected_time: Any, runs: int = 1000) -> View:
    """The learner's three functions together: many simulated runs, their mean, and the formula's."""
    work, interval, save, mtbf, restart = 60.0, 2.0, 0.25, 10.0, 0.5
    generator = np.random.default_rng(20)
    hours = []
    with quiet():
        formula, fault = attempt(expected_time, work, interval, save, mtbf, restart)
        for _ in range(runs if not fault else 0):
            times, fault = attempt(failure_times, mtbf, 20 * work, generator)
            value, fault = (
                (0.0, fault) if fault else attempt(wall_hours, work, interval, save, restart, times)
            )
            if fault:
                break
            hours.append(float(value))
    if fault:
        words = f"Nothing to show yet. {fault}"
        return View(f"<p>{words}</p>", words)
    return _histogram(np.array(hours), float(formula))


def _histogram(hours: NDArray[np.float64], formula: float) -> View:
    mean = hours.mean()
    error = 2 * hours.std() / len(hours) ** 0.5
    words = f"{len(hours):,} runs: {mean:.2f} h on average (± {error:.2f}); the formula: {formula:.2f} h"
    with theme():
        figure = new_figure(height=170)
        axes = new_axes(figure, 0.08, 0.24, 0.88, 0.6)
        axes.hist(hours, bins=40, color=BLUE, alpha=0.5)
        axes.axvline(formula, color=ORANGE, linewidth=1.6)
        axes.text(0.99, 0.9, "line: the formula", color=ORANGE, ha="right", transform=axes.transAxes)
        axes.set_xlabel("hours by the clock until 60 h of work are done")
        axes.set_title(words, pad=6, color=INK)
        return View(to_svg(figure, f"A histogram. {words}."), words)
