"""Schedule and clipping against their formulas."""

import math

import pytest
import torch

from lastgood.training.schedule import Schedule, clip_gradients

SCHEDULE = Schedule(peak=1.0, warmup=10, horizon=110, floor=0.1)


@pytest.mark.parametrize(
    ("step", "lr"),
    [
        (0, 0.1),
        (4, 0.5),
        (9, 1.0),
        (10, 1.0),
        (60, 0.1 + 0.9 * 0.5),  # half of the way down: the cosine is zero
        (110, 0.1),
        (10_000, 0.1),
    ],
)
def test_the_learning_rate_at_points_that_can_be_worked_out_by_hand(step: int, lr: float) -> None:
    assert SCHEDULE.lr(step) == pytest.approx(lr)


def test_the_decay_never_rises_and_another_horizon_is_another_curve() -> None:
    rates = [SCHEDULE.lr(step) for step in range(10, 120)]
    assert rates == sorted(rates, reverse=True)
    assert Schedule(1.0, 10, 210, 0.1).lr(60) > SCHEDULE.lr(60)


@pytest.mark.parametrize(
    "settings", [(1.0, 0, 10, 0.1), (1.0, 10, 10, 0.1), (1.0, 1, 10, 1.1), (1.0, 1, 10, -0.1)]
)
def test_settings_that_make_no_curve_are_refused(settings: tuple[float, int, int, float]) -> None:
    with pytest.raises(ValueError, match=r"does not fit before|must lie between"):
        Schedule(*settings)


def test_a_negative_step_is_refused() -> None:
    with pytest.raises(ValueError, match="step -1"):
        SCHEDULE.lr(-1)


def test_clipping_rescales_all_gradients_together_and_returns_the_norm_before() -> None:
    a, b = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
    a.grad, b.grad = torch.tensor([3.0]), torch.tensor([4.0])
    assert clip_gradients([a, b], 1.0) == pytest.approx(5.0)
    assert math.hypot(a.grad.item(), b.grad.item()) == pytest.approx(1.0, abs=1e-5)
    assert a.grad.item() / b.grad.item() == pytest.approx(0.75)
    assert clip_gradients([a, b], 2.0) == pytest.approx(1.0, abs=1e-5)
    assert a.grad.item() == pytest.approx(0.6, abs=1e-5)  # below the threshold nothing changes
