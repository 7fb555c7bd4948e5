"""Lab 08, part C: Adam's two moments and their correction."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lastgood.teaching.checks.core import Check, Data
from lastgood.teaching.checks.lab08 import walk
from lastgood.teaching.checks.lab08.own import asked, once, refused
from lastgood.teaching.checks.lab08.passages import FROM_ZERO, STATE_MACHINE
from lastgood.teaching.checks.report import Report, part

SHAPE = (3, 4)
FIRST, SECOND = "first moment", "second moment"
DIVIDED_BY_ZERO = (
    "The first step divides by zero: 1 - β⁰ is 0. The first step is step 1. "
    "Count it before you correct, not after."
)

Averages = Callable[[Tensor, float], Tensor]  # (N, …) of what is averaged, and β -> (N, …)


def _draw(seed: int) -> Data:
    source = random.Random(seed)
    return {"seed": seed, "betas": [source.choice([0.8, 0.85, 0.9]), source.choice([0.95, 0.98, 0.99])]}


def _lane(inputs: Data, number: int = 0) -> tuple[Tensor, Tensor]:
    return walk.drawn(inputs["seed"] + number, SHAPE)


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    fault = refused(names["0"])
    if fault:
        return {"error": fault}

    def turn(parameter: Tensor, gradient: Tensor, state: walk.State, number: int) -> tuple[Any, str]:
        value, fault = asked(names["0"], gradient, state, *inputs["betas"])
        if not fault and (not isinstance(value, tuple | list) or len(value) != 2):
            fault = f"Return two tensors, the moments. It returns a {type(value).__name__}."
        fault = fault or walk.tensor_fault(value[0], gradient) or walk.tensor_fault(value[1], gradient)
        return (None, fault) if fault else (torch.stack([v.detach().double() for v in value]), "")

    return walk.conduct(turn, _lane(inputs), _lane(inputs, 1))


def averages(values: Tensor, beta: float, old: float | None = None, new: float | None = None) -> Tensor:
    """(N, …) values to their moving averages from zero, not corrected. `old` and `new` are other weights."""
    old, new = beta if old is None else old, 1 - beta if new is None else new
    ages = torch.arange(len(values)).view(-1, 1) - torch.arange(len(values))  # (N, N): row n, of value i
    weights = new * (old ** ages.clamp(min=0).double()).tril()
    return (weights @ values.flatten(1)).view(values.shape)


def _counts(values: Tensor, first: int = 1) -> Tensor:
    return torch.arange(first, first + len(values)).view(-1, *[1] * (values.dim() - 1)).double()


def corrected(values: Tensor, beta: float, first: int = 1) -> Tensor:
    """(N, …) values to their corrected moving averages; `first` is the number of the first step."""
    return averages(values, beta) / (1 - beta ** _counts(values, first))


def _before(values: Tensor) -> Tensor:
    """The values of the step before: zero at first."""
    return torch.cat([torch.zeros_like(values[:1]), values[:-1]])


def _kept_corrected(values: Tensor, beta: float) -> Tensor:
    """The moving averages where each corrected one is what the next step goes on from."""
    at, path = torch.zeros_like(values[0]), []
    for step, value in enumerate(values, start=1):
        at = (beta * at + (1 - beta) * value) / (1 - beta**step)
        path.append(at)
    return torch.stack(path)


def _from_the_first(values: Tensor, beta: float) -> Tensor:
    """Moving averages that begin at the first value."""
    return averages(values, beta) + beta ** _counts(values) * values[:1]


MISTAKES: dict[str, Averages] = {
    "It is not corrected. From zero, the average is too small at first: divide by 1 - βᵗ.": averages,
    "It is a sum, as momentum's buffer. Either the gradient enters whole, without its 1 - β, or the "
    "correction stays that of step 1: count the steps in `state`.": lambda x, beta: averages(
        x, beta, new=1.0
    ),
    "The steps are counted from 0, so the first one divides by zero. The first step is step 1.": (
        lambda x, beta: corrected(x, beta, first=0)
    ),
    "The count of steps is one too high: the first step is step 1.": (
        lambda x, beta: corrected(x, beta, first=2)
    ),
    "You multiply by 1 - βᵗ. Divide: the average is too small.": (
        lambda x, beta: averages(x, beta) * (1 - beta ** _counts(x))
    ),
    "Each step begins anew: nothing is left of the gradients before. Is everything put into the caller's "
    "`state`?": lambda x, beta: x,
    "The corrected moment is what you remember. Remember it as it is, and correct only what you return.": (
        _kept_corrected
    ),
    "Yours begins at the first gradient. Adam's begins at zero, and is corrected.": _from_the_first,
    "Yours begins at the first gradient, so nothing is left to correct. Adam's begins at zero.": (
        lambda x, beta: _from_the_first(x, beta) / (1 - beta ** _counts(x))
    ),
    "That is the moment before this gradient came in. First update it, then correct it.": (
        lambda x, beta: _before(averages(x, beta)) / (1 - beta ** _counts(x))
    ),
    "That is what was remembered before this gradient came in. First update, then correct.": (
        lambda x, beta: _before(averages(x, beta)) / (1 - beta ** _counts(x, first=0))
    ),
    "It is a sum, not an average: the gradient enters with 1 - β.": (
        lambda x, beta: averages(x, beta, new=1.0) / (1 - beta ** _counts(x))
    ),
    "The weights are swapped: β belongs to what is remembered, 1 - β to what is new.": (
        lambda x, beta: averages(x, 1 - beta) / (1 - beta ** _counts(x))
    ),
    "The weights are swapped, and 1 - β corrects: β belongs to what is remembered.": (
        lambda x, beta: corrected(x, 1 - beta)
    ),
}


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        early = "ZeroDivisionError" in data["error"]
        return MOMENTS.failed(DIVIDED_BY_ZERO if early else data["error"], FROM_ZERO if early else "")
    g, betas, found = _lane(inputs)[1], inputs["betas"], data["path"]  # found: (N, 2, …)
    right = [corrected(x, beta) for x, beta in zip((g, g**2), betas, strict=True)]
    wrong = [
        _mistakes(g, betas[0], {"The moments are swapped: return the first one first.": right[1]}, betas[1]),
        _mistakes(g**2, betas[1], _of_the_second(g, betas, right[0]), betas[0]),
    ]
    faults = [_fault(found[:, i], right[i], wrong[i], g) for i in (0, 1)]
    parts = (
        part(FIRST, 1, faults[0], FROM_ZERO),
        part(SECOND, 1, faults[1], FROM_ZERO),
        part("what it is handed", 1, walk.handed(data), STATE_MACHINE),
    )
    return Report(MOMENTS.exercise, once(parts))


def _mistakes(x: Tensor, beta: float, more: dict[str, Tensor], other: float) -> dict[str, Tensor]:
    found = {sentence: wrong(x, beta) for sentence, wrong in MISTAKES.items()}
    return (
        found
        | more
        | {
            "This is averaged with the other β.": corrected(x, other),
            "This is averaged with the other β, and corrected with its own.": (
                averages(x, other) / (1 - beta ** _counts(x))
            ),
        }
    )


def _of_the_second(g: Tensor, betas: list[float], first: Tensor) -> dict[str, Tensor]:
    beta1, beta2 = betas
    return {
        "The moments are swapped: return the second one last.": first,
        "It averages the gradient. The second moment averages its square.": corrected(g, beta2),
        "It averages the gradient's size. The second moment averages its square.": corrected(g.abs(), beta2),
        "It averages the square of the first moment. Take the gradient's.": corrected(first**2, beta2),
        "It averages the square of the first moment, not corrected. Take the gradient's.": (
            corrected(averages(g, beta1) ** 2, beta2)
        ),
        "That is its root. The division by the root comes later, in the update.": corrected(g**2, beta2)
        ** 0.5,
        "It is corrected with β1. Each moment has a β of its own.": (
            averages(g**2, beta2) / (1 - beta1 ** _counts(g))
        ),
    }


def _fault(found: Tensor, right: Tensor, wrong: dict[str, Tensor], gradients: Tensor) -> str:
    if walk.close(found, right, right):
        return ""
    for sentence, path in wrong.items():
        if walk.close(found, path, right):
            return sentence
    return walk.parting(found, right, gradients).replace("torch's", "the right one is")


MOMENTS = Check("corrected_moments", "C2 Two moments", 3, _draw, _measure, _judge)
