"""The picture of the README: one run, resumed once with everything and once without each component.

python -m lastgood.teaching.views.readme_picture docs/resume.svg
"""

from __future__ import annotations

import argparse
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lastgood.recovery.components import COMPONENTS, TITLES
from lastgood.teaching.views.curves import draw_losses, draw_restart, label_floor
from lastgood.teaching.views.resume import Curve, ResumeExperiment
from lastgood.teaching.views.style import BLUE, ORANGE, new_axes, new_figure, theme, to_svg
from lastgood.training.logbook import ENTROPY

_POINTS_WIDE, _POINTS_HIGH, _PIXELS_WIDE = 640, 440, 960
_SHOWN_BEFORE = 25  # steps before the restart
_HEADLINE = "What a checkpoint leaves out, the resumed run does without. It does not say so."


def draw(experiment: ResumeExperiment) -> str:
    """The picture as a whole SVG file. Computes six runs, half a minute at the labs' size."""
    everything = experiment.resume(COMPONENTS)
    # From what is hardly seen to what nobody could miss.
    curves = [everything, *(experiment.resume(set(COMPONENTS) - {name}) for name in reversed(COMPONENTS))]
    losses = [step.loss for step in experiment.reference]
    first = max(0, everything.restart - _SHOWN_BEFORE)
    top = max(losses[first:]) + 0.4
    with theme():
        figure = new_figure(height=_POINTS_HIGH, width=_POINTS_WIDE)
        _draw_head(figure, everything.restart)
        for place, curve in enumerate(curves):
            row, column = divmod(place, 3)
            axes = new_axes(figure, 0.05 + 0.323 * column, 0.505 - 0.415 * row, 0.285, 0.29)
            _draw_panel(axes, curve, losses[first:], first, top)
            axes.tick_params(labelleft=column == 0, labelbottom=row == 1)
            if row == 1:
                axes.set_xlabel("step", labelpad=1)
            if place == 0:
                label_floor(axes, ENTROPY, "floor of the held-out loss")
        return to_svg(figure, _alt(curves), page_width=_PIXELS_WIDE)


def _draw_head(figure: Figure, restart: int) -> None:
    figure.text(0.013, 0.947, _HEADLINE, fontsize=12.5, fontweight="bold")
    figure.text(0.013, 0.9, "Training loss in nats a character:", fontsize=9.5)
    figure.text(0.26, 0.9, "uninterrupted", fontsize=9.5, fontweight="bold", color=BLUE)
    words = f"killed before step {restart}, and resumed in a fresh run of another seed"
    figure.text(0.383, 0.9, words, fontsize=9.5, fontweight="bold", color=ORANGE)


def _draw_panel(axes: Axes, curve: Curve, reference: list[float], first: int, top: float) -> None:
    draw_losses(
        axes, reference, curve.losses, first_step=first, restart=curve.restart, floor=ENTROPY, top=top
    )
    draw_restart(axes, curve.restart)
    axes.set_xlim(first - 1, first + len(reference))
    head, words = _caption(curve)
    axes.text(0, 1.15, head, transform=axes.transAxes, fontsize=9.3, fontweight="bold")
    axes.text(0, 1.035, words, transform=axes.transAxes, fontsize=8.5)
    if curve.losses[0] > top:
        words, place = f"↑ starts at {curve.losses[0]:.1f}", (curve.restart - 0.5, top)
        axes.annotate(words, place, xytext=(4, -2), textcoords="offset points", va="top")


def _caption(curve: Curve) -> tuple[str, str]:
    n = len(curve.steps)
    if curve.first_difference is None:
        return "everything put back", f"all {n} losses equal, bit for bit"
    left_out = ", ".join(TITLES[name] for name in curve.missing)
    return (
        f"without {left_out}",
        f"differs from step {curve.first_difference} on, by up to {curve.largest_gap:.2g}",
    )


def _alt(curves: list[Curve]) -> str:
    panels = "; ".join(f"{head}: {words}" for head, words in map(_caption, curves))
    return f"Six pairs of loss curves, an uninterrupted run against a resumed one. {panels}."


def main(arguments: list[str] | None = None) -> None:
    """Write the picture to the file named on the command line."""
    parser = argparse.ArgumentParser(description="Compute the README's picture.")
    parser.add_argument("file", type=Path, help="where to write it, such as docs/resume.svg")
    file: Path = parser.parse_args(arguments).file
    file.write_text(draw(ResumeExperiment(before=150, after=60)), encoding="utf-8")


if __name__ == "__main__":
    main()
