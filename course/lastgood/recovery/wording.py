"""Where a component of two runs differs, in a sentence that a learner can act on."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from lastgood.recovery.wire import same

_MOMENTS = {"exp_avg": "first moment", "exp_avg_sq": "second moment", "step": "count of steps"}
_GENERATORS = {"python": "Python's random", "numpy": "NumPy's", "torch": "torch's", "cuda": "the GPUs'"}


def parameters(found: dict[str, Any], expected: dict[str, Any]) -> str:
    """What differs about the model."""
    mine, right = found["values"], expected["values"]
    extra = sorted(mine.keys() - right.keys())
    if extra:
        return _split(extra[0], mine, right)
    wrong = [name for name in right if not same(mine.get(name), right[name])]
    if wrong:
        first = wrong[0]
        return (
            f"{len(wrong)} of {len(right)} tensors differ; {first} {_tensor(mine.get(first), right[first])}"
        )
    if found["optimized"] != expected["optimized"]:
        return (
            "the optimizer holds parameters that are not the model's, so its steps do not move the model. "
            "Did restore replace the model it was given?"
        )
    if found["threads"] != expected["threads"]:
        return f"torch computes with {found['threads']} threads instead of {expected['threads']}"
    return "the model's buffers differ"


def _split(extra: str, mine: dict[str, Any], right: dict[str, Any]) -> str:
    """A parameter that the run did not have: as a rule one of two names of one tensor, whose tie was cut."""
    shapes = {name: value.shape for name, value in mine.items()}
    alike = [name for name in right if shapes.get(name) == shapes[extra]]
    alike.sort(key=lambda name: not same(mine[name], mine[extra]))  # first its copy, where it still is one
    what = f"{extra} and {alike[0]} were one tensor and are two now" if alike else f"{extra} is a new tensor"
    return f"{what}: fill the tensors that are there instead of replacing them"


def optimizer(found: dict[str, Any], expected: dict[str, Any]) -> str:
    """What differs about the optimizer."""
    mine, right = found["moments"], expected["moments"]
    if right and not mine:
        return "it has no moments at all, so AdamW starts cold, as if before its first step"
    wrong = [name for name in right if not same(mine.get(name), right[name])]
    if wrong:
        return _moments(wrong, mine, right)
    if found["settings"] != expected["settings"]:
        return _settings(found["settings"], expected["settings"])
    return "it holds moments of parameters that the run does not have"


def _moments(wrong: list[str], mine: dict[str, Any], right: dict[str, Any]) -> str:
    name, share = wrong[0], f"{len(wrong)} of {len(right)} parameters"
    if mine.keys() - right.keys() and len(wrong) == len(right):
        return f"its moments belong to parameters that are not the model's: {share} have none"
    if name not in mine:
        return f"{share} have no moments, the first is {name}"
    # The count last: where a moment differs too, the count is only a consequence.
    keys = sorted(right[name], key=lambda key: key == "step")
    key = next((k for k in keys if not same(mine[name].get(k), right[name][k])), "")
    if key == "step" and mine[name].get(key) is not None:
        return f"AdamW's count of steps is {mine[name][key]:g} instead of {right[name][key]:g} for {share}"
    if not key:
        return f"{share} have more than AdamW keeps, the first is {name}"
    where = f"{_MOMENTS.get(key, key)} of {name}"
    return f"{share} have wrong moments; the {where} {_tensor(mine[name].get(key), right[name][key])}"


def _settings(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> str:
    if len(found) != len(expected):
        return f"it has {len(found)} groups of parameters instead of {len(expected)}"
    wrong = [_changed(mine, right) for mine, right in zip(found, expected, strict=True) if mine != right]
    return f"its setting {wrong[0]}"


def _changed(found: dict[str, Any], expected: dict[str, Any]) -> str:
    """The first entry that differs."""
    key = next(key for key in {**expected, **found} if found.get(key) != expected.get(key))
    return f"{key} is {found.get(key)} instead of {expected.get(key)}"


def step(found: dict[str, Any], expected: dict[str, Any]) -> str:
    """What differs about step and schedule."""
    rates = f"so the next learning rate is {found['lr']:.3g} instead of {expected['lr']:.3g}"
    if found["lr"] == expected["lr"]:
        rates = "which changes the learning rate later on"
    if found["step"] != expected["step"]:
        return f"the step is {found['step']} instead of {expected['step']}, {rates}"
    return f"the schedule's {_changed(found['schedule'], expected['schedule'])}, {rates}"


def loader(found: dict[str, Any], expected: dict[str, Any]) -> str:
    """What differs about the loader."""
    mine, right = found["batches"], expected["batches"]
    left = f"{len(mine)} batches are left in this epoch and the next instead of {len(right)}"
    left = _shift(mine, right) + left
    if len(mine) == len(right):
        left = "how far into the epoch is right; the permutation is another one"
    for number, (a, b) in enumerate(zip(mine, right, strict=False)):
        if a != b:
            which = "the next batch" if number == 0 else f"batch {number + 1} from now"
            return f"{left}; {which} has windows {a} instead of {b}"
    return left


def _shift(mine: list[list[int]], right: list[list[int]]) -> str:
    """By how many batches the loader is too far or behind in the right order; empty in another order."""
    for number in range(1, max(len(mine), len(right))):
        for early, late, where in ((right, mine, "too far"), (mine, right, "behind")):
            rest = early[number:]
            if rest and late[: len(rest)] == rest:
                return f"the loader is {'one batch' if number == 1 else f'{number} batches'} {where}: "
    return ""


def rng(found: dict[str, Any], expected: dict[str, Any]) -> str:
    """Which generators are elsewhere."""
    wrong = [name for key, name in _GENERATORS.items() if not same(found[key], expected[key])]
    if len(wrong) == 1:
        return f"{wrong[0]} generator is not where it was"
    return f"{', '.join(wrong[:-1])} and {wrong[-1]} generators are not where they were"


def _tensor(found: Any, expected: Any) -> str:
    if found is None:
        return "is missing"
    if not isinstance(found, Tensor) or not isinstance(expected, Tensor):
        return f"is {found!r:.60} instead of {expected!r:.60}"
    if found.dtype != expected.dtype:
        return f"is {found.dtype} instead of {expected.dtype}"
    if found.shape != expected.shape:
        return f"has shape {tuple(found.shape)} instead of {tuple(expected.shape)}"
    for kind in (torch.float16, torch.bfloat16):
        if same(found, expected.to(kind).to(expected.dtype)):
            return f"was rounded to {kind} on the way"
    return f"is off by up to {(found.double() - expected.double()).abs().max().item():.3g}"
