"""Lab 08's checks: right is right however it is written, and what is no answer is named."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from lastgood.recovery.wire import same
from lastgood.teaching.checks import lab08
from lastgood.teaching.checks.core import Check
from lastgood.teaching.checks.lab08 import models
from lastgood.training.memory import in_memory as library_in_memory
from lastgood.training.rng import capture_rng

SEEDS = range(2)
MOMENTS_OF = {"sgd": 0, "momentum": 1, "adamw": 2}
pytestmark = pytest.mark.usefixtures("one_thread")


def words(report: Any) -> str:
    return " ".join(report.text().split())


def count(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def remembered(model: nn.Module, name: str) -> int:
    trained = [p for p in model.parameters() if p.requires_grad]
    return MOMENTS_OF[name] * sum(p.numel() for p in trained) + (name == "adamw") * len(trained)


def momentum_step(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, mu: float) -> Tensor:
    b: Tensor = mu * state.get("b", 0.0) + g
    state["b"] = b
    return p - lr * b


def corrected(g: Tensor, state: dict[str, Any], beta1: float, beta2: float) -> tuple[Tensor, Tensor]:
    t, m, v = state.get("all", (0, 0.0, 0.0))
    t, m, v = t + 1, beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2
    state["all"] = t, m, v
    return m / (1 - beta1**t), v / (1 - beta2**t)


def adamw_step(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, *rest: float) -> Tensor:
    beta1, beta2, eps, decay = rest
    m, v = corrected(g, state, beta1, beta2)
    return p * (1 - lr * decay) - lr * m / (v.sqrt() + eps)


def first_update(gradients: list[float], lost: str, beta1: float, beta2: float) -> float:
    def walked(lost: str) -> float:
        m = v = float(t := 0)
        for left, g in zip(range(len(gradients) - 1, -1, -1), gradients, strict=True):
            m, v = (0.0, 0.0) if not left and lost in ("everything", "moments") else (m, v)
            t = 1 if not left and lost in ("everything", "step") else t + 1
            m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        return float(m / (1 - beta1**t) / (v / (1 - beta2**t)) ** 0.5)

    return abs(walked(lost) / walked(""))


RIGHT: dict[Check, Callable[..., Any]] = {
    lab08.COUNT: count,
    lab08.STATE: remembered,
    lab08.MEMORY: lambda n, moments, mixed: n * (8 + 4 * moments),
    lab08.CHECKPOINT: lambda n, moments, mixed: n * (4 + 2 * mixed + 4 * moments),
    lab08.OPT_SIZE: lambda: (1.75, 1.75e12 / 2**40),
    lab08.MOMENTUM: momentum_step,
    lab08.MOMENTS: corrected,
    lab08.UPDATE: adamw_step,
    lab08.FILE: lambda model, name: 4 * (1 + MOMENTS_OF[name]) * count(model),
    lab08.FIRST_UPDATE: first_update,
}


def test_twenty_seven_points_and_every_check_has_a_name_of_its_own() -> None:
    assert sum(check.worth for check in lab08.CHECKS) == 27
    assert len({check.name for check in lab08.CHECKS}) == len(lab08.CHECKS)
    assert len({check.exercise for check in lab08.CHECKS}) == len(lab08.CHECKS)


each_check = pytest.mark.parametrize("check", lab08.CHECKS, ids=lambda check: check.name)


@each_check
def test_right_is_right_whatever_was_drawn(check: Check) -> None:
    for seed in SEEDS:
        report = check.run((RIGHT[check],), seed=seed)
        assert (report.points, report.worth) == (check.worth, check.worth), report.text()


@each_check
def test_what_is_not_written_is_not_lost(check: Check) -> None:
    def blank(*arguments: Any) -> None:
        raise NotImplementedError

    report = check.run((blank,), seed=1)
    assert (report.points, report.worth) == (0, check.worth)
    assert "Not written yet" in report.text()
    assert "LOST" not in report.text()


def test_no_check_draws_a_global_random_number_or_leaves_torch_changed() -> None:
    random.seed(1)
    before, real = capture_rng(), torch.optim.Optimizer.__init__
    for check in lab08.CHECKS:
        check.run((RIGHT[check],))
    assert same(capture_rng(), before)
    assert torch.optim.Optimizer.__init__ is real


def a_torch_adamw(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, *rest: float) -> Tensor:
    return torch.optim.AdamW([p], lr=lr).param_groups[0]["params"][0]  # type: ignore[no-any-return]


def fused(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, *rest: float) -> Tensor:
    torch._fused_adamw_([p], [g], [p], [p], [], [p], lr=lr)  # type: ignore[call-overload]
    return p


def hidden(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, *rest: float) -> Tensor:
    models.stepped(nn.Linear(2, 2), "adamw")
    return p


WRONG: dict[str, tuple[Check, Callable[..., Any], str]] = {
    "no return": (lab08.COUNT, lambda model: None, "Is a `return` missing?"),
    "text": (lab08.COUNT, lambda model: "105,472", "the text '105,472'; a number is wanted"),
    "a list": (lab08.MEMORY, lambda n, k, mixed: [n], "a list; a number is wanted"),
    "the library's": (lab08.MEMORY, library_in_memory, "the library's own function"),
    "one number": (lab08.OPT_SIZE, lambda: 1.75, "Return two numbers: terabytes, tebibytes"),
    "three numbers": (lab08.OPT_SIZE, lambda: (1, 2, 3), "Return two numbers"),
    "a shape": (lab08.MOMENTUM, lambda p, g, s, lr, mu: (p - g)[0], "has shape (4,), it should be (3, 4)"),
    "no tensor": (lab08.MOMENTUM, lambda p, g, s, lr, mu: 0.5, "is a float, not a tensor"),
    "one moment": (lab08.MOMENTS, lambda g, s, b1, b2: g, "Return two tensors"),
    "three moments": (lab08.MOMENTS, lambda g, s, b1, b2: (g, g, g), "Return two tensors"),
    "raises": (lab08.UPDATE, lambda *a: a[2]["m"], "Your function raised KeyError"),
    "torch's": (lab08.UPDATE, a_torch_adamw, "uses torch.optim, and that is the answer"),
    "torch's fused kernel": (lab08.UPDATE, fused, "uses _fused_adamw_, and that is the answer"),
    "torch's behind a helper": (lab08.UPDATE, hidden, "builds one of torch's optimizers"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_answer_is_named(name: str) -> None:
    check, function, message = WRONG[name]
    report = check.run((function,), seed=1)
    assert (report.points, report.worth) == (0, check.worth)
    assert message in words(report)


def test_a_mistake_in_an_earlier_exercise_costs_nothing_in_a_later_one() -> None:
    space: dict[str, Any] = {"corrected_moments": lambda g, state, b1, b2: (0 * g, 0 * g)}
    source = (
        "def adamw_step(p, g, state, lr, b1, b2, eps, decay):\n"
        "    m, v = corrected_moments(g, state, b1, b2)\n"
        "    return p * (1 - lr * decay) - lr * m / (v.sqrt() + eps)\n"
    )
    exec(source, space)
    theirs = space["corrected_moments"]
    assert lab08.UPDATE.run((space["adamw_step"],), seed=1).passed
    assert space["corrected_moments"] is theirs
