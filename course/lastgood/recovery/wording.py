"""Where a component of two runs differs, in a sentence that a learner can act on."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from lastgood.recovery.wire import same

_GENERATORS = {"python": "Python's random", "numpy": "NumPy's", "torch": "torch's", "cuda": "the GPUs'"}


def parameters(found: dict[str, Any], expected: dict[str, Any]) -> str:
    """What differs about the model."""
    mine, right = found["values"], expected["values"]
    extra = sorted(mine.keys() - right.keys())
    if extra:
        return f"{extra[0]} is a tensor of its own now: weights that were tied are two copies"
    wrong = [name for name in right if not same(mine.get(name), right[name])]
    if wrong:
        first = wrong[0]
        return (
            f"{len(wrong)} of {len(right)} tensors differ; {first} {_tensor(mine.get(first), right[first])}"
        )
    if found["optimized"] != expected["optimized"]:
        return "the optimizer holds parameters that are not the model's, so its steps do not move the model"
    if found["threads"] != expected["threads"]:
        return f"torch computes with {found['threads']} threads instead of {expected['threads']}"
    return "the model's buffers differ"


def optimizer(found: dict[str, Any], expected: dict[str, Any]) -> str:
    """What differs about the optimizer."""
    mine, right = found["moments"], expected["moments"]
    if right and not mine:
        return "it has no moments at all: AdamW starts cold, as if before its first step"
    wrong = [name for name in right if not same(mine.get(name), right[name])]
    if wrong:
        name = wrong[0]
        if name not in mine:
            return f"{len(wrong)} of {len(right)} parameters have no moments, the first is {name}"
        keys = [key for key in right[name] if not same(mine[name].get(key), right[name][key])]
        where = f"{len(wrong)} of {len(right)} parameters have other moments; {keys[0]} of {name}"
        return f"{where} {_tensor(mine[name].get(keys[0]), right[name][keys[0]])}"
    if found["settings"] != expected["settings"]:
        return f"its settings are {found['settings']} instead of {expected['settings']}"
    return "it holds moments of parameters that the run does not have"


def step(found: dict[str, Any], expected: dict[str, Any]) -> str:
    """What differs about step and schedule."""
    rates = f"the next learning rate is {found['lr']:.3g} instead of {expected['lr']:.3g}"
    if found["step"] != expected["step"]:
        return f"the step is {found['step']} instead of {expected['step']}, so {rates}"
    return f"the schedule is another one ({found['schedule']}), so {rates}"


def loader(found: dict[str, Any], expected: dict[str, Any]) -> str:
    """What differs about the loader."""
    mine, right = found["batches"], expected["batches"]
    for number, (a, b) in enumerate(zip(mine, right, strict=False)):
        if a != b:
            which = "the next batch" if number == 0 else f"batch {number + 1} from now"
            return f"{which} has windows {a} instead of {b}"
    return f"this epoch and the next have {len(mine)} batches left instead of {len(right)}"


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
    return f"is off by up to {(found.double() - expected.double()).abs().max().item():.3g}"
