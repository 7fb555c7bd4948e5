"""Lab 00, part D: one step of training."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from lastgood.teaching.checks import exact
from lastgood.teaching.checks.core import Check, Data, attempt
from lastgood.teaching.checks.lab00.compare import close
from lastgood.teaching.checks.lab00.passages import ONE_STEP
from lastgood.teaching.checks.lab00.upstream import not_own, randomised, upstream
from lastgood.teaching.checks.report import Report, part
from lastgood.training.data import Batch
from lastgood.training.model import GPT, GPTConfig, next_token_loss

UPDATE_POINTS, LOSS_POINTS = 2, 1
RATE, STEPS = 0.05, 3
SMALL = GPTConfig(vocab_size=7, block_size=6, n_layer=1, n_head=2, n_embd=8, dropout=0.0)


class Descent:
    """Plain gradient descent, with an optimizer's interface. It writes down how large the gradient was.

    It has no memory that could hide a mistake. And torch's optimizers take seconds to import all they need.
    """

    def __init__(self, model: nn.Module) -> None:
        self.parameters = list(model.parameters())
        self.norms: list[float] = []  # of the gradient, at each step

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradient."""
        for parameter in self.parameters:
            if set_to_none or parameter.grad is None:
                parameter.grad = None
            else:
                parameter.grad.zero_()

    @torch.no_grad()
    def step(self) -> None:
        """Move each parameter against its gradient."""
        moved = [(p, p.grad) for p in self.parameters if p.grad is not None]
        self.norms.append(sum(gradient.norm().item() for _, gradient in moved))
        for parameter, gradient in moved:
            parameter.sub_(RATE * gradient)


Update = Callable[[GPT, Descent, Batch], None]


def _draw(seed: int) -> Data:
    return {"seed": seed, "B": random.Random(seed).randrange(2, 5)}


def _model(inputs: Data) -> GPT:
    with torch.random.fork_rng(devices=[]):
        model = GPT(SMALL)
    randomised(model, inputs["seed"])
    return model.train()


def _batches(inputs: Data) -> Iterator[Batch]:
    source = torch.Generator().manual_seed(inputs["seed"] + 1)
    shape = (inputs["B"], SMALL.block_size)
    for number in range(STEPS):
        tokens = torch.randint(SMALL.vocab_size, shape, generator=source)
        disturbed = tokens.clone()
        disturbed[:, number + 1] = (disturbed[:, number + 1] + 1) % SMALL.vocab_size
        yield Batch(disturbed, tokens, torch.arange(inputs["B"]))


def _weights(model: nn.Module) -> Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    model, losses, graph, empty = _model(inputs), [], False, False
    optimizer = Descent(model)
    with upstream(names["0"], "train_step"):
        if refused := not_own(names["0"], "train_step"):
            return {"error": refused}
        for batch in _batches(inputs):
            value, raised = attempt(names["0"], model, optimizer, batch)
            if raised:
                return {"error": raised}
            graph = graph or (isinstance(value, Tensor) and value.requires_grad)
            empty = empty or value is None
            try:
                losses.append(0.0 if value is None else float(_plain(value)))
            except (TypeError, ValueError, RuntimeError):
                return {"error": f"It returns a {type(value).__name__}, not the loss as a number."}
    about = {"losses": losses, "graph": graph, "empty": empty, "norms": optimizer.norms}
    return about | {"weights": _weights(model)}


def _plain(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) else value


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        early = "modified by an inplace operation" in data["error"]
        return STEP.failed(TOO_EARLY if early else data["error"], ONE_STEP if early else "")
    for name in ("graph", "empty"):
        exact.flag(data[name])
    exact.numbers(data["norms"])
    weights, before, after = _follow(inputs, _right)
    update = "" if close(data["weights"], weights) else _lost(inputs, data)
    count = 1 if update else STEPS  # of a model that was updated otherwise, later losses are others too
    loss = _told(data, before[:count], after[:count])
    parts = (
        part("update", UPDATE_POINTS, update, ONE_STEP),
        part("loss returned", LOSS_POINTS, loss, ONE_STEP),
    )
    return Report(STEP.exercise, parts)


