"""Two loss curves that look alike are told apart, and equal ones are called equal."""

from __future__ import annotations

import pytest

from lastgood.teaching.views.curves import draw_losses, loss_curves_svg, loss_figure
from lastgood.teaching.views.style import new_axes, new_figure, theme
from lastgood.training.logbook import ENTROPY


def test_the_floor_of_the_heldout_loss_is_drawn_and_named() -> None:
    svg = loss_figure([2.0, 1.9, 1.8], [1.8], first_step=5, restart=7, floor=ENTROPY, alt="Two curves.")
    assert f"floor of the held-out loss, {ENTROPY:.3f}" in svg


@pytest.mark.parametrize(("floor", "lowest"), [(ENTROPY, ENTROPY - 0.12), (None, 1.65)])
def test_the_axis_reaches_down_to_the_floor_only_where_there_is_one(
    floor: float | None, lowest: float
) -> None:
    with theme():
        axes = new_axes(new_figure(height=50), 0, 0, 1, 1)
        draw_losses(axes, [2.0, 1.9, 1.8], [1.7], first_step=5, restart=7, floor=floor)
    assert axes.get_ylim()[0] == pytest.approx(lowest)


@pytest.mark.parametrize(
    ("resumed", "words"),
    [
        ([2.0, 1.9, 1.8], "all 3 losses are exactly equal"),
        ([2.0, None, None], "all 1 losses are exactly equal"),
        ([None, None, None], "the resumed run took no step"),
        ([], "the resumed run took no step"),
        ([2.1, float("nan"), float("inf")], "2 losses are not finite"),
    ],
)
def test_the_lower_panel_says_what_dots_cannot(resumed: list[float | None], words: str) -> None:
    svg = loss_curves_svg([2.0, 1.9, 1.8], resumed, 40, "Curves.")
    assert words in svg
    assert (">resumed<" in svg) == any(loss is not None for loss in resumed)


def test_a_tiny_difference_is_not_drawn_as_equality() -> None:
    svg = loss_curves_svg([2.0, 2.0], [2.0, 2.0000002], 0, "Curves.")
    assert "exactly equal" not in svg
    assert ">10⁻⁶<" in svg
