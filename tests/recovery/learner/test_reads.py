"""Data that functions read from a notebook is found, wherever the reading hides."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lastgood.recovery.learner.reads import data_globals

STORE: dict[str, int] = {}
table = np.zeros(3)
LIMIT = 3


def helper() -> Any:
    return STORE


class Holder:
    def read(self) -> Any:
        return table


def direct() -> Any:
    return table.sum()


def through_a_helper() -> Any:
    return helper()


def through_a_class() -> Any:
    return Holder().read()


def in_a_nested_function() -> Any:
    def inner() -> Any:
        return STORE

    return inner()


def of_an_attribute_with_the_name_of_a_global() -> Any:
    return np.random.table


def of_a_constant_and_a_module() -> Any:
    return np.arange(LIMIT)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (direct, ["table (ndarray)"]),
        (through_a_helper, ["STORE (dict)"]),
        (through_a_class, ["table (ndarray)"]),
        (in_a_nested_function, ["STORE (dict)"]),
        (of_a_constant_and_a_module, []),
        (of_an_attribute_with_the_name_of_a_global, []),
    ],
)
def test_what_is_read_is_named_with_its_type(function: Callable[[], Any], expected: list[str]) -> None:
    assert data_globals([function]) == expected
