"""Lab 08, part D: the size of a file, before it is there."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from lastgood.teaching.checks.core import Check, Data, number
from lastgood.teaching.checks.lab08 import models
from lastgood.teaching.checks.lab08.own import asked, count_parameters, once, refused
from lastgood.teaching.checks.lab08.passages import FILES
from lastgood.teaching.checks.report import Part, Report, part

TOLERANCE = 0.01
MOMENTS = {models.SGD: 0, models.MOMENTUM: 1, models.ADAMW: 2}


def saved_bytes(model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    """Bytes of the file that torch.save writes of both state_dicts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.pt"
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
        return path.stat().st_size


def _draw(seed: int) -> Data:
    """A GPT large enough that what torch writes about each tensor, some 250 bytes, is under 1 percent."""
    source = random.Random(seed)
    sizes = models.drawn_gpt(source, widths=(136, 144, 152))
    return {"gpt": sizes | {"n_layer": 2, "vocab_size": source.randrange(300, 400), "block_size": 144}}


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    fault = refused(names["0"])
    found = {}
    for name in models.OPTIMIZERS if not fault else ():
        value, fault = asked(names["0"], models.gpt(inputs["gpt"]), name)
        figure, fault = (0.0, fault) if fault else number(value)
        if fault:
            return {"error": fault}
        found[name] = figure
    return {"error": fault} if fault else {"found": found}


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return FILE.failed(data["error"])
    parts = []
    for name in models.OPTIMIZERS:
        model = models.gpt(inputs["gpt"])
        real = saved_bytes(model, models.stepped(model, name))
        parts.append(_part(name, model, data["found"][name], real))
    return Report(FILE.exercise, once(parts))


def _part(name: str, model: nn.Module, found: float, real: int) -> Part:
    if abs(found - real) <= TOLERANCE * real:
        return part(name, 1, "")
    tensors = _tensors(model, MOMENTS[name])
    for why, wrong in mistakes(name).items():
        # What torch writes about each tensor is the same, right or wrong; a unit shrinks it too.
        if any(
            abs(found - size) <= 0.002 * abs(size) for size in (wrong(model, tensors), wrong(model, real))
        ):
            return part(name, 1, why, FILES)
    much = found / real - 1
    way = "more" if much > 0 else "less"
    told = f"You predict {found:,.0f} bytes; the file has {real:,}. That is {abs(much):.1%} {way}."
    return part(name, 1, told, FILES)


def _tensors(model: nn.Module, moments: int) -> int:
    return 4 * (1 + moments) * count_parameters(model)


def _tied(model: nn.Module) -> int:
    return sum(p.numel() for m in model.modules() for p in m.parameters(recurse=False)) - count_parameters(
        model
    )


def mistakes(name: str) -> dict[str, Callable[[nn.Module, float], float]]:
    """Each foreseen mistake's prediction, of the model and the right number of bytes."""
    moments = MOMENTS[name]
    return {
        "That is three numbers for each parameter: two moments, or the gradients too. The file has two.": (
            lambda m, right: _tensors(m, 2) if moments == 1 else -1
        ),
        "The gradients are in your file. The next step computes its own: they are not saved.": (
            lambda m, right: right + 4 * count_parameters(m)
        ),
        "What the optimizer remembers is missing: these are the weights alone.": (
            lambda m, right: _tensors(m, 0) if moments == 2 else -1
        ),
        "That is one number for each parameter. The file has two: the weight, and momentum's buffer.": (
            lambda m, right: _tensors(m, 0) if moments == 1 else -1
        ),
        "That is two numbers for each parameter. The file has three: the weight, and two moments.": (
            lambda m, right: _tensors(m, 1) if moments == 2 else -1
        ),
        "Plain SGD remembers nothing, but the file has the weights too.": (
            lambda m, right: 0.0 if moments == 0 else -1
        ),
        "Two moments, whatever the optimizer is.": lambda m, right: _tensors(m, 2) if moments == 0 else -1,
        "The tied head is counted twice. torch writes a tensor once, under however many names.": (
            lambda m, right: right + 4 * _tied(m)
        ),
        "The tied head is counted twice, in the model and in the moments. It is one parameter.": (
            lambda m, right: right + 4 * (1 + moments) * _tied(m)
        ),
        "The buffers of this model, the masks, are in your file. They are made anew, never saved.": (
            lambda m, right: right + sum(b.nbytes for b in m.buffers())
        ),
        "That is how many numbers there are. Each has 32 bits.": lambda m, right: right / 4,
        "That is in bits. A byte has eight.": lambda m, right: 8 * right,
        "That is mixed precision. This file has the weights once, in 32 bits.": (
            lambda m, right: (6 + 4 * moments) * count_parameters(m)
        ),
        "You count 16 bits for each number. All tensors here have 32.": lambda m, right: right / 2,
        "That is in kilobytes. Bytes are wanted.": lambda m, right: right / 1000,
        "That is in kibibytes. Bytes are wanted.": lambda m, right: right / 1024,
        "That is in megabytes. Bytes are wanted.": lambda m, right: right / 1e6,
        "That is in mebibytes. Bytes are wanted.": lambda m, right: right / 2**20,
    }


FILE = Check("file_bytes", "D The file", 3, _draw, _measure, _judge)
