"""Whose values a lost component holds is told: drawn on, of another epoch, half of them the new run's."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from lastgood.recovery.audit import AUDIT_CONFIG, causes
from lastgood.recovery.components import LOADER, PARAMETERS, RNG, observe, upcoming
from lastgood.training.rng import seed_everything
from lastgood.training.run import Run


def told(name: str, change: Callable[[Run, Run], Any]) -> str:
    """The cause of what `change(run, stranger)` does to a component of a run captured after 8 steps."""
    torch.set_num_threads(1)
    stranger = Run(AUDIT_CONFIG, seed=9)
    built = observe(stranger)
    run = Run(AUDIT_CONFIG, seed=1)
    seen = {}
    for step in range(9):
        seen[step] = observe(run)
        run.advance()
    seen[9] = observe(run)
    resumed = Run(AUDIT_CONFIG, seed=1)
    for _ in range(8):
        resumed.advance()
    orders = {
        "epoch": [upcoming(resumed, epoch=0)],
        "seed": [upcoming(resumed, seed=stranger.loader.seed)],
    }
    change(resumed, stranger)
    truth = {"captured": seen[8], "earlier": seen[7], "later": seen[9], "orders": orders}
    cause, words = causes.told(name, "it differs", {"built": built, "restored": observe(resumed)}, truth)
    assert words
    return cause


def draw_much(run: Run, stranger: Run) -> None:
    """As a model that is built: many blocks of each generator."""
    torch.rand(20_000)
    np.random.rand(3_000)
    random.getrandbits(32 * 5_000)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (lambda run, stranger: random.random(), "drawn"),
        (lambda run, stranger: np.random.rand(), "drawn"),
        (lambda run, stranger: torch.rand(1), "drawn"),
        (draw_much, "drawn"),
        (lambda run, stranger: seed_everything(18), "not put back"),
        (lambda run, stranger: (torch.rand(1), random.seed(18)), "not put back"),
    ],
)
def test_a_generator_that_was_drawn_from_is_told_from_one_that_was_not_put_back(
    change: Callable[[Run, Run], Any], cause: str
) -> None:
    assert told(RNG, change) == cause


def move(run: Run, **elsewhere: int) -> None:
    run.loader.load_state_dict(run.loader.state_dict() | elsewhere)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (lambda run, stranger: move(run, epoch=0), "epoch"),
        (lambda run, stranger: move(run, seed=stranger.loader.seed), "seed"),
        (lambda run, stranger: move(run, seed=7), ""),
    ],
)
def test_another_permutation_is_told_by_where_it_comes_from(
    change: Callable[[Run, Run], Any], cause: str
) -> None:
    assert told(LOADER, change) == cause


@torch.no_grad()
def without_biases(run: Run, stranger: Run, alpha: float = 0.0) -> None:
    theirs = dict(stranger.model.named_parameters())
    for name, parameter in run.model.named_parameters():
        if "bias" in name:
            parameter.copy_(theirs[name] + alpha)


@pytest.mark.parametrize(("alpha", "cause"), [(0.0, "partly built"), (1.0, "")])
def test_parameters_that_nobody_filled_are_told_from_wrong_ones(alpha: float, cause: str) -> None:
    assert told(PARAMETERS, lambda run, stranger: without_biases(run, stranger, alpha)) == cause
