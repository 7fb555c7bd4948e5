"""Lab 00, part C: the whole model, and its head that is tied to the embedding."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor, nn

from lastgood.teaching.checks import exact
from lastgood.teaching.checks.core import Check, Data
from lastgood.teaching.checks.lab00.compare import close, fault
from lastgood.teaching.checks.lab00.passages import WHOLE
from lastgood.teaching.checks.lab00.upstream import (
    config_of,
    output,
    randomised,
    still_inside,
    tried,
)
from lastgood.teaching.checks.report import Report, part
from lastgood.training.model import GPT

LOGITS_POINTS, TIED_POINTS = 3, 1


def _draw(seed: int) -> Data:
    source = random.Random(seed)
    B, T = source.sample(range(2, 6), 2)
    config = {"vocab_size": 7, "block_size": 8, "n_layer": 3, "n_head": 2, "n_embd": 8}
    return {"seed": seed, "config": config, "B": B, "T": T}


def _right(inputs: Data) -> tuple[GPT, Tensor]:
    """The library's model with weights of this draw, and (B, T) tokens."""
    with torch.random.fork_rng(devices=[]):
        model = GPT(config_of(inputs))
    randomised(model, inputs["seed"])
    still_inside(model)
    source = torch.Generator().manual_seed(inputs["seed"] + 1)
    return model, torch.randint(7, (inputs["B"], inputs["T"]), generator=source)


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    model, data = tried(names["0"], "GPT", *_right(inputs), inputs, inside=True)
    if "error" in data:
        return {"error": _in_words(data["error"])}
    count = sum(parameter.numel() for parameter in model.parameters())
    return data | {"count": count, "shared": _shares(model)}


def _in_words(error: str) -> str:
    if "'Embedding' object is not subscriptable" not in error:
        return error
    return f"{error}\n`embed` looks up rows of a table, and the table of an nn.Embedding is its .weight."


def _shares(model: nn.Module) -> bool:
    """Whether two parameters lie in the same memory, which an optimizer does not know."""
    places = [parameter.data_ptr() for parameter in model.parameters()]
    return len(set(places)) < len(places)


@torch.no_grad()
def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return WHOLE_MODEL.failed(data["error"])
    model, tokens = _right(inputs)
    why = fault(data["found"], output(model, tokens), _wrong(model, tokens), "B, T, V")
    if not why and not close(data["trained"], output(model, tokens, training=True)):
        never = close(data["trained"], output(model, tokens))
        why = "self.dropout is never used." if never else "Dropout is in the wrong place."
        why += " It belongs on the sum of the embeddings, before the first block."
    count = sum(parameter.numel() for parameter in model.parameters())
    exact.flag(data["shared"])
    parts = (
        part("logits", LOGITS_POINTS, why, WHOLE),
        part("tied head", TIED_POINTS, _tied(data, count), WHOLE),
    )
    return Report(WHOLE_MODEL.exercise, parts)


def _tied(data: Data, count: int) -> str:
    if data["count"] == count:
        return ""
    if data["shared"]:
        return (
            "Head and token embedding lie in the same memory, but are two parameters: an optimizer would "
            "move it twice. Let them be one and the same parameter."
        )
    more = f"{data['count']:,} numbers to learn, where {count:,} do"
    return f"The head is not tied: it has weights of its own, and the model {more}."


def _wrong(model: GPT, tokens: Tensor) -> dict[str, Tensor]:
    which = model.tokens(tokens)
    x = which + model.positions.weight[: tokens.size(1)]
    first, second, last = model.blocks

    def read(x: Tensor) -> Tensor:
        return model.head(model.norm(x))  # type: ignore[no-any-return]  # nn.Module

    def through(x: Tensor) -> Tensor:
        return last(second(first(x)))  # type: ignore[no-any-return]  # nn.Module

    logits = read(through(x))
    return {
        "Positions are missing: the blocks get the characters' vectors alone.": read(through(which)),
        "The position's vector is looked up by the character's number. self.positions(tokens) asks for row "
        "tokens; the places are 0 to T - 1.": read(through(which + model.positions(tokens))),
        "The last norm is missing: self.norm comes before the head.": model.head(through(x)),
        "The blocks are never used: the head reads the embeddings.": read(x),
        "Each block reads the embeddings. It should read what the block before it gave: x = block(x).": (
            read(last(x))
        ),
        "Only the first block is used. Is the `return` inside the loop?": read(first(x)),
        "The blocks run in reverse.": read(first(second(last(x)))),
        "self.norm comes before the blocks. It belongs after them, before the head.": (
            model.head(through(model.norm(x)))
        ),
        "Those are probabilities. The model gives logits; the softmax is for the loss and for sampling.": (
            logits.softmax(-1)
        ),
        "Those are logarithms of probabilities. The model gives the logits as they are.": (
            logits.log_softmax(-1)
        ),
        "That is the residual stream. The head that makes logits of it is missing.": model.norm(through(x)),
    }


WHOLE_MODEL = Check("gpt", "C3 The whole model", LOGITS_POINTS + TIED_POINTS, _draw, _measure, _judge)
