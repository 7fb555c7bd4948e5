"""Right values for all that an exercise stands on, so that a mistake costs its own points and no others.

A block is made of attention and an MLP. While a learner's `Block` is checked, those two names mean the
library's own in the notebook; afterwards they mean the learner's again. All else of the library's that would
be an answer is refused meanwhile.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import torch
from torch import Tensor, nn

from lastgood.teaching.checks.core import NOT_WRITTEN, Data, attempt, borrowed
from lastgood.training.model import GPT, Block, GPTConfig, SelfAttention, causal_mask, next_token_loss


def embed(tokens: Tensor, characters: Tensor, positions: Tensor) -> Tensor:
    """(B, T) numbers to (B, T, C) vectors; the tables are (V, C) and (block_size, C)."""
    return characters[tokens] + positions[: tokens.size(1)]


def attention_weights(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    """(…, T, D) queries and keys to (…, T, T) weights; `mask` is (T, T), True where looking is allowed."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)


def make_mlp(config: GPTConfig) -> nn.Module:
    """The MLP of a block of the library."""
    return Block(config).mlp


# In the order of the exercises: each may use those before it.
RIGHT: Final[dict[str, Any]] = {
    "embed": embed,
    "causal_mask": causal_mask,
    "attention_weights": attention_weights,
    "SelfAttention": SelfAttention,
    "make_mlp": make_mlp,
    "Block": Block,
    "GPT": GPT,
    "next_token_loss": next_token_loss,
}
ANSWERS: Final = ("lastgood.training.model", "lastgood.training.run", "lastgood.teaching")


def before(exercise: str) -> dict[str, Any]:
    """What the exercise may use: all of RIGHT that comes before it; all, where it is none of those."""
    names = list(RIGHT)
    end = names.index(exercise) if exercise in names else len(names)
    return {name: RIGHT[name] for name in names[:end]}


def not_own(thing: Any, exercise: str) -> str:
    """A sentence where the library does this exercise, wholly or in a part; else empty.

    To be asked within `upstream`: outside it, an earlier exercise's mistake would be held against this one.
    """
    return borrowed(thing, ANSWERS, (GPTConfig, *before(exercise).values()))


@contextmanager
def upstream(thing: Any, exercise: str) -> Iterator[None]:
    """While it lasts, the names of all earlier exercises mean the right ones, where `thing` was defined.

    torch's global generator is as before afterwards: building a layer draws from it.
    """
    space = _globals_of(thing)
    names = before(exercise)
    theirs = {name: space[name] for name in names if name in space}
    space.update(names)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        for name in names:
            del space[name]
        space.update(theirs)


def _globals_of(thing: Any) -> dict[str, Any]:
    parts = (thing, *vars(thing).values()) if isinstance(thing, type) else (thing,)
    for part in parts:
        space = getattr(inspect.unwrap(part), "__globals__", None)  # a decorator's own are somewhere else
        if isinstance(space, dict):
            return space
    return {}


def built(make: Any, exercise: str, config: GPTConfig) -> tuple[nn.Module, str]:
    """What a learner's class or function makes of a configuration, and a sentence where that is no module."""
    fault = not_own(make, exercise)
    module, raised = (None, "") if fault else attempt(make, config)
    fault = fault or raised
    if not fault and not isinstance(module, nn.Module):
        fault = f"It makes a {type(module).__name__}, not a torch module. Is a `return` missing?"
    if not fault:
        fault = borrowed(type(module))
    return (nn.Identity() if fault else module), fault  # type: ignore[return-value]


def applied(module: nn.Module, x: Tensor) -> tuple[Tensor, str]:
    """The module's output, without its graph, and a sentence where there is none."""
    value, fault = attempt(_call, module, x)
    if not fault and not isinstance(value, Tensor):
        fault = "forward returned None. Is a `return` missing?" if value is None else ""
        fault = fault or f"forward returned a {type(value).__name__}, not a tensor."
    if fault and fault != NOT_WRITTEN:
        fault = fault.replace("Your function raised", "forward raised")
    return (torch.zeros(()) if fault else value.detach()), fault


