"""What a verdict takes for an answer: values of one form each, and nothing that merely resembles them."""

from collections.abc import Callable
from typing import Any

import pytest

from lastgood.teaching.checks import exact

GIVEN: dict[str, Any] = {
    "None": None,
    "true": True,
    "whole number": 7,
    "nan": float("nan"),
    "text": "a",
    "nothing": [],
    "numbers": [1, 2.5],
    "booleans": [True, False],
    "texts": ["a", "b"],
    "named texts": {"a": "b"},
    "named": {"a": 1, "b": None},
}
TAKES: dict[str, tuple[Callable[[Any], Any], set[str]]] = {
    "number": (exact.number, {"whole number", "nan"}),
    "numbers": (exact.numbers, {"nothing", "numbers"}),
    "two numbers": (lambda value: exact.numbers(value, 2), {"numbers"}),
    "flag": (exact.flag, {"true"}),
    "flags": (exact.flags, {"nothing", "booleans"}),
    "items": (exact.items, {"nothing", "numbers", "booleans", "texts"}),
    "two items": (lambda value: exact.items(value, 2), {"numbers", "booleans", "texts"}),
    "no items": (lambda value: exact.items(value, 0), {"nothing"}),
    "words": (exact.words, {"nothing", "texts"}),
    "texts": (exact.texts, {"named texts"}),
    "text or none": (exact.text_or_none, {"None", "text"}),
    "under": (lambda value: exact.under(value, ("a", "b")), {"named"}),
}


@pytest.mark.parametrize("name", TAKES)
def test_a_value_of_the_right_form_is_taken_as_it_is_and_no_other(name: str) -> None:
    take, right = TAKES[name]
    for given, value in GIVEN.items():
        if given in right:
            assert take(value) == value or value != value
        else:
            with pytest.raises(exact.NotAnAnswer, match="was to come, not"):
                take(value)


def test_what_came_is_told_in_short() -> None:
    with pytest.raises(exact.NotAnAnswer) as raised:
        exact.items({"a": "x" * 10_000})
    assert len(str(raised.value)) < 200
