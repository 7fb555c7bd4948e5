"""An observation becomes leaves that two processes can compare: equal exactly where the values are."""

import random

import numpy as np
import pytest
import torch

from lastgood.recovery.resuming.comparing import different
from lastgood.recovery.resuming.leaves import ObservationError, observed

ONE = torch.arange(6.0).reshape(2, 3)


def leaf(value):
    return observed({"it": value})["it"]


@pytest.mark.parametrize(
    "pair",
    [
        (ONE, ONE + 0),
        (ONE, torch.arange(6.0).reshape(3, 2).T.contiguous().T.reshape(2, 3)),
        (ONE.T, ONE.T.contiguous()),
        (ONE, torch.nn.Parameter(ONE)),
        (ONE.bfloat16(), ONE.bfloat16()),
        (torch.tensor(float("nan")), torch.tensor(float("nan"))),
        (torch.eye(3).to_sparse(), torch.eye(3).to_sparse()),
        (torch.empty(0, 4), torch.empty(0, 4)),
        (float("nan"), float("nan")),
        (np.arange(5), np.arange(5)),
        ([1, 2], (1, 2)),
        ({"a": [1, (2, "x")]}, {"a": [1, (2, "x")]}),
        (random.Random(4).getstate(), random.Random(4).getstate()),
    ],
    ids=str,
)
def test_what_is_equal_has_equal_leaves(pair):
    assert different(*map(leaf, pair)) == []


@pytest.mark.parametrize(
    "pair",
    [
        (ONE, ONE * (1 + 2**-23)),
        (ONE, ONE.double()),
        (ONE, ONE.reshape(3, 2)),
        (torch.tensor(0.0), torch.tensor(-0.0)),
        (torch.ones(4).bfloat16(), torch.ones(4).half()),
        (1, 1.0),
        (1, True),
        ("1", 1),
        (0.1, 0.1 + 2**-56),
        ([], {}),
        ([1, 2], [1, 2, 3]),
        ({"a": None}, {}),
        (b"\x00", b"\x01"),
        ("x" * 100, "x" * 99 + "y"),
        (random.Random(4).getstate(), random.Random(5).getstate()),
        (np.arange(5), torch.arange(5, dtype=torch.int32)),
    ],
    ids=str,
)
def test_what_differs_has_other_leaves(pair):
    assert different(*map(leaf, pair)) != []


def test_nested_values_are_found_by_their_place():
    leaves = leaf({"state": {0: {"exp_avg": ONE}}, "settings": [{"betas": (0.9, 0.99)}]})
    assert {"state.0.exp_avg", "settings.0.betas.1"} <= leaves.keys()


def test_what_changes_later_does_not_change_the_leaves():
    tensor = ONE.clone()
    before = leaf(tensor)
    tensor += 1
    assert before == leaf(ONE) != leaf(tensor)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"dice": random.Random(1)}, "a Random at it.dice"),
        ([object()], "a object at it.0"),
        (np.array([None]), "a ndarray at it:"),
        (torch.nn.Linear(1, 1), "a Linear at it:"),
    ],
)
def test_what_cannot_be_compared_is_named_with_its_place(value, words):
    with pytest.raises(ObservationError, match=words):
        leaf(value)


def test_what_holds_itself_ends():
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(ObservationError, match="Does it hold itself"):
        leaf(endless)
