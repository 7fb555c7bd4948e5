"""Where two observations of one component part, in words."""

from __future__ import annotations

from typing import Any

# Of JSON: [TENSOR, dtype, shape, digest, first value], [PLAIN, type, value] or [CONTAINER, type, size].
Leaf = list[Any]
Leaves = dict[str, Leaf]  # by path, such as `state.0.exp_avg`

TENSOR, PLAIN, CONTAINER = _TELLING = "tensor", "plain", "container"
_LONGEST = 60  # characters of a place


def different(found: Leaves, expected: Leaves) -> list[str]:
    """The places that differ, those that one of the two lacks included, in the order of `expected`."""
    places = [*expected, *(place for place in found if place not in expected)]
    return [place for place in places if found.get(place) != expected.get(place)]


def why(component: str, found: Leaves, expected: Leaves, at_start: Leaves) -> str:
    """What differs, and whether that is what a new run has."""
    places = different(found, expected)
    if component.endswith("RNG"):  # of what its state is made means nothing to a reader
        words = "It stands elsewhere, so other numbers follow."
    else:
        words = _example(places, found, expected)
    new = untouched(found, expected, at_start)
    return f"As in a new run: nothing was put back. {words}" if new else words


def untouched(found: Leaves, expected: Leaves, at_start: Leaves) -> bool:
    """Whether all that differs is as a new run has it."""
    return all(found.get(place) == at_start.get(place) for place in different(found, expected))


def _example(places: list[str], found: Leaves, expected: Leaves) -> str:
    """How many entries differ, and how one of them does: a tensor if there is one, and hardly a container."""

    def telling(place: str) -> int:
        kinds = {leaf[0] for leaf in (found.get(place), expected.get(place)) if leaf}
        return _TELLING.index("tensor" if "tensor" in kinds else min(kinds, key=_TELLING.index))

    place = min(places, key=telling)
    words = _two(found.get(place), expected.get(place))
    values = {p for p, leaf in [*expected.items(), *found.items()] if leaf[0] != CONTAINER}
    count = sum(p in values for p in places)
    if not place or not count:
        return f"{words}."
    return f"{count} of {len(values)} entries differ, such as {_short(place)}: {words}."


def _two(found: Leaf | None, expected: Leaf | None) -> str:
    match found, expected:
        case [["tensor", *head, _, first], ["tensor", *other, _, right]] if head == other:
            return f"first value {first}, not {right}" if first != right else "other values behind the first"
    if found is None:
        return f"absent, not {_words(expected)}"
    return f"{_words(found)}, not {_words(expected)}"


def _words(leaf: Leaf | None) -> str:
    match leaf:
        case ["tensor", dtype, shape, *_]:
            return f"{dtype.removeprefix('torch.')}{shape}" if shape else f"a {dtype.removeprefix('torch.')}"
        case [_, _, text]:
            return str(text)
    return "nothing"


def _short(place: str) -> str:
    return place if len(place) <= _LONGEST else f"…{place[-_LONGEST:]}"
