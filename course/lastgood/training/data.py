"""A loader that can say where it is.

Each epoch visits every window of the corpus once, in an order that a private generator draws from the seed
and the epoch's number. The position is therefore three numbers: seed, epoch and cursor. The permutation
follows from the first two, so it need not be stored, but it must be the *same* permutation after a resume.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """One step's data. B windows of T characters."""

    inputs: Tensor  # (B, T) what the model reads: the tokens, a few of them replaced
    tokens: Tensor  # (B, T) what it has to predict, untouched
    indices: Tensor  # (B,) which windows these are


class Loader:
    """Shuffled epochs over overlapping windows of a text; the last batch of an epoch may be smaller.

    `tokens` is (N,) int64. Windows of `block_size` begin every `stride` tokens. With probability `augment` a
    window gets two of its inputs replaced by random tokens, as real pipelines disturb theirs: Python's global
    `random` decides whether and where, NumPy's global generator by what. (That is why a run's future
    depends on both of them too.)

    Raises ValueError where the text is shorter than one window or `augment` is no probability.
    """

    def __init__(
        self,
        tokens: Tensor,
        *,
        block_size: int,
        batch_size: int,
        seed: int,
        augment: float = 0.25,
        stride: int | None = None,
    ) -> None:
        if len(tokens) < block_size:
            raise ValueError(f"a text of {len(tokens)} tokens has no window of {block_size}")
        if not 0.0 <= augment <= 1.0:
            raise ValueError(f"augment={augment} is not a probability")
        self.tokens = tokens
        self.block_size = block_size
        self.batch_size = batch_size
        self.augment = augment
        self.starts = torch.arange(0, len(tokens) - block_size + 1, stride or block_size)
        self.n_tokens = int(tokens.max()) + 1
        self.seed = seed
        self.epoch = 0
        self.cursor = 0  # windows of this epoch already handed out
        self._permutation = self._draw_permutation(0)

    def __len__(self) -> int:
        """Batches in an epoch."""
        return -(-len(self.starts) // self.batch_size)

    def _draw_permutation(self, epoch: int) -> Tensor:
        # A generator of its own: making a loader, or an iterator, must not move the global one.
        private = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        return torch.randperm(len(self.starts), generator=private)

    def next_indices(self) -> Tensor:
        """(B,) the windows of the next batch; moves the cursor, and the epoch where this one is used up."""
        if self.cursor >= len(self.starts):
            self.epoch += 1
            self.cursor = 0
            self._permutation = self._draw_permutation(self.epoch)
        indices = self._permutation[self.cursor : self.cursor + self.batch_size]
        self.cursor += len(indices)
        return indices

    def next_batch(self) -> Batch:
        """The next batch: (B, T) inputs and tokens, B smaller in an epoch's last batch."""
        indices = self.next_indices()
        tokens = self.tokens[self.starts[indices, None] + torch.arange(self.block_size)]
        return Batch(self._augmented(tokens), tokens, indices)

    def _augmented(self, tokens: Tensor) -> Tensor:
        inputs = tokens.clone()
        for row in inputs:
            if random.random() < self.augment:
                places = [int(random.random() * self.block_size) for _ in range(2)]
                noise = np.random.randint(0, self.n_tokens, size=2)
                row[places] = torch.as_tensor(noise)
        return inputs

    def state_dict(self) -> dict[str, Any]:
        """Where the loader is: plain numbers."""
        return {"seed": self.seed, "epoch": self.epoch, "cursor": self.cursor}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go to a position. Raises ValueError for another set of keys or a cursor outside the epoch."""
        if set(state) != {"seed", "epoch", "cursor"}:
            raise ValueError(f"a loader's state has the keys seed, epoch and cursor, not {sorted(state)}")
        if not 0 <= state["cursor"] <= len(self.starts):
            raise ValueError(f"cursor {state['cursor']} is outside an epoch of {len(self.starts)} windows")
        self.seed, self.epoch, self.cursor = int(state["seed"]), int(state["epoch"]), int(state["cursor"])
        self._permutation = self._draw_permutation(self.epoch)
