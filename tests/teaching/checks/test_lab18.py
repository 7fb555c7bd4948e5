"""Lab 18's checks of plain functions: each mistake is named, what is right is right however it is written."""

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from lastgood.recovery.wire import same
from lastgood.teaching.checks import lab18
from lastgood.teaching.checks.core import Check
from lastgood.training.model import causal_mask
from lastgood.training.rng import capture_rng

SEEDS = range(5)


def reports(check: Check, function: Any) -> list[Any]:
    """Over several draws: a check must not depend on its luck."""
    return [check.run((function,), seed=seed) for seed in SEEDS]


MASKS: dict[str, tuple[Callable[[int], Any], str]] = {
    "comparison of indices": (lambda n: torch.arange(n)[:, None] >= torch.arange(n), ""),
    "the upper triangle negated": (lambda n: ~torch.ones(n, n).triu(1).bool(), ""),
    "inverted": (lambda n: torch.ones(n, n).triu(1).bool(), "inverted"),
    "transposed": (lambda n: torch.ones(n, n).triu().bool(), "transposed"),
    "sees itself not": (lambda n: torch.ones(n, n).tril(-1).bool(), "does not see itself"),
    "sees one too far": (lambda n: torch.ones(n, n).tril(1).bool(), "t + 1"),
    "numbers": (lambda n: torch.ones(n, n).tril(), "should hold booleans"),
    "a list": (lambda n: [[True] * n] * n, "list, not a tensor"),
    "one row too many": (lambda n: torch.ones(n + 1, n + 1).tril().bool(), "has shape"),
    "sees everything": (lambda n: torch.ones(n, n).bool(), "sees position"),
    "always three": (lambda n: causal_mask(3), "has shape"),
    "raises": (lambda n: 1 / 0, "raised ZeroDivisionError"),
    "no function": (7, "int, not a function"),  # type: ignore[dict-item]
    "borrowed": (causal_mask, "the library's own function"),
}


@pytest.mark.parametrize("name", MASKS)
def test_the_mask_is_right_or_its_mistake_is_named(name: str) -> None:
    function, message = MASKS[name]
    for report in reports(lab18.MASK, function):
        assert report.passed is not bool(message)
        if message:
            assert report.points == 0
            assert message in " ".join(report.text().split())


def entropy(logits: Tensor, tokens: Tensor, **how: Any) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), tokens.flatten(), **how)


LOSSES: dict[str, tuple[Callable[[Tensor, Tensor], Any], str]] = {
    "by log_softmax and gather": (
        lambda x, t: -x[:, :-1].log_softmax(-1).gather(-1, t[:, 1:, None]).mean(),
        "",
    ),
    "with a target to ignore": (
        lambda x, t: entropy(x, torch.cat([t[:, 1:], torch.full_like(t[:, :1], -100)], 1)),
        "",
    ),
    "not shifted": (lambda x, t: entropy(x, t), "Not shifted"),
    "the wrong way": (lambda x, t: entropy(x[:, 1:], t[:, :-1]), "the wrong way"),
    "rolled": (lambda x, t: entropy(x, t.roll(-1, 1)), "last row is asked for the first token"),
    "summed": (lambda x, t: entropy(x[:, :-1], t[:, 1:], reduction="sum"), "where the mean is wanted"),
    "a number": (lambda x, t: entropy(x[:, :-1], t[:, 1:]).item(), "should be a tensor of one number"),
    "detached": (lambda x, t: entropy(x[:, :-1], t[:, 1:]).detach(), "No gradient can flow back"),
    "one a prediction": (
        lambda x, t: entropy(x[:, :-1], t[:, 1:], reduction="none"),
        "should be a tensor of one",
    ),
    "halved": (lambda x, t: entropy(x[:, :-1], t[:, 1:]) / 2, "is right"),
}


@pytest.mark.parametrize("name", LOSSES)
def test_the_loss_is_right_or_its_mistake_is_named(name: str) -> None:
    function, message = LOSSES[name]
    for report in reports(lab18.LOSS, function):
        assert report.passed is not bool(message)
        assert message in " ".join(report.text().split())


NUMBERS: dict[str, tuple[Check, Callable[..., Any], str]] = {
    "hours": (lab18.HOURS, lambda: 13.7, ""),
    "manual restarts alone": (lab18.HOURS, lambda: 60 * 24 / 35, "Add the automatic ones"),
    "restarts a day": (lab18.HOURS, lambda: 1.75, "restarts a day"),
    "bytes": (lab18.BYTES, lambda n: 12 * n, ""),
    "parameters alone": (lab18.BYTES, lambda n: 4 * n, "AdamW keeps two more"),
    "with gradients": (lab18.BYTES, lambda n: 16 * n, "each step computes them anew"),
    "a constant": (lab18.BYTES, lambda n: 12e8, "which is not it"),
    "hours lost": (lab18.LOST, lambda restarts, interval: restarts * interval * 0.5, ""),
    "the worst case": (lab18.LOST, lambda restarts, interval: restarts * interval, "the worst case"),
    "a choice": (lab18.SYMPTOM, lambda: "c", ""),
    "another choice": (lab18.SYMPTOM, lambda: "b", "does not come from them"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_right_or_its_mistake_is_named(name: str) -> None:
    check, function, message = NUMBERS[name]
    for report in reports(check, function):
        assert report.passed is not bool(message)
        assert message in " ".join(report.text().split())


def test_a_check_draws_no_global_random_number() -> None:
    random.seed(1)
    before = capture_rng()
    for check, function in ((lab18.MASK, MASKS["inverted"][0]), (lab18.LOSS, LOSSES["rolled"][0])):
        check.run((function,))
    assert same(capture_rng(), before)
