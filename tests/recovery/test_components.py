"""A run taken apart and put together: looking changes nothing, and one component at a time can be moved."""

import copy

import pytest
import torch

from lastgood.recovery.audit import AUDIT_CONFIG
from lastgood.recovery.components import (
    COMPONENTS,
    LOADER,
    OPTIMIZER,
    PARAMETERS,
    RNG,
    STEP,
    differences,
    observe,
    transplant,
    upcoming,
)
from lastgood.recovery.wire import pack, same, unpack
from lastgood.training.run import Run


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def trained(steps: int, seed: int = 1) -> Run:
    run = Run(AUDIT_CONFIG, seed=seed)
    for _ in range(steps):
        run.advance()
    return run


def test_looking_at_a_run_changes_nothing_and_what_was_seen_does_not_move() -> None:
    run = trained(8)
    seen = observe(run)
    kept = copy.deepcopy(seen)
    assert same(observe(run), seen)
    run.advance()
    assert same(seen, kept)


def test_an_observation_crosses_a_wire() -> None:
    seen = observe(trained(3))
    assert differences(unpack(pack(seen)), seen) == {}


def test_upcoming_batches_are_the_ones_that_come() -> None:
    run = trained(8)
    expected = upcoming(run)
    assert len(expected) == 4 + 6  # the rest of the second epoch, and the third
    assert [list(run.advance().indices) for _ in range(10)] == expected


def test_all_components_together_make_another_run_the_same_run() -> None:
    run = trained(8)
    seen = observe(run)
    expected = [run.advance().loss for _ in range(6)]
    other = trained(2, seed=9)
    for name in COMPONENTS:
        transplant(other, name, seen)
    assert [other.advance().loss for _ in range(6)] == expected


@pytest.mark.parametrize("name", COMPONENTS)
def test_one_component_moves_alone(name: str) -> None:
    stranger = observe(trained(2, seed=9))
    run = trained(8)
    before = observe(run)
    transplant(run, name, stranger)
    if name == LOADER:  # a transplanted loader plays what was seen, it cannot be asked twice
        assert run.loader.next_indices().tolist() == stranger[LOADER]["batches"][0]
        return
    after = observe(run)
    assert list(differences(after, before)) == [name]
    assert same(after[name], stranger[name])


def test_a_transplant_that_does_not_fit_raises() -> None:
    seen = observe(trained(2))
    seen[PARAMETERS]["values"]["norm.bias"] = torch.zeros(3)
    run = trained(2, seed=9)
    transplant(run, PARAMETERS, seen)
    with pytest.raises(RuntimeError):
        run.advance()


def test_each_difference_is_told_in_the_words_of_its_component() -> None:
    expected = observe(trained(8))
    run = Run(AUDIT_CONFIG, seed=9)
    words = differences(observe(run), expected)
    assert tuple(words) == COMPONENTS
    assert "tensors differ" in words[PARAMETERS]
    assert words[OPTIMIZER].startswith("it has no moments at all")
    assert words[STEP].startswith("the step is 0 instead of 8, so the next learning rate is")
    assert "the next batch has windows" in words[LOADER]
    assert words[RNG] == "Python's random, NumPy's and torch's generators are not where they were"


def test_a_cut_tie_is_told_as_one_and_spoils() -> None:
    run = trained(8)
    expected = observe(run)
    run.model.head.weight = torch.nn.Parameter(run.model.head.weight.detach().clone())
    seen = observe(run)
    assert (
        "head.weight and tokens.weight were one tensor and are two now"
        in differences(seen, expected)[PARAMETERS]
    )
    other = trained(8)
    transplant(other, PARAMETERS, seen)
    assert other.model.head.weight is not other.model.tokens.weight


def test_another_number_of_threads_is_a_difference() -> None:
    run = trained(1)
    expected = observe(run)
    torch.set_num_threads(2)
    assert "2 threads instead of 1" in differences(observe(run), expected)[PARAMETERS]


@pytest.mark.parametrize(
    ("moved", "words"),
    [
        (1, "the loader is one batch too far: 9 batches are left"),
        (-2, "the loader is 2 batches behind: 12 batches"),
    ],
)
def test_a_loader_that_is_elsewhere_in_the_right_order_is_told_how_far(moved: int, words: str) -> None:
    run = trained(8)
    expected = observe(run)
    run.loader.load_state_dict({**run.loader.state_dict(), "cursor": run.loader.cursor + 4 * moved})
    assert differences(observe(run), expected)[LOADER].startswith(words)
