"""A run: the same steps from the same seed, towards the floor, from a configuration in plain data."""

import json

import pytest
import torch

from lastgood.recovery.audit import AUDIT_CONFIG
from lastgood.recovery.components import digests, observe
from lastgood.recovery.wire import same
from lastgood.training.logbook import ENTROPY
from lastgood.training.run import Run, RunConfig


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def test_the_same_seed_takes_the_same_steps_and_another_seed_others() -> None:
    def five(seed: int) -> list[float]:
        run = Run(AUDIT_CONFIG, seed=seed)
        return [run.advance().loss for _ in range(5)]

    assert five(1) == five(1)
    assert five(1) != five(2)


def test_a_step_says_what_it_did() -> None:
    run = Run(AUDIT_CONFIG, seed=1)
    upcoming = run.loader.state_dict()["seed"]
    results = [run.advance() for _ in range(6)]
    assert [result.step for result in results] == list(range(6))
    assert [result.lr for result in results] == [AUDIT_CONFIG.schedule.lr(step) for step in range(6)]
    one_epoch = list(range(22))  # its last batch has 2 windows
    assert sorted(i for result in results for i in result.indices) == one_epoch
    assert run.loader.seed == upcoming
    assert all(result.grad_norm > 0 for result in results)


def test_the_heldout_loss_falls_towards_the_floor_and_measuring_it_changes_nothing() -> None:
    run = Run(AUDIT_CONFIG, seed=1)
    before = observe(run)
    first = run.heldout_loss()
    assert same(observe(run), before)
    assert run.model.training
    for _ in range(60):
        run.advance()
    assert ENTROPY < run.heldout_loss() < 0.85 * first


def test_two_runs_in_the_same_state_have_the_same_digests() -> None:
    one, same_seed, other_seed = (digests(Run(AUDIT_CONFIG, seed=seed)) for seed in (4, 4, 5))
    assert same_seed == one
    assert all(one[name] != other_seed[name] for name in ("parameters", "loader", "rng"))


def test_a_configuration_survives_json() -> None:
    config = RunConfig(batch_size=3)
    assert RunConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
