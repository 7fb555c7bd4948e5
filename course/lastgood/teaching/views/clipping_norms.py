"""Gradient norms of a real run, tensor by tensor, and what a threshold would make of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lastgood.teaching.views.resume import undisturbed
from lastgood.training.run import Run, RunConfig

Floats = NDArray[np.float64]

STEPS: Final = 150
DAMAGED: Final = 100  # the step whose batch is random characters
SEED: Final = 17


@dataclass(frozen=True)
class Clipped:
    """What clipping makes of each step's gradient."""

    norms: Floats  # (S,) global norm afterwards
    touched: NDArray[np.bool_]  # (S,) whether it changed anything
    turned: Floats  # (S,) angle between the gradient before and after, degrees


@dataclass(frozen=True)
class Norms:
    """Norms before clipping of S steps and P tensors, and what the run came to.

    From the norms of the tensors alone everything follows that `globally` and `one_by_one` say, whatever the
    threshold: clipping multiplies each tensor by a number, so the parts of a dot product stay apart.
    """

    tensors: Floats  # (S, P)
    max_norm: float  # threshold of the run itself
    damaged: int | None  # the step whose batch was noise
    rise: float  # of the held-out loss in that step, nats a character
    heldout: float  # loss at the end on text never trained on, nats a character

    @cached_property
    def total(self) -> Floats:
        """(S,) the global norm of each step: the root of the sum of the squares."""
        total: Floats = np.sqrt((self.tensors**2).sum(axis=1))
        return total

    def globally(self, max_norm: float) -> Clipped:
        """One factor for all tensors of a step."""
        return self._scaled(np.minimum(1.0, max_norm / self.total)[:, None])

    def one_by_one(self, max_norm: float) -> Clipped:
        """A factor for each tensor, from its own norm."""
        return self._scaled(np.minimum(1.0, max_norm / np.maximum(self.tensors, 1e-30)))

    def _scaled(self, factors: Floats) -> Clipped:
        """`factors`: (S, P), or (S, 1) where all tensors of a step share one."""
        after = self.tensors * factors
        norms = np.sqrt((after**2).sum(axis=1))
        cosine = (self.tensors * after).sum(axis=1) / (self.total * norms)
        cosine = np.where(factors.min(axis=1) == factors.max(axis=1), 1.0, cosine)  # not one by rounding
        turned = np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))
        return Clipped(norms, factors.min(axis=1) < 1.0, turned)


def record(
    max_norm: float | None = None,
    *,
    config: RunConfig | None = None,
    steps: int = STEPS,
    damaged: int | None = DAMAGED,
    seed: int = SEED,
) -> Norms:
    """Train a run and write down the norm of each tensor's gradient before it is clipped.

    `max_norm` is the run's own threshold, its config's where none is given. The batch of step `damaged` is
    replaced by random characters, as a broken shard of data would. Takes some seconds with the defaults.
    """
    config = config or RunConfig()
    config = replace(config, clip_norm=config.clip_norm if max_norm is None else max_norm)
    with undisturbed():
        run = Run(config, seed=seed)
        parameters = list(run.model.parameters())
        norms = np.zeros((steps, len(parameters)))

        def write_down(column: int) -> None:
            def hook(parameter: Tensor) -> None:
                assert parameter.grad is not None
                norms[run.step, column] = parameter.grad.norm().item()

            parameters[column].register_post_accumulate_grad_hook(hook)  # type: ignore[no-untyped-call]

        for column in range(len(parameters)):
            write_down(column)
        rise = 0.0
        for step in range(steps):
            if step == damaged:
                rise = advance_on_noise(run)
            else:
                run.advance()
        return Norms(norms, config.clip_norm, damaged, rise, run.heldout_loss())


def advance_on_noise(run: Run) -> float:
    """One step on random characters. Returns by how much the held-out loss rose."""
    sound, before = run.loader.tokens, run.heldout_loss()
    generator = torch.Generator().manual_seed(SEED)
    run.loader.tokens = torch.randint(run.loader.n_tokens, sound.shape, generator=generator)
    run.advance()
    run.loader.tokens = sound
    return run.heldout_loss() - before
