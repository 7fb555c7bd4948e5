"""What lab 17 shows: a run without warm-up, and three restarts of one run, of which two are wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch
from matplotlib.axes import Axes

from lastgood.recovery.state import capture, restore
from lastgood.teaching.checks.core import attempt, quiet
from lastgood.teaching.checks.lab17.after import HORIZON, KEYS, RIGHT, STEP, curves
from lastgood.teaching.checks.lab17.own import numbers
from lastgood.teaching.views.style import BLUE, INK, ORANGE, View, new_axes, new_figure, theme, to_svg
from lastgood.training.run import Run, RunConfig
from lastgood.training.schedule import Schedule

PEAK, WARMUP, LAST, FLOOR, KILLED = 1e-2, 30, 300, 1e-3, 120  # the experiment's run, and when it is killed
SEED: Final = 17
EVERY: Final = 20  # steps between two looks at the held-out loss
_STYLE: Final[dict[str, tuple[str, Any]]] = {
    RIGHT: (INK, (None, None)),
    STEP: (ORANGE, (4, 2)),
    HORIZON: (BLUE, (1, 1)),
}


def without_warm_up(steps: int = 100) -> View:
    """The training loss of the course's run with a warm-up and without one; all else is the same."""
    torch.set_num_threads(1)
    losses, heldout = {}, {}
    for name, warmup in (("with", WARMUP), ("without", 1)):
        run = Run(RunConfig(schedule=Schedule(PEAK, warmup, LAST, FLOOR)), seed=SEED)
        losses[name] = [run.advance().loss for _ in range(steps)]
        heldout[name] = run.heldout_loss()
    words = (
        f"Held-out loss after {steps} steps: {heldout['with']:.2f} nats with {WARMUP} steps of warm-up, "
        f"{heldout['without']:.2f} without."
    )
    with theme():
        figure = new_figure(height=190)
        axes = new_axes(figure, 0.075, 0.2, 0.69, 0.66)
        for (name, values), colour in zip(losses.items(), (BLUE, ORANGE), strict=True):
            axes.plot(range(steps), values, color=colour, linewidth=1.2)
            _name(axes, steps, sum(values[-10:]) / 10, f"{name} warm-up", colour)
        axes.set_xlim(0, steps)
        axes.set_xlabel("step")
        axes.set_title("training loss, nats a character", pad=6)
        return View(to_svg(figure, f"Two loss curves. {words}") + f"<p>{words}</p>", words)


def first_rates() -> str:
    """The rate of the first step after the kill, for each kind of restart."""
    found = curves(KILLED, PEAK, WARMUP, LAST, FLOOR)
    return "\n".join(f"{name:18} {curve(KILLED):.5f}" for name, curve in found.items())


@dataclass(frozen=True)
class _Listed(Schedule):
    """A schedule that reads its rates off a list, from a step on."""

    first: int = 0
    rates: tuple[float, ...] = ()

    def lr(self, step: int) -> float:
        return self.rates[step - self.first]


def three_restarts(rates_after_kill: Any, damage: Any) -> View:
    """The learner's rates on a real run: killed once, and resumed in three ways."""
    torch.set_num_threads(1)
    with quiet():
        rates, fault = attempt(rates_after_kill, KILLED, PEAK, WARMUP, LAST, FLOOR)
        listed = {} if fault else {key: numbers(rates[key])[0] for key in KEYS}
        sums = {}
        for key in KEYS if not fault else ():
            sums[key], fault = attempt(damage, listed[RIGHT], listed[key])
            if fault:
                break
    if fault:
        words = f"Nothing to show yet. {fault}"
        return View(f"<p>{words}</p>", words)
    return _drawn(listed, lived(listed), sums)


def lived(rates: Mapping[str, list[float]]) -> dict[str, dict[int, float]]:
    """The held-out loss of each of the three runs, by the steps taken before it."""
    config = RunConfig(schedule=Schedule(PEAK, WARMUP, LAST, FLOOR))
    run = Run(config, seed=SEED)
    for _ in range(KILLED):
        run.advance()
    state, found = capture(run), {}
    for key, listed in rates.items():
        restore(run, state)
        run.schedule = _Listed(PEAK, WARMUP, LAST, FLOOR, KILLED, tuple(listed))
        found[key] = {KILLED: run.heldout_loss()}
        while run.step < LAST:
            run.advance()
            if run.step % EVERY == 0:
                found[key][run.step] = run.heldout_loss()
        run.schedule = config.schedule
    return found


def _drawn(rates: dict[str, list[float]], losses: dict[str, dict[int, float]], sums: dict[str, Any]) -> View:
    total = sum(rates[RIGHT])
    early = KILLED + EVERY
    rows = [f"{'':18}{'rate missed':>12}{'added':>8}   held-out loss at step {early}{'at ' + str(LAST):>9}"]
    for key in KEYS:
        missed, added = (float(value) / total for value in sums[key])
        rows.append(
            f"{key:18}{missed:>12.0%}{added:>8.0%}{losses[key][early]:>26.3f}{losses[key][LAST]:>9.3f}"
        )
    words = "\n".join(rows)
    with theme():
        figure = new_figure(height=330)
        above = new_axes(figure, 0.09, 0.62, 0.69, 0.31)
        below = new_axes(figure, 0.09, 0.12, 0.69, 0.37)
        for key in KEYS:
            colour, dashes = _STYLE[key]
            style: dict[str, Any] = {"color": colour, "linewidth": 1.6}
            if dashes[0]:
                style["dashes"] = dashes
            above.plot(range(KILLED, LAST), rates[key], **style)
            gaps = {step: loss - losses[RIGHT][step] for step, loss in losses[key].items()}
            below.plot(list(gaps), list(gaps.values()), marker="o", markersize=3, **style)
            _name(below, LAST, gaps[LAST], key, colour)
        for axes in (above, below):
            axes.set_xlim(KILLED, LAST)
        above.set_ylim(0, 1.06 * max(map(max, rates.values())))
        above.set_title("learning rate after the restart", pad=6)
        below.set_title("held-out loss above that of the right run, nats", pad=6)
        below.set_xlabel("step")
        svg = to_svg(
            figure, f"Learning rates and held-out losses after three restarts. {' '.join(words.split())}."
        )
    table = f"<pre style='font-size:13px'>{words}</pre>"
    return View(svg + table, words)


def _name(axes: Axes, right: float, height: float, name: str, colour: str) -> None:
    axes.annotate(
        name, (right, height), xytext=(6, 0), textcoords="offset points", color=colour, va="center",
        fontweight="bold", annotation_clip=False,
    )  # fmt: skip
