"""Gradients before clipping and after, against what known mistakes would make of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor


def total(gradients: list[Tensor]) -> float:
    """The global norm: the root of the sum of all squares."""
    return float(torch.cat([g.flatten().double() for g in gradients]).norm())


def norm_fault(found: float, before: list[Tensor], clip: float) -> str:
    """What is wrong with a norm returned for these gradients, or empty."""
    norms = [float(g.double().norm()) for g in before]
    right = total(before)
    if close(found, right):
        return ""
    squares = sum(norm**2 for norm in norms)
    wrong = {
        "That is the norm after clipping. Return the one before: it is what a run's log shows.": min(
            right, clip
        ),
        "The norms of the tensors are added. Their squares are to be added, and the root taken at "
        "the end.": sum(norms),
        "The root is missing: that is the sum of all squares.": squares,
        "That is the largest norm of a single tensor. The global norm is of all of them together.": max(
            norms
        ),
        "That is the mean of the tensors' norms.": sum(norms) / len(norms),
        "That is the sum of the absolute values. The norm is the root of the sum of squares.": float(
            sum(g.double().abs().sum() for g in before)
        ),
        "That is the largest single value. The norm is the root of the sum of squares.": max(
            float(g.abs().max()) for g in before
        ),
        "That is the factor, not the norm.": clip / right,
        "That is the norm of the parameters. Their gradients are meant: `.grad`.": math.sqrt(
            sum(g.numel() for g in before)  # each parameter of the check is 1 everywhere
        ),
        "That is the norm of the last tensor alone.": norms[-1],
        "That is the norm of the first tensor alone.": norms[0],
    }
    for sentence, value in wrong.items():
        if close(found, value):
            return sentence
    return f"It returns {found:.4g}; the norm before clipping is {right:.4g}."


def close(found: float, right: float) -> bool:
    """Equal but for rounding in 32 bits, and torch's millionth."""
    return math.isclose(found, right, rel_tol=1e-4)


def _wrong(before: list[Tensor], clip: float) -> Iterator[tuple[str, list[Tensor]]]:
    norms = [float(g.norm()) for g in before]
    length, added, squares = total(before), sum(norms), total(before) ** 2
    yield (
        "The gradients are as they were. `g = g * factor` makes a new tensor and leaves the old "
        "one where it is: "
        "change it in place (`mul_`, `*=`), or assign to `parameter.grad`.",
        before,
    )
    yield (
        "Each tensor is clipped by itself: the small ones keep their size, so the direction "
        "turns. One factor for all.",
        [g * min(1.0, clip / norm) for g, norm in zip(before, norms, strict=True)],
    )
    yield (
        "Each value is clipped by itself: large ones are cut off, so the direction turns. One "
        "factor for all.",
        [g.clamp(-clip, clip) for g in before],
    )
    yield (
        "The gradient is discarded: all of it is zero. Clipping makes it shorter and keeps its direction.",
        [torch.zeros_like(g) for g in before],
    )
    yield "The threshold is squared somewhere.", [g * (clip**2 / length) for g in before]
    yield (
        "They are divided by the norm: its length is then 1, not the threshold.",
        [g / length for g in before],
    )
    yield "They are divided by the threshold.", [g / clip for g in before]
    yield (
        "The factor is made of the tensors' norms added up. The global norm is the root of the "
        "sum of their squares.",
        [g * (clip / added) for g in before],
    )
    yield (
        "The factor is made of the sum of squares: the root is missing.",
        [g * (clip / squares) for g in before],
    )
    yield (
        "They are scaled the wrong way: norm / threshold makes them longer.",
        [g * (length / clip) for g in before],
    )


def large_fault(after: list[Any], before: list[Tensor], clip: float) -> str:
    """What is wrong with gradients that were too long `before`, or empty."""
    if any(gradient is None for gradient in after):
        return "A gradient is None afterwards. Nothing is discarded: all are made shorter, by one factor."
    factor = min(1.0, clip / total(before))
    if same(after, [g * factor for g in before]):
        return ""
    for sentence, wrong in _wrong(before, clip):
        if same(after, wrong):
            return sentence
    length = total(after)
    turned = same([g / length for g in after], [g / total(before) for g in before])
    kept = "they keep their direction" if turned else "they point elsewhere than before"
    return f"Together they have norm {length:.4g} after clipping to {clip:g}, and {kept}."


def same(found: list[Any], right: list[Tensor]) -> bool:
    """As many tensors, of the same shapes, and close."""
    return len(found) == len(right) and all(
        isinstance(a, Tensor)
        and a.shape == b.shape
        and torch.allclose(a.double(), b.double(), rtol=1e-4, atol=1e-7)
        for a, b in zip(found, right, strict=True)
    )
