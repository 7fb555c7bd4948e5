"""Lab 00, part C: the MLP, and the block that adds it and attention to the residual stream."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lastgood.teaching.checks.core import Check, Data
from lastgood.teaching.checks.lab00.compare import close, fault
from lastgood.teaching.checks.lab00.passages import ADDED, EACH_BY_ITSELF
from lastgood.teaching.checks.lab00.upstream import (
    config_of,
    make_mlp,
    output,
    randomised,
    still_inside,
    tried,
)
from lastgood.teaching.checks.report import Report, part, untested
from lastgood.training.model import Block

STREAM_POINTS, DROPOUT_POINTS = 2, 1


def _draw(seed: int) -> Data:
    source = random.Random(seed)
    B, T = source.sample(range(2, 6), 2)
    config = {"vocab_size": 5, "block_size": T + 2, "n_head": 2, "n_embd": source.choice((8, 10, 12))}
    return {"seed": seed, "config": config, "B": B, "T": T}


def _input(inputs: Data) -> Tensor:
    source = torch.Generator().manual_seed(inputs["seed"] + 1)
    return torch.randn(inputs["B"], inputs["T"], inputs["config"]["n_embd"], generator=source)


# The MLP


def _right_mlp(inputs: Data) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        return randomised(make_mlp(config_of(inputs)), inputs["seed"])


def _measure_mlp(names: dict[str, Any], inputs: Data) -> Data:
    return tried(names["0"], "make_mlp", _right_mlp(inputs), _input(inputs), inputs, inside=False)[1]


@torch.no_grad()
def _judge_mlp(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return MLP.failed(data["error"], EACH_BY_ITSELF if data["error"].startswith("Its layers") else "")
    right, x = _right_mlp(inputs), _input(inputs)
    why = fault(data["found"], output(right, x), _wrong_mlp(right, x), "B, T, C")
    if not why and not close(data["trained"], output(right, x, training=True)):
        never = close(data["trained"], output(right, x))
        why = "There is no dropout." if never else "Dropout is in the wrong place."
        why += " It comes last, after the second Linear: nn.Dropout(config.dropout)."
    return Report(MLP.exercise, (part("MLP", MLP.worth, why, EACH_BY_ITSELF),))


def _wrong_mlp(right: nn.Module, x: Tensor) -> dict[str, Tensor]:
    wide, narrow = (layer for layer in right.modules() if isinstance(layer, nn.Linear))
    hidden = wide(x)
    return {
        "The activation is missing: two Linear layers in a row are no more than one.": narrow(hidden),
        "The activation is a ReLU; the course's model has a GELU.": narrow(hidden.relu()),
        "That is GELU's approximation by tanh; the course's model has the exact one, nn.GELU().": narrow(
            F.gelu(hidden, approximate="tanh")
        ),
        "The activation comes after the second layer. It belongs between the two.": F.gelu(narrow(hidden)),
        "There is an activation too many, after the second layer.": F.gelu(narrow(F.gelu(hidden))),
        "The input is added already. That is the block's part.": x + narrow(F.gelu(hidden)),
    }


MLP = Check("make_mlp", "C1 MLP", 2, _draw, _measure_mlp, _judge_mlp)


# The block


def _right_block(inputs: Data) -> Block:
    with torch.random.fork_rng(devices=[]):
        block = Block(config_of(inputs))
    randomised(block, inputs["seed"])
    still_inside(block)
    return block


def _measure_block(names: dict[str, Any], inputs: Data) -> Data:
    return tried(names["0"], "Block", _right_block(inputs), _input(inputs), inputs, inside=True)[1]


@torch.no_grad()
def _judge_block(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return BLOCK.failed(data["error"])
    block, x = _right_block(inputs), _input(inputs)
    why = fault(data["found"], output(block, x), _wrong_block(block, x), "B, T, C")
    parts = [part("residual stream", STREAM_POINTS, why, ADDED)]
    if why:
        parts.append(untested("dropout", DROPOUT_POINTS, "First the sum has to be right."))
    else:
        parts.append(part("dropout", DROPOUT_POINTS, _dropped(block, x, data["trained"]), ADDED))
    return Report(BLOCK.exercise, tuple(parts))


def _dropped(block: Block, x: Tensor, trained: Tensor) -> str:
    if close(trained, output(block, x, training=True)):
        return ""
    if close(trained, output(block, x)):
        return "self.dropout is never used. It belongs on what attention gives, before that is added."
    return "Dropout is in the wrong place: it belongs on what attention gives alone, before that is added."


def _wrong_block(block: Block, x: Tensor) -> dict[str, Tensor]:
    attend, mlp, n1, n2 = block.attention, block.mlp, block.norm_1, block.norm_2
    y = x + attend(n1(x))
    post = n1(x + attend(x))
    parallel = x + attend(n1(x)) + mlp(n2(x))
    return {
        "The residual is forgotten: what attention and the MLP give should be added to x, "
        "and takes its place.": mlp(n2(attend(n1(x)))),
        "The residual is forgotten around attention: its result takes the place of x.": (
            attend(n1(x)) + mlp(n2(attend(n1(x))))
        ),
        "The residual is forgotten around the MLP: its result takes the place of x.": mlp(n2(y)),
        "The norm comes after the sum (post-norm). Here attention and the MLP read a normalised copy, and x "
        "itself is never normalised (pre-norm).": n2(post + mlp(post)),
        "The norm comes after attention and the MLP. It belongs before them: they read a normalised copy.": (
            x + n1(attend(x))
        )
        + n2(mlp(x + n1(attend(x)))),
        "x itself is normalised. Normalise a copy for attention and the MLP to read, and add to x as it "
        "was.": _normalised_stream(block, x),
        "The norms are missing.": (x + attend(x)) + mlp(x + attend(x)),
        "The second norm is missing: the MLP reads x as it is.": y + mlp(y),
        "The first norm is missing: attention reads x as it is.": (x + attend(x)) + mlp(n2(x + attend(x))),
        "norm_1 is used twice; before the MLP comes norm_2.": y + mlp(n1(y)),
        "The MLP reads x from before attention. It should read what attention has added, too.": parallel,
        "The MLP comes first; attention comes first.": (x + mlp(n2(x))) + attend(n1(x + mlp(n2(x)))),
        "x is added twice.": y + x + mlp(n2(y)),
        "What attention gave is lost on the way: the MLP reads it, but its result is added to the x from "
        "before.": x + mlp(n2(y)),
    }


def _normalised_stream(block: Block, x: Tensor) -> Tensor:
    x = block.norm_1(x)
    x = block.norm_2(x + block.attention(x))
    return x + block.mlp(x)  # type: ignore[no-any-return]  # nn.Module


BLOCK = Check("block", "C2 Block", STREAM_POINTS + DROPOUT_POINTS, _draw, _measure_block, _judge_block)
