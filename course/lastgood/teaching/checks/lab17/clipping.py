"""Lab 17, part B: clipping by the global norm."""

from __future__ import annotations

import math
import random
from typing import Any

import torch
from torch import Tensor, nn

from lastgood.teaching.checks import exact
from lastgood.teaching.checks.core import NOT_WRITTEN, Check, Data
from lastgood.teaching.checks.lab17.norms import close, large_fault, norm_fault, same, total
from lastgood.teaching.checks.lab17.own import near, number, refused
from lastgood.teaching.checks.lab17.passages import RESCALES
from lastgood.teaching.checks.report import Report, part, untested

LARGE, SMALL, ZERO, FROZEN, NONE, INFINITE, NAN = (
    "above the threshold",
    "below the threshold",
    "a gradient of zeros",
    "parameters without a gradient",
    "no gradient at all",
    "a gradient with inf",
    "a gradient with nan",
)
FACTOR = {LARGE: 4.0, SMALL: 0.4, ZERO: 0.0, FROZEN: 3.0, NONE: 0.0, INFINITE: 4.0, NAN: 4.0}
CASES = tuple(FACTOR)  # each: its global norm, in thresholds


def _draw(seed: int) -> Data:
    source = random.Random(seed)
    shapes = [[source.randrange(2, 6) for _ in range(axes)] for axes in (2, 1, 3, 2)]
    # No threshold and no norm near 1: a square, or a missing root, must show.
    return {"seed": seed, "shapes": shapes, "max_norm": source.choice([0.3, 0.6, 2.0, 3.0])}


def _gradients(inputs: Data, case: str) -> list[Tensor | None]:
    """A gradient for each parameter; of one case in two numbers of 64 bits."""
    source = torch.Generator().manual_seed(inputs["seed"] + CASES.index(case))
    dtype = torch.float64 if case == SMALL else torch.float32
    drawn = [torch.randn(shape, generator=source, dtype=dtype) for shape in inputs["shapes"]]
    sizes = torch.tensor([0.3, 1.0, 0.1, 0.15], dtype=dtype)  # tensors of one model differ by such factors
    scaled = [g * (size / g.norm()) for g, size in zip(drawn, sizes, strict=True)]
    norm = torch.cat([gradient.flatten() for gradient in scaled]).norm()
    found: list[Tensor | None] = [g * (FACTOR[case] * inputs["max_norm"] / norm) for g in scaled]
    if case in (INFINITE, NAN):
        _flat(found[2])[1] = math.inf if case == INFINITE else math.nan
    if case == FROZEN:
        found[2] = None  # not the largest: the others are still above the threshold
    return [None] * len(found) if case == NONE else found


def _flat(gradient: Tensor | None) -> Tensor:
    assert gradient is not None
    return gradient.view(-1)


def _parameters(inputs: Data, case: str) -> list[nn.Parameter]:
    parameters = []
    for gradient, shape in zip(_gradients(inputs, case), inputs["shapes"], strict=True):
        dtype = torch.float32 if gradient is None else gradient.dtype
        parameter = nn.Parameter(torch.ones(shape, dtype=dtype))
        parameter.grad = gradient
        parameters.append(parameter)
    return parameters


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    fault = refused(names["0"])
    if fault:
        return {"error": fault}
    once = {case: _asked(names["0"], inputs, case) for case in CASES}
    return {"cases": once, "listed": _asked(names["0"], inputs, LARGE, listed=True)}


def _asked(function: Any, inputs: Data, case: str, *, listed: bool = False) -> Data:
    """What the function makes of a case: norm, gradients, or a sentence under "error" with its kind."""
    parameters = _parameters(inputs, case)
    value, kind = None, ""
    try:
        value = function(parameters if listed else iter(parameters), inputs["max_norm"])
        norm, fault = number(value)
    except NotImplementedError:
        norm, fault = 0.0, NOT_WRITTEN
    except Exception as error:
        kind = "ValueError" if isinstance(error, ValueError) else type(error).__name__
        norm, fault = 0.0, f"Your function raised {type(error).__name__}: {str(error)[:300]}"
    after = [p.grad.detach() if isinstance(p.grad, Tensor) else None for p in parameters]
    moved = not all(bool((p == 1).all()) for p in parameters)
    return {"error": fault, "kind": kind, "norm": norm, "after": after, "moved": moved}


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return CLIPPING.failed(data["error"])
    cases, clip = exact.under(data["cases"], CASES), inputs["max_norm"]
    for found in (*cases.values(), data["listed"]):
        _require_answer(found, len(inputs["shapes"]))
    large, before = cases[LARGE], _given(inputs, LARGE)
    if large["error"]:
        return CLIPPING.failed(large["error"])
    if large["moved"]:
        return CLIPPING.failed("The parameters have changed. Clipping rescales their gradients.", RESCALES)
    norm = norm_fault(large["norm"], before, clip)
    rescaled = large_fault(large["after"], before, clip)
    if rescaled and not large_fault(data["listed"]["after"], before, clip):
        rescaled = GENERATOR
    left = _frozen_fault(inputs, cases[FROZEN], otherwise=norm + rescaled)
    left = left or next(filter(None, (_left_fault(inputs, cases[c], c) for c in (SMALL, ZERO, NONE))), "")
    idle = rescaled != GENERATOR and same(large["after"], before)
    parts = (
        part("norm", 1, norm, RESCALES),
        part("rescaled", 2, rescaled, RESCALES),
        untested("left as it is", 1, "First, rescale a gradient that is above the threshold.")
        if idle
        else part("left as it is", 1, left, RESCALES),
        part("inf and nan", 1, _broken_fault(inputs, cases), RESCALES),
    )
    return Report(CLIPPING.exercise, parts)


