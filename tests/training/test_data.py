"""The loader: every window once an epoch, a position that is state, and no draws from others' generators."""

import random

import numpy as np
import pytest
import torch

from lastgood.recovery.wire import same
from lastgood.training.data import Loader
from lastgood.training.rng import capture_rng, seed_everything


def loader(seed: int = 1, augment: float = 0.0) -> Loader:
    """One of 10 windows, 3 batches an epoch."""
    return Loader(torch.arange(100) % 7, block_size=10, batch_size=4, seed=seed, augment=augment)


def epoch(source: Loader) -> list[list[int]]:
    return [source.next_indices().tolist() for _ in range(len(source))]


def test_an_epoch_visits_every_window_once_and_its_last_batch_is_smaller() -> None:
    batches = epoch(loader())
    assert [len(batch) for batch in batches] == [4, 4, 2]
    assert sorted(index for batch in batches for index in batch) == list(range(10))


def test_epochs_and_seeds_have_orders_of_their_own() -> None:
    source = loader()
    first, second = epoch(source), epoch(source)
    assert first != second
    assert epoch(loader(seed=2)) != first
    assert epoch(loader()) == first


@pytest.mark.parametrize("steps", [0, 1, 3, 4, 6, 8])
def test_a_restored_position_goes_on_with_the_same_windows_in_this_epoch_and_later(steps: int) -> None:
    # steps 3 and 6 stand exactly at an epoch's end; 4 and 8 within a later one (accelerate#2016, #4195)
    source = loader()
    for _ in range(steps):
        source.next_indices()
    resumed = loader(seed=99)
    resumed.load_state_dict(source.state_dict())
    expected = [source.next_indices().tolist() for _ in range(7)]
    # datasets#7447: the offset was applied again in every later epoch
    assert [resumed.next_indices().tolist() for _ in range(7)] == expected


def test_making_and_reading_a_loader_moves_no_global_generator_without_augmentation() -> None:
    # Megatron-Bridge#5257: an iterator drew once from the global generator
    seed_everything(3)
    before = capture_rng()
    epoch(loader())
    loader().next_batch()
    after = capture_rng()
    assert same(before["torch"], after["torch"])
    assert same(before["numpy"], after["numpy"])


@pytest.mark.parametrize("reseed", [lambda: random.seed(7), lambda: np.random.seed(7)])
def test_augmentation_draws_from_pythons_and_from_numpys_generator(reseed: object) -> None:
    seed_everything(3)
    expected = loader(augment=1.0).next_batch()
    seed_everything(3)
    reseed()  # type: ignore[operator]
    other = loader(augment=1.0).next_batch()
    assert not torch.equal(other.inputs, expected.inputs)


def test_augmentation_leaves_what_is_to_be_predicted_alone() -> None:
    seed_everything(3)
    batch = loader(augment=1.0).next_batch()
    windows = (torch.arange(100) % 7).view(10, 10)
    assert torch.equal(batch.tokens, windows[batch.indices])
    assert 0 < (batch.inputs != batch.tokens).sum() <= 2 * len(batch.indices)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"epoch": 0, "cursor": 0}, "keys seed, epoch and cursor"),
        ({"seed": 1, "epoch": 0, "cursor": 11}, "cursor 11"),
    ],
)
def test_a_state_that_is_none_is_refused(state: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        loader().load_state_dict(state)


def test_a_text_without_a_window_is_refused() -> None:
    with pytest.raises(ValueError, match="9 tokens has no window of 10"):
        Loader(torch.arange(9), block_size=10, batch_size=1, seed=0)
