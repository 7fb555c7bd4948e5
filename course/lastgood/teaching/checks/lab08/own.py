"""What every check of lab 08 asks first: is it the learner's own? And right values for what came before."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Final

import torch
from torch import Tensor, nn

from lastgood.teaching.checks.core import attempt, borrowed
from lastgood.teaching.checks.report import Part
from lastgood.training import memory

_ANSWERS = ("lastgood.training.memory", "lastgood.teaching")
_FUSED = ("_fused_adam", "_fused_sgd")  # what torch's optimizers come down to
BUILT = "Your function builds one of torch's optimizers, which is the answer. Write it without."
AGAIN = "The same here."
NO_RETURN = "The function returned None. Is a `return` missing?"


def refused(function: Any) -> str:
    """A sentence where a function is the library's or torch's, or lets one of them answer; else empty."""
    return borrowed(function, _ANSWERS) or _leans_on_torch(function)


def _leans_on_torch(function: Any) -> str:
    """`leans` looks at modules whole; all of torch is lent here, but for its optimizers."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    space = getattr(inspect.unwrap(function), "__globals__", {})
    for name in _names(code) if isinstance(code, types.CodeType) else ():
        value = space.get(name)
        home = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
        if name == "optim" or name.startswith(_FUSED) or _optim(name) or _optim(str(home)):
            used = "torch.optim" if name == "optim" else name
            return (
                f"Your function uses {used}, and that is the answer. Write it yourself; afterwards, compare."
            )
    return ""


def _optim(home: str) -> bool:
    return home == "torch.optim" or home.startswith("torch.optim.")


def _names(code: types.CodeType) -> Iterator[str]:
    """Every global and attribute that the code reads, in functions within it too."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


@contextmanager
def alone() -> Iterator[list[str]]:
    """While it lasts, whoever builds one of torch's optimizers is stopped, and noted in the list."""
    built: list[str] = []
    real = torch.optim.Optimizer.__init__

    def stop(self: Any, *arguments: Any, **named: Any) -> None:
        built.append(type(self).__name__)
        raise RuntimeError(BUILT)

    torch.optim.Optimizer.__init__ = stop  # type: ignore[method-assign]  # a helper may hide it from _leans
    try:
        yield built
    finally:
        torch.optim.Optimizer.__init__ = real  # type: ignore[method-assign]


@contextmanager
def upstream(function: Any) -> Iterator[None]:
    """While it lasts, all names of RIGHT but the function's own mean the right ones, where it was defined."""
    space = getattr(inspect.unwrap(function), "__globals__", {})
    names = RIGHT.keys() - {getattr(function, "__name__", "")}
    theirs = {name: space[name] for name in names if name in space}
    space.update({name: RIGHT[name] for name in theirs})
    try:
        yield
    finally:
        space.update(theirs)


def asked(function: Any, *arguments: Any, lend: bool = True) -> tuple[Any, str]:
    """A learner's function's result, and a sentence where it brought none or torch's optimizer brought it.

    `lend`: with right functions in place of the learner's own of earlier exercises.
    """
    with upstream(function) if lend else nullcontext(), alone() as built:
        value, fault = attempt(function, *arguments)
    if built:
        return None, BUILT
    return value, fault or (NO_RETURN if value is None else "")


def once(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts, with a reason that is that of the last lost part cut short: it is read once."""
    last, told = "", list[Part]()
    for one in parts:
        told.append(replace(one, why=AGAIN) if one.why and one.why == last else one)
        last = one.why or last
    return tuple(told)


def count_parameters(model: nn.Module) -> int:
    """Numbers in all parameters of a model, each once."""
    return sum(parameter.numel() for parameter in model.parameters())


def remembered(model: nn.Module, optimizer: str) -> int:
    """Numbers that torch's optimizer keeps between two steps: "sgd", "momentum" or "adamw"."""
    moving = [parameter for parameter in model.parameters() if parameter.requires_grad]
    moments = {"sgd": 0, "momentum": 1, "adamw": 2}[optimizer]
    counters = len(moving) if optimizer == "adamw" else 0
    return moments * sum(parameter.numel() for parameter in moving) + counters


def in_memory(parameters: int, moments: int, mixed: bool) -> int:
    """Bytes of a run in memory."""
    return memory.in_memory(parameters, *_kind(moments, mixed))


def in_checkpoint(parameters: int, moments: int, mixed: bool) -> int:
    """Bytes of a run's checkpoint."""
    return memory.in_checkpoint(parameters, *_kind(moments, mixed))


def _kind(moments: int, mixed: bool) -> tuple[memory.Precision, memory.Optimizer]:
    return memory.MIXED if mixed else memory.FP32, memory.OPTIMIZERS[moments]


def corrected_moments(
    gradient: Tensor, state: dict[str, Any], beta1: float, beta2: float
) -> tuple[Tensor, Tensor]:
    """Adam's two moments, corrected. Its keys in `state` are such as no learner chooses."""
    zero = torch.zeros_like(gradient)
    steps, first, second = state.get(_KEY, (0, zero, zero))
    steps += 1
    first = beta1 * first + (1 - beta1) * gradient
    second = beta2 * second + (1 - beta2) * gradient**2
    state[_KEY] = steps, first, second
    return first / (1 - beta1**steps), second / (1 - beta2**steps)


_KEY = "the moments of the check"

RIGHT: Final[dict[str, Any]] = {
    "count_parameters": count_parameters,
    "remembered": remembered,
    "in_memory": in_memory,
    "in_checkpoint": in_checkpoint,
    "corrected_moments": corrected_moments,
}