def _follow(inputs: Data, update: Update) -> tuple[Tensor, list[float], list[float]]:
    """Parameters after all steps of a kind of update, and each step's loss before it and after."""
    model, before, after = _model(inputs), [], []
    optimizer = Descent(model)
    for batch in _batches(inputs):
        before.append(next_token_loss(model(batch.inputs), batch.tokens).item())
        update(model, optimizer, batch)
        after.append(next_token_loss(model(batch.inputs), batch.tokens).item())
    return _weights(model), before, after


def _backward(model: GPT, inputs: Tensor, tokens: Tensor) -> None:
    next_token_loss(model(inputs), tokens).backward()  # type: ignore[no-untyped-call]  # torch


def _right(model: GPT, optimizer: Descent, batch: Batch) -> None:
    optimizer.zero_grad()
    _backward(model, batch.inputs, batch.tokens)
    optimizer.step()


def _never_zeroed(model: GPT, optimizer: Descent, batch: Batch) -> None:
    _backward(model, batch.inputs, batch.tokens)
    optimizer.step()


def _undisturbed(model: GPT, optimizer: Descent, batch: Batch) -> None:
    _right(model, optimizer, Batch(batch.tokens, batch.tokens, batch.indices))


def _to_what_it_read(model: GPT, optimizer: Descent, batch: Batch) -> None:
    _right(model, optimizer, Batch(batch.inputs, batch.inputs, batch.indices))


def _twice(model: GPT, optimizer: Descent, batch: Batch) -> None:
    _right(model, optimizer, batch)
    optimizer.step()


MISTAKES: dict[str, Update] = {
    "The gradient is never set to zero: each step adds its own to those of all steps before.": _never_zeroed,
    "The model reads batch.tokens. It should read batch.inputs, some of which are disturbed.": _undisturbed,
    "The loss compares with batch.inputs, which are disturbed. What is to be predicted is batch.tokens.": (
        _to_what_it_read
    ),
    "The optimizer steps twice in each step.": _twice,
}
TOO_EARLY = (
    "optimizer.step() changes the parameters after the loss was computed from them and before "
    "loss.backward() needs them. First backward, then the step."
)


def _lost(inputs: Data, data: Data) -> str:
    norms = data["norms"]
    if not norms:
        return "The parameters did not move: optimizer.step() is never called."
    if not any(norms):
        return (
            "The parameters did not move: whenever the optimizer steps, there is no gradient. "
            "loss.backward() has to come before it, and zero_grad() before that."
        )
    if not norms[0]:
        return (
            "optimizer.step() comes before loss.backward(): the first step has no gradient, "
            "and each later one that of the batch before."
        )
    for sentence, update in MISTAKES.items():
        if close(data["weights"], _follow(inputs, update)[0]):
            return sentence
    return f"After {STEPS} steps the parameters are not where plain gradient descent would have them."


def _told(data: Data, before: list[float], after: list[float]) -> str:
    told = exact.numbers(data["losses"], STEPS)[: len(before)]

    def are(losses: list[float]) -> bool:
        return all(abs(a - b) < 1e-4 for a, b in zip(told, losses, strict=True))

    if data["empty"]:
        return "It returns None. Is a `return` missing?"
    if data["graph"]:
        return "The loss still holds the graph of its step, and so all activations: return loss.item()."
    if are(before):
        return ""
    if are(after):
        return "That is the loss after the update. Return the one that was computed before it."
    return f"The first loss is {told[0]:.4f}, and {before[0]:.4f} is right."


STEP = Check("train_step", "D2 One step", UPDATE_POINTS + LOSS_POINTS, _draw, _measure, _judge)
