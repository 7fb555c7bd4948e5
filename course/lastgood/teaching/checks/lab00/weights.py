"""Lab 00, part B: where a position looks, as weights."""

from __future__ import annotations

import math
import random
from typing import Any

import torch
from torch import Tensor

from lastgood.teaching.checks.core import Check, Data, attempt
from lastgood.teaching.checks.lab00.compare import fault
from lastgood.teaching.checks.lab00.passages import WHERE_TO_LOOK
from lastgood.teaching.checks.lab00.upstream import attention_weights, not_own
from lastgood.teaching.checks.report import Report, part
from lastgood.training.model import causal_mask


def _draw(seed: int) -> Data:
    source = random.Random(seed)
    H, T, D = source.sample(range(3, 8), 3)
    # With an axis of heads and without. That one first: on three axes, more mistakes look alike.
    return {"seed": seed, "shapes": [[2, H, T, D], [2, T, D]]}


def _tensors(inputs: Data) -> list[tuple[Tensor, Tensor, Tensor]]:
    source = torch.Generator().manual_seed(inputs["seed"])
    return [
        (
            torch.randn(shape, generator=source),
            torch.randn(shape, generator=source),
            causal_mask(shape[-2]),
        )
        for shape in inputs["shapes"]
    ]


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    refused = not_own(names["0"], "attention_weights")
    found = []
    for tensors in _tensors(inputs):
        value, raised = (None, refused) if refused else attempt(names["0"], *tensors)
        if raised:
            return {"error": raised, "shape": list(tensors[0].shape)}
        found.append(value)
    return {"found": found}


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        given = f"\nIt was given q and k of shape {tuple(data['shape'])}."
        return WEIGHTS.failed(data["error"] + (given if "raised" in data["error"] else ""))
    why = ""
    for found, tensors, letters in zip(
        data["found"], _tensors(inputs), ("B, H, T, T", "B, T, T"), strict=True
    ):
        why = why or fault(found, attention_weights(*tensors), _wrong(*tensors), letters)
    return Report(WEIGHTS.exercise, (part("weights", WEIGHTS.worth, why, WHERE_TO_LOOK),))


def _wrong(q: Tensor, k: Tensor, mask: Tensor) -> dict[str, Tensor]:
    D = q.size(-1)
    raw = q @ k.transpose(-2, -1)
    scores = raw / math.sqrt(D)
    never = float("-inf")
    masked = scores.masked_fill(~mask, never)
    return {
        "The scores are not scaled: divide them by √D, or large D makes the softmax all or nothing.": (
            raw.masked_fill(~mask, never).softmax(-1)
        ),
        "The scores are divided by D. It is its root that keeps them at size 1.": (
            (raw / D).masked_fill(~mask, never).softmax(-1)
        ),
        "The scores are divided by √T. Divide by the root of D, the width of q and k.": (
            (raw / math.sqrt(q.size(-2))).masked_fill(~mask, never).softmax(-1)
        ),
        "The scores are multiplied by √D; divide them.": (
            (raw * math.sqrt(D)).masked_fill(~mask, never).softmax(-1)
        ),
        "The mask multiplies the scores. A score of 0 is no weight of 0, for e⁰ is 1: "
        "what a position may not see needs the score -inf.": (scores * mask).softmax(-1),
        "The mask comes after the softmax, so the weights of a row no longer add up to 1. "
        "Set the scores to -inf before it.": scores.softmax(-1) * mask,
        "The softmax runs over the wrong axis: the weights that a row gives, its last axis, add up to 1.": (
            masked.softmax(-2)
        ),
        "The softmax runs over axis 1, which is not the last one here. Count axes from the end.": (
            masked.softmax(1)
        ),
        "The mask is not used: positions see what comes after them.": scores.softmax(-1),
        "The mask is used the wrong way round: True is where a position may look.": (
            scores.masked_fill(mask, never).softmax(-1)
        ),
        "The mask is transposed: positions see what comes after them, not what came before.": (
            scores.masked_fill(~mask.T, never).softmax(-1)
        ),
        "Queries and keys are swapped: row t is the query of position t.": (
            scores.transpose(-2, -1).masked_fill(~mask, never).softmax(-1)
        ),
        "These are the scores. The softmax that makes weights of them is missing.": masked,
    }


WEIGHTS = Check("attention_weights", "B2 Attention weights", 3, _draw, _measure, _judge)
