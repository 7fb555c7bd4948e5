"""Whose values a lost component holds instead of the right ones, as far as that can be told."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import torch

from lastgood.recovery.components import LOADER, OPTIMIZER, PARAMETERS, RNG
from lastgood.recovery.wire import same

LATER = "later"  # the one cause that a report treats apart: live objects were handed out

_WORDS = {
    "built": "restore left {it} as the new run had {it}: {difference}",
    LATER: (
        "what was captured changed while the run trained on: it holds the values of a later step, "
        "so capture handed out references to live objects and not copies"
    ),
    "earlier": "it is one step behind, as if captured one step before the other components: {difference}",
    "partly built": "{difference}",
    "follows": "{difference}. That follows from the line above",
    "epoch": "{difference}. It is the permutation of another epoch: the epoch's number is wrong",
    "seed": "{difference}. It is the permutation that the new run's seed gives",
    "drawn": "{difference}. The state was put back, and then something drew random numbers",
    "not put back": "{difference}. The state was not put back exactly",
    "": "{difference}",
}
_HINTS = {
    PARAMETERS: ". If restore does load them: did any name match?",
    OPTIMIZER: ". If restore does write to it: what was there to write into, before its first step?",
}


def told(name: str, difference: str, reader: dict[str, Any], truth: dict[str, Any]) -> tuple[str, str]:
    """The cause of a lost component's difference, by its key, and the whole reason in words."""
    cause = _cause(name, reader, truth)
    if cause == "partly built":
        difference = _untouched(reader["restored"][name]["values"], truth["captured"][name]["values"])
    words = _WORDS[cause].format(it="them" if name == PARAMETERS else "it", difference=difference)
    return cause, words + (_HINTS.get(name, "") if cause == "built" else "")


def _cause(name: str, reader: dict[str, Any], truth: dict[str, Any]) -> str:
    """Whose values it holds: the new run's, or the right run's at another time; empty if nobody's."""
    found, right = reader["restored"][name], truth["captured"][name]
    wrong = [key for key in right if not same(found.get(key), right[key])]
    candidates = {"built": reader["built"], LATER: truth["later"], "earlier": truth["earlier"]}
    for cause, values in candidates.items():
        if all(same(found.get(key), values[name][key]) for key in wrong):
            return cause
    if name == PARAMETERS and wrong == ["values"] and found["values"].keys() == right["values"].keys():
        lost = _wrong(found["values"], right["values"])
        built = reader["built"][name]["values"]
        return "partly built" if all(same(found["values"][key], built[key]) for key in lost) else ""
    if name == OPTIMIZER and not reader["restored"][PARAMETERS]["optimized"]:
        return "follows"
    if name == LOADER:
        orders = truth["orders"].items()
        return next((cause for cause, those in orders if any(same(found["batches"], o) for o in those)), "")
    if name == RNG:
        return "drawn" if all(_ARE_DRAWN[key](found[key], right[key]) for key in wrong) else "not put back"
    return ""


def _wrong(found: dict[str, Any], right: dict[str, Any]) -> list[str]:
    return [key for key in right if not same(found.get(key), right[key])]


def _untouched(found: dict[str, Any], right: dict[str, Any]) -> str:
    wrong = _wrong(found, right)
    return (
        f"{len(wrong)} of {len(right)} tensors are still as the new run had them, such as "
        f"{' and '.join(wrong[:2])}"
    )


# A generator holds a block of 624 numbers, and computes the next block from it when they are used up. So a
# state was drawn from another one if its block is that one's, or one of those that follow.

_BLOCK, _BLOCKS = 624, 300  # enough for a model that was built, which draws some 100
_BLOCK_BYTES = slice(24, 24 + 8 * _BLOCK)  # in torch's state, behind its seed and its place in the block


def _drawn_in_python(found: dict[str, Any], right: dict[str, Any]) -> bool:
    source = random.Random()
    source.setstate((right["version"], tuple(right["words"]), right["gauss"]))

    def blocks() -> Iterator[bool]:
        while True:
            yield source.getstate()[1][:_BLOCK] == tuple(found["words"][:_BLOCK])
            source.getrandbits(32 * _BLOCK)

    return any(islice(blocks(), _BLOCKS))


def _drawn_in_numpy(found: dict[str, Any], right: dict[str, Any]) -> bool:
    source = np.random.RandomState()
    source.set_state((right["kind"], right["keys"].numpy().astype(np.uint32), right["position"], 0, 0.0))
    keys = found["keys"].numpy()

    def blocks() -> Iterator[bool]:
        while True:
            yield bool(np.array_equal(source.get_state(legacy=False)["state"]["key"], keys))
            source.bytes(4 * _BLOCK)

    return any(islice(blocks(), _BLOCKS))


def _drawn_in_torch(found: torch.Tensor, right: torch.Tensor) -> bool:
    source = torch.Generator()
    source.set_state(right)

    def blocks() -> Iterator[bool]:
        while True:
            yield torch.equal(source.get_state()[_BLOCK_BYTES], found[_BLOCK_BYTES])
            torch.rand(_BLOCK, generator=source)

    return any(islice(blocks(), _BLOCKS))


_ARE_DRAWN: dict[str, Callable[[Any, Any], bool]] = {
    "python": _drawn_in_python,
    "numpy": _drawn_in_numpy,
    "torch": _drawn_in_torch,
    "cuda": lambda found, right: False,
}
