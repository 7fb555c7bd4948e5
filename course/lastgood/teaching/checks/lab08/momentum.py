"""Lab 08, part C: SGD with momentum, against torch's."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lastgood.teaching.checks.core import Check, Data
from lastgood.teaching.checks.lab08 import walk
from lastgood.teaching.checks.lab08.own import asked, refused
from lastgood.teaching.checks.lab08.passages import STATE_MACHINE, VALLEY
from lastgood.teaching.checks.report import Report, part

STEPS, SHAPE = 50, (3, 4)

Path = Callable[[Tensor, Tensor, list[float], float], Tensor]


def _draw(seed: int) -> Data:
    source = random.Random(seed)
    rates = [round(source.uniform(0.01, 0.1), 4) for _ in range(STEPS)]  # as under a schedule
    return {"seed": seed, "rates": rates, "momentum": source.choice([0.8, 0.85, 0.9])}


def _lane(inputs: Data, number: int = 0) -> tuple[Tensor, Tensor]:
    return walk.drawn(inputs["seed"] + number, SHAPE, STEPS)


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    fault = refused(names["0"])
    if fault:
        return {"error": fault}

    def turn(parameter: Tensor, gradient: Tensor, state: walk.State, number: int) -> tuple[Any, str]:
        rate = inputs["rates"][number]
        value, fault = asked(names["0"], parameter, gradient, state, rate, inputs["momentum"])
        return value, fault or walk.tensor_fault(value, gradient)

    return walk.conduct(turn, _lane(inputs), _lane(inputs, 1))


def torchs(start: Tensor, gradients: Tensor, rates: list[float], momentum: float) -> Tensor:
    """The path (N, …) of torch.optim.SGD, with this learning rate at each step."""
    parameter = torch.nn.Parameter(start.clone())
    optimizer = torch.optim.SGD([parameter], lr=0.0, momentum=momentum, foreach=False)
    path = []
    for gradient, rate in zip(gradients, rates, strict=True):
        optimizer.param_groups[0]["lr"] = rate
        parameter.grad = gradient
        optimizer.step()
        path.append(parameter.detach().clone())
    return torch.stack(path)


def _path(rule: Callable[[Tensor, Tensor, float, float], tuple[Tensor, Tensor]]) -> Path:
    """The path of a rule: buffer, gradient, rate, momentum -> next buffer, change of the parameter."""

    def path(start: Tensor, gradients: Tensor, rates: list[float], momentum: float) -> Tensor:
        at, buffer, visited = start, torch.zeros_like(start), []
        for gradient, rate in zip(gradients, rates, strict=True):
            buffer, change = rule(buffer, gradient, rate, momentum)
            at = at + change
            visited.append(at)
        return torch.stack(visited)

    return path


def _moved(buffer: Tensor, rate: float) -> tuple[Tensor, Tensor]:
    return buffer, -rate * buffer


MISTAKES: dict[str, Path] = {
    "Each step is plain gradient descent: nothing is left of the gradients before. Is the new buffer put "
    "into the caller's `state`?": _path(lambda b, g, r, m: (b, -r * g)),
    "Your buffer is an average, with 1 - momentum before the gradient, as Adam's. Momentum adds the whole "
    "gradient.": _path(lambda b, g, r, m: _moved(m * b + (1 - m) * g, r)),
    "The learning rate is inside your buffer: old gradients keep the rate of their own step. It belongs to "
    "the change of the parameter; here it is another one at each step.": _path(
        lambda b, g, r, m: (m * b + r * g, -(m * b + r * g))
    ),
    "The parameter moves by the buffer of the step before. First the buffer takes in the gradient, then the "
    "parameter moves.": _path(lambda b, g, r, m: (m * b + g, -r * b)),
    "That is Nesterov's form, which looks one step ahead. Move by the buffer itself.": _path(
        lambda b, g, r, m: (m * b + g, -r * (g + m * (m * b + g)))
    ),
    "The sign: the parameter climbs. It has to move against the gradient.": _path(
        lambda b, g, r, m: (m * b + g, r * (m * b + g))
    ),
    "The buffer forgets nothing: multiply the old one by momentum.": _path(
        lambda b, g, r, m: _moved(b + g, r)
    ),
    "momentum multiplies the gradient. It belongs to the old buffer.": _path(
        lambda b, g, r, m: _moved(b + m * g, r)
    ),
    "The whole sum is multiplied by momentum. It belongs to the old buffer alone.": _path(
        lambda b, g, r, m: _moved(m * (b + g), r)
    ),
}


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return MOMENTUM.failed(data["error"])
    start, gradients = _lane(inputs)
    setting = (inputs["rates"], inputs["momentum"])
    right, found = torchs(start, gradients, *setting), data["path"]
    fault = ""
    if not walk.close(found, right, right - start):
        fault = walk.parting(found, right, gradients)
        for sentence, wrong in MISTAKES.items():
            if walk.close(found, wrong(start, gradients, *setting), right - start):
                fault = sentence
                break
    steps = part(f"{STEPS} steps", 1, fault, VALLEY)
    return Report(MOMENTUM.exercise, (steps, part("what it is handed", 1, walk.handed(data), STATE_MACHINE)))


MOMENTUM = Check("momentum_step", "C1 Momentum", 2, _draw, _measure, _judge)