def _call(module: nn.Module, x: Tensor) -> Any:
    try:
        return module(x)
    except NotImplementedError as error:
        if "[ModuleList]" not in str(error):
            raise
        # torch raises what means here that nothing is written yet
        raise TypeError("a ModuleList is a list and no layer. Call each module in it, in turn.") from error


CHANGED = (
    "It changes x in place, by += or a method whose name ends in _. Whoever gave x still needs it, and so "
    "does backward(): write x = x + …"
)


def tried(
    make: Any, exercise: str, right: nn.Module, x: Tensor, inputs: Data, *, inside: bool
) -> tuple[nn.Module, Data]:
    """The learner's module, and what it gives with the right one's weights, in evaluation and in training.

    `inside`: it holds parts of earlier exercises, whose dropout is switched off. Where something is wrong,
    the data is a sentence under "error".
    """
    given = x.clone()
    with upstream(make, exercise):
        module, wrong = built(make, exercise, config_of(inputs))
        wrong = wrong or fill(module, right)
        if wrong:
            return module, {"error": wrong}
        if inside:
            still_inside(module)
        found, wrong = applied(module.eval(), x)
        if not wrong and not torch.equal(x, given):
            wrong = CHANGED
        trained, raised = (found, wrong) if wrong else applied(module.train(), x)
    return module, {"error": wrong or raised} if wrong or raised else {"found": found, "trained": trained}


@torch.no_grad()
def output(module: nn.Module, x: Tensor, *, training: bool = False) -> Tensor:
    """What a reference gives, in training or in evaluation; torch's global generator is as before."""
    with torch.random.fork_rng(devices=[]):
        return module.train(training)(x)  # type: ignore[no-any-return]  # nn.Module


def fill(mine: nn.Module, right: nn.Module) -> str:
    """Give `mine` the weights of `right`: by name, else in their order. A sentence where they do not fit."""
    state, own = right.state_dict(), mine.state_dict()
    if _shapes(own) == _shapes(state):
        mine.load_state_dict(state)
        return ""
    ours, theirs = dict(mine.named_parameters()), dict(right.named_parameters())
    if [p.shape for p in ours.values()] == [p.shape for p in theirs.values()]:
        with torch.no_grad():
            for parameter, value in zip(ours.values(), theirs.values(), strict=True):
                parameter.copy_(value)
        return ""
    return f"Its layers are others than asked for: {_difference(_shapes(ours), _shapes(theirs))}."


def _shapes(tensors: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def _difference(ours: dict[str, tuple[int, ...]], theirs: dict[str, tuple[int, ...]]) -> str:
    for name, shape in theirs.items():
        if name not in ours:
            return f"{name} of shape {shape} is missing"
        if ours[name] != shape:
            return f"{name} has shape {ours[name]}, it should be {shape}"
    return f"{next(name for name in ours if name not in theirs)} is one too many"


def randomised(module: nn.Module, seed: int) -> nn.Module:
    """The module with weights so large that no part of it can be left out unnoticed, in evaluation mode."""
    source = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            noise = torch.randn(parameter.shape, generator=source)
            scaling = "norm" in name and name.endswith("weight")
            parameter.copy_(1 + 0.5 * noise if scaling else 0.4 * noise)
    return module.eval()


def config_of(inputs: dict[str, Any]) -> GPTConfig:
    """The sizes that a check has drawn. Dropout drops all: where it acts, nothing is left to chance."""
    config = GPTConfig(**inputs["config"])
    object.__setattr__(config, "dropout", 1.0)  # which is no setting for a run, and refused as one
    return config


def still_inside(module: nn.Module) -> nn.Module:
    """Switch off the dropout of everything inside, and leave the module's own."""
    own = set(module.children())
    for part in module.modules():
        if isinstance(part, nn.Dropout) and part not in own:
            part.p = 0.0
    return module
