"""What differs is told in words."""

import pytest
import torch

from lastgood.recovery.resuming.comparing import why
from lastgood.recovery.resuming.leaves import observed


def told(found, expected, start=None, component="optimizer"):
    leaves = [observed({"it": value})["it"] for value in (found, expected, start)]
    return why(component, *leaves)


@pytest.mark.parametrize(
    ("found", "expected", "words"),
    [
        (3, 7, "3, not 7."),
        (
            {"a": torch.zeros(2), "b": torch.ones(2)},
            {"a": torch.ones(2), "b": torch.ones(2)},
            "1 of 2 entries differ, such as a: first value 0.0, not 1.0.",
        ),
        (
            {"lr": 1, "a": torch.tensor([1.0, 2.0])},
            {"lr": 2, "a": torch.tensor([1.0, 3.0])},
            "2 of 2 entries differ, such as a: other values behind the first.",
        ),
        ({"a": torch.ones(2)}, {"a": torch.ones(3, 2)}, "1 of 1 entries differ, such as a: float32[2], not"),
        ({}, {"m": torch.ones(2)}, "1 of 1 entries differ, such as m: absent, not float32[2]."),
        ({"extra": 1}, {}, "1 of 1 entries differ, such as extra: 1, not nothing."),
        ({"a": []}, {"a": {}}, "a list of 0, not a dict of 0."),
        (torch.tensor(1.0), torch.tensor(2.0), "first value 1.0, not 2.0."),
    ],
)
def test_the_most_telling_difference_is_named(found, expected, words):
    assert told(found, expected).startswith(words)


def test_what_is_as_in_a_new_run_was_not_put_back():
    assert told({"step": 0}, {"step": 7}, {"step": 0}).startswith("As in a new run: nothing was put back. ")
    assert not told({"step": 3}, {"step": 7}, {"step": 0}).startswith("As in a new run")


def test_of_a_generator_only_its_place_is_told():
    assert told(3, 7, component="torch RNG") == "It stands elsewhere, so other numbers follow."
