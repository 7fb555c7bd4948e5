"""Two blanks of the GPT that more than one lab asks for: the causal mask and the shifted loss."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from lastgood.teaching.checks.core import Check, Data, attempt, borrowed
from lastgood.teaching.checks.report import Part, Report
from lastgood.training.model import causal_mask, next_token_loss

ANSWERS = ("lastgood.training.model", "lastgood.teaching")


def mask_check(exercise: str, reread: str) -> Check:
    """A check of `causal_mask(length)`, worth 2 points. `reread` is the passage that explains it."""

    def judge(inputs: Data, data: Data) -> Report:
        if "error" in data:
            return check.failed(data["error"])
        for length, mask in zip(inputs["lengths"], data["masks"], strict=True):
            fault = _mask_fault(mask, causal_mask(length))
            if fault:
                return check.failed(f"With {length} positions: {fault}", reread)
        return Report(exercise, (Part("causal mask", check.worth, check.worth),))

    check = Check("causal_mask", exercise, 2, _draw_mask, _measure_mask, judge)
    return check


def loss_check(exercise: str, reread: str) -> Check:
    """A check of `next_token_loss(logits, tokens)`, worth 2 points. `reread` explains it."""

    def judge(inputs: Data, data: Data) -> Report:
        fault = data.get("error") or _loss_fault(data, *_batch(inputs))
        if fault:
            return check.failed(fault, reread)
        return Report(exercise, (Part("shifted loss", check.worth, check.worth),))

    check = Check("next_token_loss", exercise, 2, _draw_loss, _measure_loss, judge)
    return check


# The causal mask


def _draw_mask(seed: int) -> Data:
    # The longest first: on one position or two, different mistakes look alike.
    return {"lengths": [*sorted(random.Random(seed).sample(range(4, 12), 2), reverse=True), 2, 1]}


def _measure_mask(names: dict[str, Any], inputs: Data) -> Data:
    refused = borrowed(names["0"], ANSWERS)
    masks = []
    for length in inputs["lengths"]:
        value, fault = (None, refused) if refused else attempt(names["0"], length)
        if fault:
            return {"error": fault}
        masks.append(value)
    return {"masks": masks}


def _mask_fault(mask: Any, right: Tensor) -> str:
    T = len(right)
    if mask is None:
        return "the function returned None. Is a `return` missing?"
    if not isinstance(mask, Tensor):
        return f"the result is a {type(mask).__name__}, not a tensor."
    if tuple(mask.shape) != (T, T):
        return f"the mask has shape {tuple(mask.shape)}, it should be ({T}, {T})."
    if mask.dtype != torch.bool:
        return f"the mask holds {mask.dtype}, it should hold booleans: True where looking is allowed."
    if torch.equal(mask, right):
        return ""
    if torch.equal(mask, ~right):
        return "it is inverted: True stands where looking is forbidden."
    if torch.equal(mask, right.T):
        return "it is transposed: a position sees what comes after it, not what came before."
    if torch.equal(mask, torch.ones(T, T).tril(1).bool()):
        return "off by one: position t also sees position t + 1, the very character it has to predict."
    if torch.equal(mask, torch.ones(T, T).tril(-1).bool()):
        return "off by one: a position does not see itself, and the first one sees nothing at all."
    row, column = (mask != right).nonzero()[0].tolist()
    return f"position {row} {'sees' if mask[row, column] else 'does not see'} position {column}."


# The shifted loss


def _batch(inputs: Data) -> tuple[Tensor, Tensor]:
    source = torch.Generator().manual_seed(inputs["seed"])
    B, T, V = inputs["shape"]
    logits = 2 * torch.randn(B, T, V, generator=source)
    return logits, torch.randint(V, (B, T), generator=source)


def _draw_loss(seed: int) -> Data:
    source = random.Random(seed)
    B, T = source.randrange(2, 5), source.randrange(4, 9)
    return {"seed": seed, "shape": [B, T, source.randrange(T, 11)]}  # V of T - 1 would hide a missing flatten


def _measure_loss(names: dict[str, Any], inputs: Data) -> Data:
    refused = borrowed(names["0"], ANSWERS)
    if refused:
        return {"error": refused}
    logits, tokens = _batch(inputs)
    value, fault = attempt(names["0"], logits.requires_grad_(), tokens)
    if fault:
        batched = "Expected target size" in fault
        return {"error": fault + (TWO_AXES if batched else "")}
    if not isinstance(value, Tensor) or value.dim() != 0:
        shape = f" of shape {tuple(value.shape)}" if isinstance(value, Tensor) else ""
        return {
            "error": f"The result is a {type(value).__name__}{shape}, it should be a tensor of one number."
        }
    return {"loss": value.item(), "differentiable": value.requires_grad}


TWO_AXES = "\nF.cross_entropy takes (N, V) logits and (N,) targets: join B and T first, by flatten(0, 1)."


def _loss_fault(data: Data, logits: Tensor, tokens: Tensor) -> str:
    def is_it(value: Tensor) -> bool:
        return bool(abs(data["loss"] - value.item()) < 1e-4 * max(1.0, abs(value.item())))

    def cross_entropy(rows: Tensor, targets: Tensor, reduction: str = "mean") -> Tensor:
        return F.cross_entropy(rows.flatten(0, 1), targets.flatten(), reduction=reduction)

    if is_it(next_token_loss(logits, tokens)):
        return (
            ""
            if data["differentiable"]
            else "No gradient can flow back: the result is cut off from the logits."
        )
    if is_it(cross_entropy(logits, tokens)):
        return "Not shifted: row t is asked for token t, which it has just read, instead of token t + 1."
    if is_it(cross_entropy(logits[:, 1:], tokens[:, :-1])):
        return "Shifted the wrong way: row t + 1 is asked for token t, which came before."
    if is_it(cross_entropy(logits, tokens.roll(-1, 1))):
        return "The last row is asked for the first token: that row has no target and must be left out."
    if is_it(cross_entropy(logits[:, :-1], tokens[:, 1:], "sum")):
        return "The sum over all predictions, where the mean is wanted: it would grow with the batch."
    if is_it(cross_entropy(logits[:, :-1].softmax(-1), tokens[:, 1:])):
        return "A softmax comes before it. F.cross_entropy takes the logits as they are, and has its own."
    if is_it(cross_entropy(logits[:-1], tokens[1:])):
        return "Shifted along B: each window is asked for the one after it. Cut along T, the second axis."
    if is_it(F.cross_entropy(logits.flatten(0, 1)[:-1], tokens.flatten()[1:])):
        return (
            "Shifted after the windows were joined: the last row of each is asked for the first token of the "
            "next. Cut first, then flatten."
        )
    right = next_token_loss(logits, tokens).item()
    return f"It gives {data['loss']:.4f} nats a character for this batch, and {right:.4f} is right."