GENERATOR = (
    "Given a list it is right, given model.parameters() nothing is rescaled: that is a generator, "
    "and after the "
    "first loop over it there is nothing left for a second one. Make a list of it first."
)


def _require_answer(found: Any, count: int) -> None:
    """Raise NotAnAnswer for what `_asked` does not return."""
    about = exact.under(found, ("error", "kind", "norm", "after", "moved"))
    exact.texts({name: about[name] for name in ("error", "kind")})
    exact.number(about["norm"])
    exact.items(about["after"], count)
    exact.flag(about["moved"])


def _given(inputs: Data, case: str) -> list[Tensor]:
    return [gradient for gradient in _gradients(inputs, case) if gradient is not None]


def _left_fault(inputs: Data, found: Data, case: str) -> str:
    before, after = _given(inputs, case), [g for g in found["after"] if g is not None]
    if found["error"]:
        return f"With {case}: {_lower(found['error'])}{_why(found['error'], case)}"
    if not same(after, before):
        if any(g.isnan().any() for g in after):
            why = "it turns into nan, for 0 / 0"
        elif before and same(after, [g * (inputs["max_norm"] / total(before)) for g in before]):
            why = "it is stretched up to the threshold"
        else:
            why = "it is changed"
        return f"With {case}: {why}. Clipping makes what is too long shorter, and touches nothing else."
    if after and after[0].dtype != before[0].dtype:
        return f"With {case}: {before[0].dtype} has become {after[0].dtype}."
    if case in (ZERO, NONE) and not near(found["norm"], 0.0):
        return f"With {case}: it returns {found['norm']:.4g}, and the norm is 0."
    return ""


def _frozen_fault(inputs: Data, found: Data, *, otherwise: str) -> str:
    """Does a parameter without a gradient disturb the others? `otherwise`: what is wrong without one."""
    if found["error"]:
        return f"With {FROZEN}: {_lower(found['error'])}{_why(found['error'], FROZEN)}"
    if otherwise:
        return ""
    before, after = _given(inputs, FROZEN), [g for g in found["after"] if g is not None]
    if len(after) != len(before):
        return f"With {FROZEN}: {len(before)} others had one, and afterwards {len(after)} have one."
    if not close(found["norm"], total(before)) or large_fault(after, before, inputs["max_norm"]):
        return f"With {FROZEN}: leave them out, and treat the others as if they were alone."
    return ""


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:].rstrip(".") + "."


def _why(error: str, case: str) -> str:
    if case in (FROZEN, NONE) and "None" in error:
        return " A parameter that took no part in the loss has grad None: leave it out."
    if "ZeroDivision" in error:
        return " Its norm is 0: divide only where the norm is above the threshold."
    if case == NONE:
        return " Without any gradient the norm is 0."
    return ""


def _broken_fault(inputs: Data, cases: Data) -> str:
    for case in (INFINITE, NAN):
        found, before = cases[case], _given(inputs, case)
        if not found["error"]:
            spoiled = sum(int(g.isnan().any()) for g in found["after"] if g is not None)
            became = f", {spoiled} of {len(before)} tensors hold nan afterwards" if spoiled else ""
            return (
                f"With {case}: no error. It returns {found['norm']:g}{became}, and the optimizer would "
                "write that into the parameters. Look at the norm with math.isfinite, and raise a "
                "ValueError."
            )
        if found["kind"] != "ValueError":
            return f"With {case}: {_lower(found['error'])} A ValueError was asked for."
        # Equal to itself, nan included.
        if not all(
            torch.equal(a.nan_to_num(7), b.nan_to_num(7)) for a, b in zip(found["after"], before, strict=True)
        ):
            return (
                f"With {case}: the gradients were changed before the error. Whoever catches it "
                f"may want to see them."
            )
    return ""


CLIPPING = Check("clip_gradients", "B Clipping by the global norm", 5, _draw, _measure, _judge)
