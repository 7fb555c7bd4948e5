"""Adam's moments over a real run's gradients, and what a restart that lost some of its state makes of them.

The gradients are recorded once. Both runs then get the same ones: what differs is the optimizer alone, so a
moved control is a matter of milliseconds. The arithmetic is that of Kingma and Ba 2015, algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from lastgood.teaching.views.resume import undisturbed
from lastgood.training.run import Run, RunConfig

STEPS: Final = 200
AFTER: Final = 50  # updates looked at after the restart
_EVERY: Final = 50  # one parameter in so many is looked at, for the averages
_EPSILON: Final = 1e-8
# Gradients that mostly point one way, so that there is something to forget. That of the first points the
# other way just after the explorer's first restart.
_SHOWN: Final = {
    "a weight of the MLP": ("blocks.0.mlp.0.weight", 9832),
    "a weight of the attention": ("blocks.0.attention.qkv.weight", 11_391),
    "a number in the token embedding": ("tokens.weight", 188),
    "a scale of the last norm": ("norm.weight", 17),
}

Array = NDArray[np.float64]

BOTH, MOMENTS, STEP = "moments and step", "the moments only", "the step only"
LOST: Final = (BOTH, MOMENTS, STEP)


class MomentsError(ValueError):
    """A restart that these gradients cannot show."""


@dataclass(frozen=True)
class Recording:
    """(N, P) gradients of P parameters in N steps, clipped, as AdamW got them. `shown` names some columns."""

    gradients: Array
    shown: dict[str, int]


@dataclass(frozen=True)
class State:
    """What Adam remembers: (P,) first moment, (P,) second moment, and updates so far."""

    first: Array
    second: Array
    step: int

    @classmethod
    def cold(cls, size: int) -> State:
        """That of a new optimizer."""
        return cls(np.zeros(size), np.zeros(size), 0)


@dataclass(frozen=True)
class Trace:
    """(N, P) moments and updates after each of N steps. An update is in learning rates, to be subtracted."""

    first: Array
    second: Array
    update: Array
    end: State


def adam(gradients: Array, betas: tuple[float, float], start: State) -> Trace:
    """Adam over (N, P) gradients from a state on, bias correction included, weight decay left out."""
    first, second, step = start.first, start.second, start.step
    b1, b2 = betas
    rows = []
    for gradient in gradients:
        first = b1 * first + (1 - b1) * gradient
        second = b2 * second + (1 - b2) * gradient**2
        step += 1
        corrected = first / (1 - b1**step), second / (1 - b2**step)
        rows.append((first, second, corrected[0] / (np.sqrt(corrected[1]) + _EPSILON)))
    columns = np.array(rows).transpose(1, 0, 2)
    return Trace(columns[0], columns[1], columns[2], State(first, second, step))


@dataclass(frozen=True)
class Restart:
    """One parameter before a restart (`before`) and, undisturbed and restarted, in the updates after it.

    `column` says which; the other columns are for the averages.
    """

    at: int
    lost: str
    column: int
    gradients: Array  # (at + AFTER, P)
    before: Trace
    undisturbed: Trace
    restarted: Trace

    def series(self, what: str) -> tuple[Array, Array]:
        """This parameter's `first` or `second` moment, or its `update`.

        (at + AFTER,) from the first step on, undisturbed; and (AFTER,) restarted.
        """
        before, kept, other = (
            getattr(trace, what)[:, self.column] for trace in (self.before, self.undisturbed, self.restarted)
        )
        return np.concatenate([before, kept]), other

    @property
    def firsts(self) -> tuple[float, float]:
        """This parameter's first update after the restart, undisturbed and restarted."""
        return float(self.undisturbed.update[0, self.column]), float(self.restarted.update[0, self.column])

    @property
    def mean_firsts(self) -> tuple[float, float]:
        """The mean size of the first update over all the parameters, undisturbed and restarted."""
        return (
            float(np.abs(self.undisturbed.update[0]).mean()),
            float(np.abs(self.restarted.update[0]).mean()),
        )

    @property
    def mean_moved(self) -> tuple[float, float]:
        """How far a parameter moves in all the updates together, on average, in learning rates."""
        return (
            float(np.abs(self.undisturbed.update.sum(0)).mean()),
            float(np.abs(self.restarted.update.sum(0)).mean()),
        )

    @property
    def mean_gaps(self) -> Array:
        """(AFTER,) mean distance of the two updates over all the parameters."""
        gaps: Array = np.abs(self.restarted.update - self.undisturbed.update).mean(1)
        return gaps


def restart(
    recording: Recording, *, at: int, lost: str, betas: tuple[float, float], column: int = 0
) -> Restart:
    """The same gradients after `at` updates, to an optimizer that kept its state and to one that lost some.

    Raises MomentsError where fewer than AFTER gradients come after the restart, or none before it.
    """
    steps, size = recording.gradients.shape
    if not 0 < at <= steps - AFTER:
        raise MomentsError(f"a restart after {at} of {steps} steps: choose one from 1 to {steps - AFTER}")
    gradients = recording.gradients[: at + AFTER]
    before = adam(gradients[:at], betas, State.cold(size))
    kept, cold = before.end, State.cold(size)
    left = {
        BOTH: cold,
        MOMENTS: State(cold.first, cold.second, kept.step),
        STEP: State(kept.first, kept.second, cold.step),
    }[lost]
    after = gradients[at:]
    return Restart(at, lost, column, gradients, before, adam(after, betas, kept), adam(after, betas, left))


def record(config: RunConfig | None = None, *, steps: int = STEPS, seed: int = 18) -> Recording:
    """Train the course's GPT for some steps, and keep the gradients of one parameter in fifty.

    Leaves the kernel's generators and threads as they were.
    """
    with undisturbed():
        run = Run(config, seed=seed)
        chosen, shown = _chosen(run)
        rows = []
        for _ in range(steps):
            run.advance()
            every = torch.cat([p.grad.flatten() for p in run.model.parameters() if p.grad is not None])
            rows.append(every[chosen].double().numpy())
    return Recording(np.array(rows), shown)


def _chosen(run: Run) -> tuple[torch.Tensor, dict[str, int]]:
    """Numbers of the parameters to keep, in one list of all, and the columns of those with a name."""
    starts, sizes, total = {}, {}, 0
    for name, parameter in run.model.named_parameters():
        starts[name], sizes[name] = total, parameter.numel()
        total += parameter.numel()
    named = [starts[name] + index % sizes[name] for name, index in _SHOWN.values()]
    chosen = torch.tensor([*named, *range(0, total, _EVERY)])
    return chosen, {title: column for column, title in enumerate(_SHOWN)}
