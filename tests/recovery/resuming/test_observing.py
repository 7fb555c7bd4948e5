"""The usual components of a run are observed by name, and a change in one is seen in that one alone."""

import random

import numpy as np
import pytest
import torch
from torch import nn

from lastgood.recovery.resuming.comparing import different
from lastgood.recovery.resuming.leaves import observed
from lastgood.recovery.resuming.observing import components


@pytest.fixture
def model():
    return nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))


@pytest.fixture
def optimizer(model):
    found = torch.optim.AdamW(model.parameters(), lr=0.1)
    model(torch.randn(4, 2)).square().sum().backward()
    found.step()
    return found


@pytest.mark.parametrize(
    ("change", "component"),
    [
        ("model[0].weight.data += 1", "parameters"),
        ("model[1].running_mean += 1", "buffers"),
        ("optimizer.state[model[0].weight]['exp_avg'] += 1", "optimizer"),
        ("optimizer.state[model[0].weight]['step'] += 1", "optimizer"),
        ("optimizer.param_groups[0]['weight_decay'] = 0", "optimizer"),
        ("optimizer.param_groups[0]['lr'] = 0.2", "optimizer"),
        ("schedule.last_epoch += 1", "schedule"),
        ("run['step'] += 1", "step"),
        ("run['batch'] += 1", "data loader"),
        ("random.random()", "Python RNG"),
        ("np.random.rand()", "NumPy RNG"),
        ("torch.rand(1)", "torch RNG"),
        ("scaler.update(3.0)", "loss scaler"),
        ("run['tokens'] += 1", "tokens"),
    ],
)
def test_a_change_is_seen_where_it_is(model, optimizer, change, component):
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
    scaler.scale(torch.tensor(1.0))
    run = {"step": 3, "batch": torch.zeros(2), "tokens": 5}

    def look():
        return observed(components(model, optimizer, schedule=schedule, scaler=scaler, **run))

    before = look()
    assert look() == before, "looking changes what is seen"
    exec(change, {"random": random, "np": np, "torch": torch}, locals())
    after = look()
    assert [name for name in before if different(before[name], after[name])] == [component]


def test_what_is_not_given_is_left_out(model, optimizer):
    assert list(components(model, optimizer)) == [
        "parameters", "buffers", "optimizer", "Python RNG", "NumPy RNG", "torch RNG",
    ]  # fmt: skip
