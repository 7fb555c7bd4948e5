"""Learning-rate schedule and gradient clipping, as pure functions: a step in, a number out."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Schedule:
    """Linear warm-up to `peak`, then a cosine down to `floor` at `horizon`.

    The shape is that of Rae et al. 2021 (Gopher). The position on it is the global step alone, so whoever
    knows the step knows the learning rate, *for this horizon*: another horizon is another curve.

    Raises ValueError where the warm-up does not fit before the horizon or the floor lies above the peak.
    """

    peak: float
    warmup: int
    horizon: int
    floor: float

    def __post_init__(self) -> None:
        if not 0 < self.warmup < self.horizon:
            raise ValueError(f"a warm-up of {self.warmup} steps does not fit before horizon {self.horizon}")
        if not 0.0 <= self.floor <= self.peak:
            raise ValueError(f"floor {self.floor} must lie between 0 and peak {self.peak}")

    def lr(self, step: int) -> float:
        """The learning rate of the step with this number; the first is step 0."""
        if step < 0:
            raise ValueError(f"step {step} is before the beginning")
        if step < self.warmup:
            return self.peak * (step + 1) / self.warmup
        done = min(1.0, (step - self.warmup) / (self.horizon - self.warmup))
        return self.floor + (self.peak - self.floor) * 0.5 * (1.0 + math.cos(math.pi * done))


def clip_gradients(parameters: Iterable[Tensor], max_norm: float) -> float:
    """Rescale all gradients together so that their global norm is at most `max_norm`; returns the one before.

    The direction stays; nothing is discarded.
    """
    return float(torch.nn.utils.clip_grad_norm_(parameters, max_norm))
