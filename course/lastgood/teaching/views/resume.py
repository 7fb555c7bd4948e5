"""What a resumed run does when some components were not put back: computed, step by step.

A run is trained, its full state captured, and trained on: the uninterrupted run. Then, for any set of
components, a fresh run of another seed gets only those back and trains on too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from lastgood.recovery.components import COMPONENTS, LOADER, OPTIMIZER, PARAMETERS, RNG, STEP, TITLES
from lastgood.recovery.state import capture, restore
from lastgood.teaching.views.parts import entries_of
from lastgood.training.rng import capture_rng, restore_rng
from lastgood.training.run import Run, RunConfig, StepResult


class ResumeError(ValueError):
    """An experiment that cannot be made."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """Compute with one thread, as exact equality needs, and leave threads and generators as they were.

    A notebook's own run draws from the same global generators: looking at a picture must not change it.
    """
    threads, generators = torch.get_num_threads(), capture_rng()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        restore_rng(generators)


@dataclass(frozen=True)
class Curve:
    """The steps after a restart, beside the same steps of the run that was never interrupted."""

    put_back: frozenset[str]
    steps: tuple[StepResult, ...]
    reference: tuple[StepResult, ...]
    heldout: float  # loss after the last step on text never trained on, nats a character
    reference_heldout: float

    @property
    def missing(self) -> tuple[str, ...]:
        """Components that were not put back."""
        return tuple(name for name in COMPONENTS if name not in self.put_back)

    @property
    def restart(self) -> int:
        """Number of the first step after the restart, counted as the uninterrupted run does."""
        return self.reference[0].step

    @property
    def losses(self) -> list[float]:
        """Training loss of each step, nats a character."""
        return [step.loss for step in self.steps]

    @property
    def learning_rates(self) -> list[float]:
        return [step.lr for step in self.steps]

    @property
    def indices(self) -> list[tuple[int, ...]]:
        """Windows of the corpus that each step trained on."""
        return [step.indices for step in self.steps]

    @property
    def gaps(self) -> list[float]:
        """Distance of each loss from the uninterrupted run's, nats a character; 0.0 is equal, bit for bit."""
        return [abs(mine.loss - its.loss) for mine, its in zip(self.steps, self.reference, strict=True)]

    @property
    def first_difference(self) -> int | None:
        """The first step whose loss differs, numbered as the uninterrupted run does; None where none does."""
        pairs = zip(self.steps, self.reference, strict=True)
        return next((its.step for mine, its in pairs if mine.loss != its.loss), None)

    @property
    def largest_gap(self) -> float:
        return max(self.gaps)

    @property
    def largest_gap_at(self) -> int:
        """The step of the largest gap, numbered as the uninterrupted run does."""
        return self.restart + self.gaps.index(self.largest_gap)


@dataclass(frozen=True)
class _Uninterrupted:
    before: tuple[StepResult, ...]
    state: dict[str, Any]
    after: tuple[StepResult, ...]
    heldout: float


class ResumeExperiment:
    """One run killed after `before` steps, and resumed for `after` steps with whatever is put back.

    Nothing is computed before it is asked for, and nothing twice. The defaults kill the run half-way through
    an epoch and past its warm-up, and resume it past the epoch's end, so that every component counts.

    Raises ResumeError where a number of steps is not positive.
    """

    def __init__(
        self,
        config: RunConfig | None = None,
        *,
        seed: int = 18,
        fresh_seed: int = 81,
        before: int = 80,
        after: int = 50,
    ) -> None:
        if before < 1 or after < 1:
            raise ResumeError(f"before={before} and after={after} must both be at least one step")
        self.config = config or RunConfig()
        self.seed = seed
        self.fresh_seed = fresh_seed  # another one, or what was forgotten would come back by itself
        self.before = before
        self.after = after
        self._curves: dict[frozenset[str], Curve] = {}

    @cached_property
    def _uninterrupted(self) -> _Uninterrupted:
        with undisturbed():
            run = Run(self.config, seed=self.seed)
            before = tuple(run.advance() for _ in range(self.before))
            state = capture(run)
            after = tuple(run.advance() for _ in range(self.after))
            return _Uninterrupted(before, state, after, run.heldout_loss())

    @property
    def reference(self) -> tuple[StepResult, ...]:
        """Every step of the uninterrupted run, from its beginning."""
        return self._uninterrupted.before + self._uninterrupted.after

    def resume(self, components: Collection[str]) -> Curve:
        """The run that goes on with only these components put back into a fresh run of another seed.

        Raises ResumeError for a name that is no component.
        """
        put_back = frozenset(components)
        if unknown := put_back.difference(COMPONENTS):
            raise ResumeError(
                f"no such component: {', '.join(sorted(unknown))}. There are {', '.join(COMPONENTS)}."
            )
        if put_back not in self._curves:
            self._curves[put_back] = self._resume(put_back)
        return self._curves[put_back]

    def _resume(self, put_back: frozenset[str]) -> Curve:
        uninterrupted = self._uninterrupted
        with undisturbed():
            run = Run(self.config, seed=self.fresh_seed)
            state = capture(run)
            for component in put_back:
                state.update(entries_of(component, uninterrupted.state))
            restore(run, state)
            steps = tuple(run.advance() for _ in range(self.after))
            return Curve(put_back, steps, uninterrupted.after, run.heldout_loss(), uninterrupted.heldout)


def describe(curve: Curve) -> str:
    """What came of it, in two sentences of plain text."""
    n = len(curve.steps)
    missing = ", ".join(TITLES[name] for name in curve.missing)
    if curve.first_difference is None:
        start = f"Missing: {missing}. Even so, all" if missing else "Nothing missing: all"
        return f"{start} {n} losses are equal, bit for bit."
    ordinal = {0: "the first", 1: "the second", 2: "the third"}
    after = curve.first_difference - curve.restart
    place = f"{ordinal[after]} after the resume" if after in ordinal else f"{after} steps after the resume"
    return (
        f"Missing: {missing}. First step that differs: {curve.first_difference} ({place}). "
        f"Largest gap {curve.largest_gap:.2g} nats a character, at step {curve.largest_gap_at}."
    )


_LATER = "A loss is measured before its step's update, so this alone shows one step later."


def reasons(curve: Curve) -> list[str]:
    """For each missing component, why the run is another one: plain text."""
    step, mine, its = curve.restart, curve.steps[0], curve.reference[0]
    words = {
        PARAMETERS: f"the weights are a new draw, and step {step} has the loss of an untrained model.",
        OPTIMIZER: f"both moments start from zero, so the update of step {step} is another one. {_LATER}",
        STEP: f"step {step} learns at rate {mine.lr:.2g} instead of {its.lr:.2g}: "
        f"the schedule begins again. {_LATER}",
        LOADER: f"step {step} reads windows {_some(mine.indices)} instead of {_some(its.indices)}.",
        RNG: "from the first step on, dropout drops other activations and augmentation other characters.",
    }
    return [f"{TITLES[name].capitalize()}: {words[name]}".replace("Rng", "RNG") for name in curve.missing]


def _some(indices: tuple[int, ...], shown: int = 3) -> str:
    return ", ".join(str(index) for index in indices[:shown]) + ("…" if len(indices) > shown else "")
