"""What the tests of the views share: a run that is quick to compute, killed and resumed."""

from __future__ import annotations

import pytest

from lastgood.teaching.views.resume import ResumeExperiment
from lastgood.training.logbook import CHARACTERS
from lastgood.training.model import GPTConfig
from lastgood.training.run import RunConfig
from lastgood.training.schedule import Schedule


@pytest.fixture(scope="session")
def small() -> RunConfig:
    return RunConfig(
        model=GPTConfig(vocab_size=len(CHARACTERS), block_size=16, n_layer=1, n_head=2, n_embd=16),
        schedule=Schedule(peak=3e-3, warmup=6, horizon=60, floor=3e-4),
        batch_size=4,
        train_chars=1_000,  # 62 windows, 16 batches an epoch
        heldout_chars=200,
    )


@pytest.fixture(scope="session")
def experiment(small: RunConfig) -> ResumeExperiment:
    """Killed half-way through the second epoch, and on to the third. Computed once for all tests."""
    return ResumeExperiment(small, before=24, after=12)
