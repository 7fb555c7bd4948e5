"""Generators come back to where they were, from a file that `weights_only` loading takes."""

import copy
import random
from pathlib import Path

import numpy as np
import pytest
import torch

from lastgood.recovery.wire import same
from lastgood.training.rng import RNGError, capture_rng, restore_rng, seed_everything


def draws() -> list[float]:
    # Gaussian draws too: both generators keep the second of a pair for later
    return [random.random(), random.gauss(0, 1), np.random.rand(), np.random.randn(), torch.rand(1).item()]


def test_a_restored_state_repeats_every_generators_draws_through_a_file(tmp_path: Path) -> None:
    # transformers#34631: weights_only loading refused NumPy's own state
    seed_everything(5)
    draws()
    torch.save(capture_rng(), tmp_path / "rng.pt")
    expected = draws()
    seed_everything(6)
    restore_rng(torch.load(tmp_path / "rng.pt", weights_only=True))
    assert draws() == expected


def test_a_captured_state_does_not_move_when_the_generators_do() -> None:
    seed_everything(5)
    state = capture_rng()
    kept = copy.deepcopy(state)
    draws()
    assert same(state, kept)


@pytest.mark.parametrize("generator", ["python", "numpy", "torch"])
def test_a_damaged_part_is_named_and_no_generator_is_touched(generator: str) -> None:
    seed_everything(5)
    state = capture_rng()
    draws()
    now = capture_rng()
    state[generator] = torch.zeros(3, dtype=torch.uint8) if generator == "torch" else {"words": [1]}
    with pytest.raises(RNGError, match=rf"(?i){generator}'s generator does not take its state"):
        restore_rng(state)
    assert same(capture_rng(), now)


def test_a_missing_part_is_refused_with_the_keys_named() -> None:
    state = capture_rng()
    del state["numpy"]
    with pytest.raises(RNGError, match="numpy"):
        restore_rng(state)


def test_cuda_states_for_other_devices_are_refused() -> None:
    state = capture_rng()
    with pytest.raises(RNGError, match="this machine"):
        restore_rng({**state, "cuda": [torch.zeros(16, dtype=torch.uint8)] * 99})
