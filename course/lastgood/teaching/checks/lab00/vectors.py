"""Lab 00, part A: numbers become vectors that say which character stands where."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from lastgood.teaching.checks.core import Check, Data, attempt
from lastgood.teaching.checks.lab00.compare import fault
from lastgood.teaching.checks.lab00.passages import WHICH_AND_WHERE
from lastgood.teaching.checks.lab00.upstream import embed, not_own
from lastgood.teaching.checks.report import Report, part


def _draw(seed: int) -> Data:
    source = random.Random(seed)
    B, T = source.sample(range(3, 7), 2)  # never equal: mixed up, they would look alike
    return {"seed": seed, "B": B, "T": T, "block_size": source.randrange(8, 11), "C": 8, "V": 7}


def _tensors(inputs: Data) -> tuple[Tensor, Tensor, Tensor]:
    source = torch.Generator().manual_seed(inputs["seed"])
    tokens = torch.randint(inputs["V"], (inputs["B"], inputs["T"]), generator=source)
    characters = torch.randn(inputs["V"], inputs["C"], generator=source)
    positions = torch.randn(inputs["block_size"], inputs["C"], generator=source)
    return tokens, characters, positions


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    refused = not_own(names["0"], "embed")
    value, raised = (None, refused) if refused else attempt(names["0"], *_tensors(inputs))
    return {"error": _in_words(raised, inputs)} if raised else {"found": value}


def _in_words(error: str, inputs: Data) -> str:
    if "raised" not in error:
        return error
    B, T, V, C, block_size = (inputs[letter] for letter in ("B", "T", "V", "C", "block_size"))
    return (
        f"{error}\nIt was given tokens of shape ({B}, {T}), which is (B, T), and tables of shape ({V}, {C}), "
        f"which is (V, C), and ({block_size}, {C}), which is (block_size, C)."
    )


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return EMBED.failed(data["error"])
    tokens, characters, positions = _tensors(inputs)
    right = embed(tokens, characters, positions)
    wrong = _wrong(tokens, characters, positions)
    only = part("vectors", EMBED.worth, fault(data["found"], right, wrong, "B, T, C"), WHICH_AND_WHERE)
    return Report(EMBED.exercise, (only,))


def _wrong(tokens: Tensor, characters: Tensor, positions: Tensor) -> dict[str, Tensor]:
    B, T = tokens.shape
    which, where = characters[tokens], positions[:T]
    nothing = torch.zeros_like(which)
    return {
        "Positions are missing: the same character gives the same vector wherever it stands.": which,
        "Characters are missing: every window gives the same vectors.": nothing + where,
        "The position's vector follows the batch: all characters of a window get that of the window's "
        "number. It has to change along T, and be the same for each window.": which + positions[:B, None],
        "All positions get the same vector, that of position 0.": which + positions[0],
        "All positions get the same vector, that of position T. positions[T] is one row; the first T of them "
        "are positions[:T].": which + positions[T],
        "The position's vector is looked up by the character's number, not by where it stands.": which
        + positions[tokens],
        "Positions are taken from the end of the table; a window begins with position 0.": which
        + positions[-T:],
        "Positions begin with 1; the first character of a window stands at position 0.": which
        + positions[1 : T + 1],
        "The two are multiplied; they should be added.": which * where,
        "The two are set side by side; they should be added, so that C stays C.": torch.cat(
            [which, nothing + where], -1
        ),
    }


EMBED = Check("embed", "A1 Embeddings", 2, _draw, _measure, _judge)
