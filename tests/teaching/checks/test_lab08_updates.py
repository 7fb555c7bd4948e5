"""Lab 08's checks of momentum, moments and AdamW: each mistake is named, whatever was drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from lastgood.teaching.checks import lab08
from lastgood.teaching.checks.lab08 import moments, momentum, update
from lastgood.teaching.checks.lab08.walk import SHORT, close

SEEDS = range(2)
pytestmark = pytest.mark.usefixtures("one_thread")


def words(report: Any) -> str:
    return " ".join(report.text().split())


def momentum_step(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, mu: float) -> Tensor:
    b: Tensor = mu * state.get("b", 0.0) + g
    state["b"] = b
    return p - lr * b


# What was walked is handed to the verdict as if a learner's function had gone there.


def walked(path: Tensor, **more: Any) -> dict[str, Any]:
    start = path[:SHORT]
    return {
        "path": path,
        "touched": False,
        "again": start,
        "reused": start,
        "in_turn": start,
        "from_a_copy": start,
        **more,
    }


@pytest.mark.parametrize("sentence", momentum.MISTAKES)
def test_each_mistake_about_momentum_is_recognised(sentence: str) -> None:
    for seed in SEEDS:
        inputs = lab08.MOMENTUM.draw(seed)
        path = momentum.MISTAKES[sentence](*momentum._lane(inputs), inputs["rates"], inputs["momentum"])
        report = lab08.MOMENTUM.verdict(inputs, walked(path))
        assert report.points == 1
        assert sentence in words(report)


@pytest.mark.parametrize("which", [0, 1], ids=[moments.FIRST, moments.SECOND])
@pytest.mark.parametrize("sentence", moments.MISTAKES)
def test_each_mistake_about_a_moment_is_recognised(sentence: str, which: int) -> None:
    for seed in SEEDS:
        inputs = lab08.MOMENTS.draw(seed)
        g, betas = moments._lane(inputs)[1], inputs["betas"]
        both = [moments.corrected(g, betas[0]), moments.corrected(g**2, betas[1])]
        both[which] = moments.MISTAKES[sentence]((g, g**2)[which], betas[which])
        report = lab08.MOMENTS.verdict(inputs, walked(torch.stack(both, dim=1)))
        assert report.points == 2
        assert not report.parts[which].passed
        assert sentence in words(report)


def test_each_mistake_about_the_square_is_recognised() -> None:
    for seed in SEEDS:
        inputs = lab08.MOMENTS.draw(seed)
        g, betas = moments._lane(inputs)[1], inputs["betas"]
        first = moments.corrected(g, betas[0])
        for sentence, second in moments._of_the_second(g, betas, first).items():
            report = lab08.MOMENTS.verdict(inputs, walked(torch.stack([first, second], dim=1)))
            assert report.points == 2
            assert sentence in words(report)


def settings(inputs: dict[str, Any]) -> dict[str, update.Setting]:
    return {title: update.Setting(**numbers) for title, numbers in inputs["settings"].items()}


def test_the_right_belief_about_adamw_is_torchs_own_path() -> None:
    for seed in SEEDS:
        inputs = lab08.UPDATE.draw(seed)
        for setting in settings(inputs).values():
            lane = update._lane(inputs)
            assert torch.allclose(update.believed(*lane, setting), update.torchs(*lane, setting), rtol=1e-9)


def test_decay_through_the_gradient_is_torchs_adam() -> None:
    inputs = lab08.UPDATE.draw(1)
    start, gradients = update._lane(inputs)
    setting = settings(inputs)[update.DECAYED]
    parameter = nn.Parameter(start.clone())
    adam = torch.optim.Adam(
        [parameter], betas=(setting.beta1, setting.beta2), eps=setting.eps, weight_decay=setting.weight_decay
    )
    for gradient, rate in zip(gradients, setting.rates, strict=True):
        adam.param_groups[0]["lr"] = rate
        parameter.grad = gradient
        adam.step()
    believed = update.believed(start, gradients, setting, update.Belief(decay="gradient"))
    assert torch.allclose(believed[-1], parameter.detach(), rtol=1e-9)


@pytest.mark.parametrize("sentence", update.BELIEFS | update.DECAYS)
def test_each_belief_about_adamw_is_recognised(sentence: str) -> None:
    belief = (update.BELIEFS | update.DECAYS)[sentence]
    inputs = lab08.UPDATE.draw(len(sentence))
    data = {
        title: walked(update.believed(*update._lane(inputs), setting, belief))
        for title, setting in settings(inputs).items()
    }
    report = lab08.UPDATE.verdict(inputs, data)
    assert report.points == (3 if sentence in update.DECAYS or belief.eps != "outside" else 1)
    assert sentence in words(report)


def test_an_unknown_path_says_where_it_parts() -> None:
    inputs = lab08.MOMENTUM.draw(1)
    path = momentum.torchs(*momentum._lane(inputs), inputs["rates"], inputs["momentum"])
    path[7:] += 0.1
    assert "It is off from step 8 on" in words(lab08.MOMENTUM.verdict(inputs, walked(path)))
    path[7:] = torch.nan
    assert "yours gives nan" in words(lab08.MOMENTUM.verdict(inputs, walked(path)))


SHARED: dict[str, Any] = {}


def in_a_global(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, mu: float) -> Tensor:
    return momentum_step(p, g, SHARED, lr, mu)


def in_a_global_by_identity(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, mu: float) -> Tensor:
    kept = SHARED.setdefault(str(id(state)), {"keep": state})
    return momentum_step(p, g, kept, lr, mu)


def emptied(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, mu: float) -> Tensor:
    if not state:
        SHARED.clear()
    state["begun"] = True
    return momentum_step(p, g, SHARED, lr, mu)


def the_gradient_itself(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, mu: float) -> Tensor:
    b: Tensor = mu * state["b"] + g if "b" in state else g
    state["b"] = b
    return p - lr * b


def into_the_gradient(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, mu: float) -> Tensor:
    g += mu * state.get("b", 0.0)
    state["b"] = g.clone()
    return p - lr * g


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (in_a_global, "it does not begin anew. Something is kept outside `state`"),
        (in_a_global_by_identity, "`state` was replaced by a copy. It goes on differently"),
        (emptied, "disturb each other"),
        (the_gradient_itself, "holds the gradient itself, not a copy"),
        (into_the_gradient, "changes the gradient that it is given"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_memory_that_is_not_in_the_state_costs_its_own_point(
    function: Callable[..., Any], message: str
) -> None:
    for seed in SEEDS:
        SHARED.clear()
        report = lab08.MOMENTUM.run((function,), seed=seed)
        assert [part.points for part in report.parts] == [1, 0], report.text()
        assert message in words(report)


def test_infinities_and_nan_equal_themselves_and_nothing_else() -> None:
    odd = torch.tensor([1.0, torch.inf, torch.nan])
    assert close(odd, odd, odd)
    assert not close(odd, torch.tensor([1.0, 1.0, 1.0]), odd)
    assert not close(odd, odd[:2], odd)
