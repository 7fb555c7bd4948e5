"""States to save: a run's at the lab's size, and larger ones of random tensors."""

from __future__ import annotations

from typing import Any

import torch

from lastgood.recovery import state
from lastgood.training.run import Run

MEGABYTE = 10**6


def lab_run(seed: int = 0) -> Run:
    """A run of the labs, some steps on."""
    run = Run(seed=seed)
    for _ in range(3):
        run.advance()
    return run


def lab_state() -> dict[str, Any]:
    """Its full state."""
    return state.capture(lab_run())


def random_state(megabytes: int) -> dict[str, Any]:
    """Tensors of about `megabytes` in all: one for each MB, 12 at least, a third of them parameters."""
    count = max(12, megabytes)
    size = megabytes * MEGABYTE // 4 // count
    parts: dict[str, list[torch.Tensor]] = {"parameters": [], "mean": [], "square": []}
    for number in range(count):
        parts[list(parts)[number % 3]].append(torch.rand(size))
    return {**parts, "step": 120}
