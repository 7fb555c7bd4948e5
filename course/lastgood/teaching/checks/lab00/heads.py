"""Lab 00, part B: several heads, each with its own part of the channels."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_pre_hook

from lastgood.teaching.checks import exact
from lastgood.teaching.checks.core import Check, Data
from lastgood.teaching.checks.lab00.compare import close, fault
from lastgood.teaching.checks.lab00.passages import SEVERAL_HEADS
from lastgood.teaching.checks.lab00.upstream import (
    attention_weights,
    config_of,
    output,
    randomised,
    tried,
)
from lastgood.teaching.checks.report import Report, part, untested
from lastgood.training.model import SelfAttention

HEADS_POINTS, DROPOUT_POINTS = 3, 1


def _draw(seed: int) -> Data:
    source = random.Random(seed)
    H, T, D = source.sample((2, 3, 4, 5, 6), 3)
    # A block longer than any other axis: what an error says of sizes then leaves no doubt.
    config = {"vocab_size": 5, "block_size": T + 7, "n_head": H, "n_embd": H * D}
    return {"seed": seed, "config": config, "B": 2, "T": T}


def _right(inputs: Data) -> tuple[SelfAttention, Tensor]:
    """The library's attention with weights of this draw, and (B, T, C) to try it with."""
    with torch.random.fork_rng(devices=[]):
        module = SelfAttention(config_of(inputs))
    randomised(module, inputs["seed"])
    source = torch.Generator().manual_seed(inputs["seed"] + 1)
    return module, torch.randn(inputs["B"], inputs["T"], inputs["config"]["n_embd"], generator=source)


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    dropped: list[bool] = []  # of all that went into a dropout: whether its rows add up to 1
    with _each_dropout(lambda x: dropped.append(close(x.sum(-1), torch.ones(x.shape[:-1])))):
        data = tried(names["0"], "SelfAttention", *_right(inputs), inputs, inside=False)[1]
    return {"error": _in_words(data["error"], inputs)} if "error" in data else data | {"dropped": dropped}


@contextmanager
def _each_dropout(see: Callable[[Tensor], None]) -> Iterator[None]:
    """While it lasts, `see` is shown what every `nn.Dropout` is given."""

    def look(module: nn.Module, arguments: tuple[Any, ...]) -> None:
        if isinstance(module, nn.Dropout):
            see(arguments[0])

    hook = register_module_forward_pre_hook(look)
    try:
        yield
    finally:
        hook.remove()


def _in_words(error: str, inputs: Data) -> str:
    if "raised" not in error:
        return error
    T, config = inputs["T"], inputs["config"]
    H, C = config["n_head"], config["n_embd"]
    if "view size is not compatible" in error:
        # not torch's own words: they advise a reshape, which would hide a mistake in splitting
        error = (
            "forward raised RuntimeError: view size is not compatible. A view only cuts and joins axes that "
            "lie side by side, and a reshape instead may mix them up. To split: view C as (H, D) where it "
            "stands, then transpose. To join: transpose, then reshape."
        )
    elif f"({config['block_size']})" in error and f"({T})" in error:
        error += "\nself.mask is for a whole block. Take its first T rows and its first T columns."
    elif f"({H})" in error and f"({T})" in error:
        error += (
            "\nThe weights are (T, T) where the last axes of q and k are T and D: swap H and T, which view "
        )
        error += "leaves in their places."
    return f"{error}\nIt was given x of shape {(inputs['B'], T, C)}, which is (B, T, C), with {H} heads."


@torch.no_grad()
def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return HEADS.failed(data["error"])
    module, x = _right(inputs)
    why = fault(data["found"], module(x), _wrong(module, x), "B, T, C")
    parts = [part("heads", HEADS_POINTS, why, SEVERAL_HEADS)]
    if why:
        parts.append(untested("dropout", DROPOUT_POINTS, "First the heads have to be right."))
    else:
        parts.append(part("dropout", DROPOUT_POINTS, _dropped(module, x, data), SEVERAL_HEADS))
    return Report(HEADS.exercise, tuple(parts))


def _dropped(module: SelfAttention, x: Tensor, data: Data) -> str:
    if close(data["trained"], output(module, x)):
        return "self.dropout is never used: in training, some of the weights should be dropped."
    if close(data["trained"], output(module, x, training=True)) and all(exact.flags(data["dropped"])):
        return ""
    return "Dropout is in the wrong place: it belongs on the attention weights, before they meet the values."


def _wrong(module: SelfAttention, x: Tensor) -> dict[str, Tensor]:
    C, H = x.size(-1), module.n_head
    q, k, v = module.qkv(x).split(C, dim=2)
    D = C // H

    def mixed(y: Tensor) -> Tensor:
        """As one gets it who reshapes (B, H, T, D) without a transpose."""
        return module.out(y.reshape(x.shape))  # type: ignore[no-any-return]  # nn.Module

    def joined(y: Tensor) -> Tensor:
        return mixed(y.transpose(1, 2))

    def heads(part: Tensor) -> Tensor:
        return part.view(*x.shape[:2], H, D).transpose(1, 2)

    def mangled(part: Tensor) -> Tensor:
        return part.reshape(x.size(0), H, x.size(1), D)

    def strided(part: Tensor) -> Tensor:
        return part.view(*x.shape[:2], D, H).permute(0, 3, 1, 2)

    def look(q: Tensor, k: Tensor, v: Tensor, scale: float = 1.0) -> Tensor:
        mask = torch.ones(q.size(-2), q.size(-2), dtype=torch.bool).tril()
        return attention_weights(q * scale, k, mask) @ v

    three = (heads(q), heads(k), heads(v))
    right = look(*three)
    side_by_side = module.qkv(x).view(*x.shape[:2], H, 3 * D).transpose(1, 2).chunk(3, dim=-1)
    everything = torch.ones(x.size(1), x.size(1), dtype=torch.bool)
    return {
        "The heads are not split: this is one head as wide as all channels.": module.out(look(q, k, v)),
        "The scores are divided by √C. Each head has D channels, so by √D.": (
            joined(look(*three, scale=1 / math.sqrt(H)))
        ),
        "The scores are not scaled by √D.": joined(look(*three, scale=math.sqrt(D))),
        "Heads are split by a reshape alone, which mixes positions with channels. "
        "Split C into (H, D) first, then swap the axes T and H.": (
            joined(look(mangled(q), mangled(k), mangled(v)))
        ),
        "Heads are split and joined by a reshape alone, which mixes positions with channels. "
        "Split C into (H, D) first, then swap the axes T and H.": mixed(
            look(mangled(q), mangled(k), mangled(v))
        ),
        "Heads are joined by a reshape alone, which mixes heads with positions. "
        "Swap the axes H and T back before it.": mixed(right),
        "A head takes every H-th channel. Head 0 should have the first D channels, head 1 the next: "
        "(H, D), not (D, H).": joined(look(strided(q), strided(k), strided(v))),
        "Each head takes q, k and v side by side. qkv gives first all of q, then all of k, then all of v.": (
            joined(look(*side_by_side))
        ),
        "Queries and keys are swapped: qkv gives first q, then k, then v.": joined(
            look(heads(k), heads(q), heads(v))
        ),
        "self.out is never used: after the heads are joined, it mixes them.": right.transpose(1, 2).reshape(
            x.shape
        ),
        "The mask is not used: positions see what comes after them.": joined(
            attention_weights(*three[:2], everything) @ three[2]
        ),
    }


HEADS = Check("self_attention", "B3 Several heads", HEADS_POINTS + DROPOUT_POINTS, _draw, _measure, _judge)
