"""A learner's update, walked over many gradients: alone, again, in a reused tensor, in turn, and from a copy.

Letters in shape comments:
    N  steps
    P  numbers in one parameter
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lastgood.teaching.checks import exact
from lastgood.teaching.checks.core import Data

STEPS, SHORT = 100, 12
STARTS = (1.0, -0.6)  # the parameters' size, in both lanes: one parameter, and another one beside it
TOLERANCE = 1e-4  # of how far a parameter travels: sums may be taken in another order, or in 32 bits

EMPTY = ". Before the first step, `state` is empty: put there what it begins with."

State = dict[str, Any]
Turn = Callable[[Tensor, Tensor, State, int], tuple[Any, str]]  # parameter, gradient, state, step from 0


def drawn(seed: int, shape: tuple[int, ...], steps: int = STEPS) -> tuple[Tensor, Tensor]:
    """A parameter (P) and its gradients (N, P), in 64 bits: of sizes from 0.03 to 3, each with a drift."""
    source = torch.Generator().manual_seed(seed)

    def normal(*size: int) -> Tensor:
        return torch.randn(*size, generator=source, dtype=torch.float64)

    scale = 10 ** (2 * torch.rand(shape, generator=source, dtype=torch.float64) - 1.5)
    gradients = scale * (normal(steps, *shape) + normal(*shape))
    return 0.5 + normal(*shape).abs(), gradients


def conduct(turn: Turn, lane: tuple[Tensor, Tensor], other: tuple[Tensor, Tensor]) -> Data:
    """All walks, as paths: `path` (N, …) of the lane alone, and four short ones that should be its beginning.

    Where a turn brought a sentence instead of a tensor, that is all, under "error".
    """
    start, gradients = lane
    short = (start, gradients[:SHORT])
    walks: dict[str, Any] = {
        "path": ([lane], {}),
        "again": ([short], {}),
        "reused": ([short], {"reused": True}),
        "in_turn": ([short, (other[0], other[1][:SHORT])], {}),
        "from_a_copy": ([short], {"copied": SHORT // 2}),
    }
    found: Data = {"touched": False}
    for name, (lanes, how) in walks.items():
        path, touched, fault = _walk(turn, lanes, **how)
        if fault:
            return {"error": fault}
        found[name] = path
        found["touched"] = found["touched"] or touched
    return found


def _walk(
    turn: Turn, lanes: list[tuple[Tensor, Tensor]], *, reused: bool = False, copied: int = -1
) -> tuple[Tensor, bool, str]:
    """The first lane's path (N, …), whether a gradient was changed, and a sentence where a turn failed."""
    states: list[State] = [{} for _ in lanes]
    at = [start.clone() for start, _ in lanes]
    path, touched = [], False
    shared = torch.empty_like(lanes[0][1][0])
    for number in range(len(lanes[0][1])):
        if number == copied:
            states = copy.deepcopy(states)
        for i, (_, gradients) in enumerate(lanes):
            given = shared.copy_(gradients[number]) if reused else gradients[number].clone()
            value, fault = turn(at[i], given, states[i], number)
            if fault:
                empty = number == 0 and "raised KeyError" in fault
                return torch.zeros(0), False, fault + (EMPTY if empty else "")
            touched = touched or not torch.equal(given, gradients[number])
            result = value.detach().double().clone()
            at[i] = result.clone()
            if i == 0:
                path.append(result)
    return torch.stack(path), touched, ""


def handed(data: Data) -> str:
    """A sentence where the function spoils what it is handed: the gradient, or the state. Else empty."""
    if exact.flag(data["touched"]):
        return (
            "Your function changes the gradient that it is given. Others may read it after you, such as a "
            "log of its size. Leave it as it is."
        )
    beginning = data["path"][:SHORT]
    for name, sentence in _HANDED.items():
        if not close(data[name], beginning, beginning):
            return sentence
    return ""


_OUTSIDE = "Something is kept outside `state`, such as in a global name."
_HANDED = {
    "again": f"Called again with an empty state, it does not begin anew. {_OUTSIDE}",
    "reused": "Your state holds the gradient itself, not a copy. The next backward pass may write into the "
    "same tensor, and then what you remember changes with it.",
    "in_turn": f"Two parameters in turn, each with a state of its own, disturb each other. {_OUTSIDE}",
    "from_a_copy": f"After half of the steps, `state` was replaced by a copy. It goes on differently. "
    f"{_OUTSIDE}",
}


def close(found: Tensor, right: Tensor, travelled: Tensor) -> bool:
    """Equal but for rounding, measured by the largest of `travelled`. Infinities and NaN equal themselves."""
    if found.shape != right.shape:
        return False
    size = travelled[travelled.isfinite()].abs()
    slack = TOLERANCE * float(size.max()) if size.numel() else 0.0
    return bool(torch.isclose(found, right, rtol=0.0, atol=slack, equal_nan=True).all())


def tensor_fault(value: Any, like: Tensor) -> str:
    """A sentence where a result is no tensor of this shape; else empty."""
    if value is None:
        return "The function returned None. Is a `return` missing?"
    if not isinstance(value, Tensor):
        return f"The result is a {type(value).__name__}, not a tensor."
    if value.shape != like.shape:
        return f"The result has shape {tuple(value.shape)}, it should be {tuple(like.shape)}, the gradient's."
    return ""


def parting(found: Tensor, right: Tensor, gradients: Tensor) -> str:
    """Where the path (N, …) first leaves the right one, for one number of the parameter."""
    off = ~torch.isclose(found, right, rtol=1e-5, atol=1e-8)
    step = int(off.flatten(1).any(1).nonzero()[0]) if off.any() else len(found) - 1
    where = int((found - right)[step].abs().nan_to_num(nan=1e9).flatten().argmax())
    here, there, gradient = (t[step].flatten()[where].item() for t in (found, right, gradients))
    return (
        f"It is off from step {step + 1} on. There, for a gradient of {gradient:.4g}, "
        f"yours gives {here:.6g} and torch's {there:.6g}."
    )
