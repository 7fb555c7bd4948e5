"""A tensor against the right one, and against those that known mistakes would give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor


def close(found: Tensor, right: Tensor) -> bool:
    """Equal but for rounding: sums may be taken in another order, or scaled before instead of after."""
    return found.shape == right.shape and torch.allclose(
        found.float(), right.float(), rtol=1e-4, atol=1e-5, equal_nan=True
    )


def fault(found: Any, right: Tensor, wrong: Mapping[str, Tensor], letters: str) -> str:
    """Empty where `found` is right, else what is wrong with it.

    `wrong` maps a sentence to the tensor that the mistake would give; the first that fits is told. `letters`
    name the axes of `right`: "B, T, C".
    """
    if found is None:
        return "The function returned None. Is a `return` missing?"
    if not isinstance(found, Tensor):
        return f"The result is a {type(found).__name__}, not a tensor."
    if close(found, right):
        return ""
    for sentence, tensor in wrong.items():
        if close(found, tensor):
            return sentence
    if found.shape != right.shape:
        return (
            f"The result has shape {tuple(found.shape)}, it should be {tuple(right.shape)}, "
            f"which is ({letters})."
        )
    if found.isnan().any():
        return "The result holds NaN: somewhere a softmax has nothing but -inf, or a number was too large."
    gap = (found - right).abs()
    at = [int(i) for i in torch.unravel_index(gap.argmax(), gap.shape)]
    return (
        f"It is not what it should be: off by up to {gap.max().item():.3g}, at {at} of ({letters}), "
        f"where it gives {found[tuple(at)].item():.4f} and {right[tuple(at)].item():.4f} is right."
    )
