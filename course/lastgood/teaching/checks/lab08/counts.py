"""Lab 08, part A: the numbers in a model, and those that an optimizer keeps between two steps."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from torch import nn

from lastgood.teaching.checks.core import Check, Data, number
from lastgood.teaching.checks.lab08 import models
from lastgood.teaching.checks.lab08.own import asked, count_parameters, once, refused
from lastgood.teaching.checks.lab08.passages import ONCE, REMEMBERED, STATE_MACHINE
from lastgood.teaching.checks.report import Part, Report, part

GPT_TITLE, BUFFERS_TITLE = "a GPT", "a model with buffers"


def _draw(seed: int) -> Data:
    source = random.Random(seed)
    return {"gpt": models.drawn_gpt(source), "classifier": models.drawn_classifier(source)}


def _models(inputs: Data) -> tuple[nn.Module, nn.Module]:
    return models.gpt(inputs["gpt"]), models.classifier(inputs["classifier"])


def _counted(function: Any, *arguments: Any) -> tuple[float, str]:
    value, fault = asked(function, *arguments)
    return (0.0, fault) if fault else number(value)


def _tied(model: nn.Module) -> int:
    """Numbers that are in two of the model's modules."""
    every = sum(p.numel() for module in model.modules() for p in module.parameters(recurse=False))
    return every - count_parameters(model)


def _buffers(model: nn.Module) -> int:
    return sum(buffer.numel() for buffer in model.buffers())


def _frozen(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters() if not p.requires_grad)


TWICE = "The table of tokens is counted twice: the head's weight is the same parameter, under a second name. "
_COUNTED: dict[str, Callable[[nn.Module], int]] = {
    TWICE + "Count each parameter once.": lambda model: count_parameters(model) + _tied(model),
    "The buffers are counted: running means, masks. They are not trained, and no parameters.": (
        lambda model: count_parameters(model) + _buffers(model)
    ),
    "The parameters that are frozen are left out. They are parameters, trained or not.": (
        lambda model: count_parameters(model) - _frozen(model)
    ),
    "That is how many tensors there are. Count the numbers in them.": lambda model: len(
        list(model.parameters())
    ),
    "These are bytes, four for each number. Count the numbers.": lambda model: 4 * count_parameters(model),
}


def _measure_count(names: dict[str, Any], inputs: Data) -> Data:
    fault = refused(names["0"])
    found = []
    for model in _models(inputs) if not fault else ():
        value, fault = _counted(names["0"], model)
        if fault:
            break
        found.append(value)
    return {"error": fault} if fault else {"found": found}


def _judge_count(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return COUNT.failed(data["error"])
    parts = []
    for title, model, found in zip((GPT_TITLE, BUFFERS_TITLE), _models(inputs), data["found"], strict=True):
        right = count_parameters(model)
        names = [why for why, wrong in _COUNTED.items() if found == wrong(model)]
        fault = names[0] if names else f"You count {found:,g}, and {right:,} is right."
        parts.append(part(title, 1, "" if found == right else fault, ONCE))
    return Report(COUNT.exercise, once(parts))


def _measure_state(names: dict[str, Any], inputs: Data) -> Data:
    fault = refused(names["0"])
    found: dict[str, list[float]] = {}
    for name in models.OPTIMIZERS if not fault else ():
        for model in _models(inputs):
            value, fault = _counted(names["0"], model, name)
            if fault:
                return {"error": fault}
            found.setdefault(name, []).append(value)
    return {"error": fault} if fault else {"found": found}


def _judge_state(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return STATE.failed(data["error"])
    parts = (_part(name, inputs, data["found"][name]) for name in models.OPTIMIZERS)
    return Report(STATE.exercise, once(parts))


def _part(name: str, inputs: Data, found: list[float]) -> Part:
    """The verdict on one optimizer, from the tensors that torch's own holds after a step."""
    both = _models(inputs)
    right = [models.held(models.stepped(model, name)) for model in both]
    if found == right:
        return part(name, 1, "")
    for why, wrong in _mistakes(name).items():
        if found == [wrong(model) for model in both]:
            return part(name, 1, why, REMEMBERED)
    off = 0 if found[0] != right[0] else 1
    if off:  # the GPT is right, so it is what only the other model has
        words = " A parameter that is frozen gets no gradient, so torch keeps nothing for it, and no step."
        also = words if found[1] > right[1] else ""
        told = _numbers(found[1], right[1], "Where a table is frozen, you")
        return part(name, 1, told + also, REMEMBERED)
    return part(name, 1, _numbers(found[0], right[0]), STATE_MACHINE)


def _numbers(found: float, right: int, you: str = "You") -> str:
    return f"{you} count {found:,g}; torch's optimizer holds {right:,} after a step."


def _mistakes(name: str) -> dict[str, Callable[[nn.Module], int]]:
    moments = {models.SGD: 0, models.MOMENTUM: 1, models.ADAMW: 2}[name]
    steps = 1 if name == models.ADAMW else 0

    def trained(model: nn.Module) -> int:
        return count_parameters(model) - _frozen(model)

    def counters(model: nn.Module) -> int:
        return steps * sum(p.requires_grad for p in model.parameters())

    return {
        "Plain SGD keeps nothing: each step needs the gradient of now, and no other.": (
            lambda m: trained(m) if moments == 0 else -1
        ),
        "One moment only. AdamW keeps two for each parameter: of the gradient and of its square.": (
            lambda m: trained(m) + counters(m) if moments == 2 else -1
        ),
        "One moment only, and no count of steps: torch keeps one for each tensor.": (
            lambda m: trained(m) if moments == 2 else -1
        ),
        "The count of steps is missing: torch's AdamW keeps one for each tensor, for the bias correction.": (
            lambda m: moments * trained(m) if steps else -1
        ),
        "There is one count of steps for each tensor, not one for all.": (
            lambda m: moments * trained(m) + 1 if steps else -1
        ),
        "There is one count of steps for each tensor, not for each number.": (
            lambda m: (moments + 1) * trained(m) if steps else -1
        ),
        "There is one count of steps for each tensor, not one for each of its moments.": (
            lambda m: moments * (trained(m) + counters(m)) if steps else -1
        ),
        "Torch's SGD keeps no count of steps: it corrects nothing.": (
            lambda m: trained(m) + sum(p.requires_grad for p in m.parameters()) if moments == 1 else -1
        ),
        "Something is kept for the frozen parameters too, and the count of steps is missing.": (
            lambda m: moments * count_parameters(m) if steps else -1
        ),
        "Something is kept for the frozen parameters too. They get no gradient, so torch keeps nothing.": (
            lambda m: moments * count_parameters(m) + steps * len(list(m.parameters()))
        ),
        "The parameters are counted in. They are the model's; what does the optimizer add?": (
            lambda m: (moments + 1) * trained(m) + counters(m)
        ),
        TWICE + "It has one state.": lambda m: moments * (trained(m) + _tied(m)) + counters(m),
        "Momentum keeps one number for each parameter. Two are Adam's.": (
            lambda m: 2 * trained(m) if moments == 1 else -1
        ),
    }


COUNT = Check("count_parameters", "A1 Parameters", 2, _draw, _measure_count, _judge_count)
STATE = Check("remembered", "A2 What an optimizer remembers", 3, _draw, _measure_state, _judge_state)
