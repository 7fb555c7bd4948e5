"""Lab 00, part D: the loss on text that is never trained on."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from lastgood.teaching.checks import exact
from lastgood.teaching.checks.core import Check, Data, attempt
from lastgood.teaching.checks.lab00.passages import NEVER_SEEN
from lastgood.teaching.checks.lab00.upstream import not_own, output, randomised, upstream
from lastgood.teaching.checks.report import Report, part
from lastgood.training.model import GPT, GPTConfig, next_token_loss

MODES = True, False  # whether the model is in training when the function gets it
SMALL = GPTConfig(vocab_size=7, block_size=6, n_layer=1, n_head=2, n_embd=8, dropout=0.5)


def _draw(seed: int) -> Data:
    return {"seed": seed, "windows": random.Random(seed).randrange(3, 7)}


def _model(inputs: Data) -> tuple[GPT, Tensor]:
    with torch.random.fork_rng(devices=[]):
        model = GPT(SMALL)
    randomised(model, inputs["seed"])
    source = torch.Generator().manual_seed(inputs["seed"] + 1)
    return model, torch.randint(7, (inputs["windows"], SMALL.block_size), generator=source)


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    model, windows = _model(inputs)
    before = [parameter.clone() for parameter in model.parameters()]
    dropping: list[bool] = []
    model.dropout.register_forward_pre_hook(lambda module, args: dropping.append(module.training))
    losses, modes, tensor = [], [], False
    with upstream(names["0"], "heldout_loss"):
        refused = not_own(names["0"], "heldout_loss")
        value: Any
        for training in MODES:
            model.train(training)
            value, raised = (None, refused) if refused else attempt(names["0"], model, windows)
            raised = raised or _no_number(value)
            if raised:
                return {"error": raised}
            tensor = tensor or isinstance(value, Tensor)
            losses.append(float(value.detach() if isinstance(value, Tensor) else value))
            modes.append(all(part.training == training for part in model.modules()))
    moved = any(not torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
    about = {"losses": losses, "modes": modes, "tensor": tensor}
    return about | {"dropping": any(dropping), "moved": moved}


def _no_number(value: Any) -> str:
    if value is None:
        return "The function returned None. Is a `return` missing?"
    if isinstance(value, Tensor):
        shape = tuple(value.shape)
        return "" if value.numel() == 1 else f"It returns a tensor of shape {shape}, not one number."
    return "" if isinstance(value, float | int) else f"It returns a {type(value).__name__}, not a number."


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return HELDOUT.failed(data["error"])
    for name in ("dropping", "moved", "tensor"):
        exact.flag(data[name])
    model, windows = _model(inputs)
    right = next_token_loss(output(model, windows), windows).item()
    parts = (
        part("loss", 1, _wrong_loss(data, right), NEVER_SEEN),
        part("leaves the model as it was", 1, _left(data), NEVER_SEEN),
    )
    return Report(HELDOUT.exercise, parts)


def _wrong_loss(data: Data, right: float) -> str:
    losses = exact.numbers(data["losses"], len(MODES))
    if data["dropping"]:
        return (
            "Dropout was on: it disturbs the model by chance, and the loss with it. "
            "model.eval() switches it off."
        )
    if all(abs(loss - right) < 1e-4 for loss in losses):
        return "The loss is still a tensor. A plain number is loss.item()." if data["tensor"] else ""
    return f"It gives {losses[0]:.4f} nats a character for these windows, and {right:.4f} is right."


def _left(data: Data) -> str:
    if data["moved"]:
        return "The parameters have moved: who evaluates does not train."
    in_training, in_evaluation = exact.flags(data["modes"], len(MODES))
    if not in_training:
        return (
            "The model was in training mode, and is left in evaluation mode: "
            "all later training would go without dropout."
        )
    if not in_evaluation:
        return (
            "The model was in evaluation mode, and is left in training mode. Look before: "
            "model.training says which it is."
        )
    return ""


HELDOUT = Check("heldout_loss", "D3 Held-out loss", 2, _draw, _measure, _judge)
