"""Models that lab 08 counts: GPTs of drawn sizes, and one with buffers and a frozen table."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import nn

from lastgood.training.model import GPT, GPTConfig

SGD, MOMENTUM, ADAMW = OPTIMIZERS = ("sgd", "momentum", "adamw")


class Classifier(nn.Module):
    """A table that is not trained, a normalisation with buffers, a layer. No number in it is there twice."""

    def __init__(self, words: int, width: int, classes: int) -> None:
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.table.weight.requires_grad_(False)
        self.norm = nn.BatchNorm1d(width)  # keeps a running mean and variance, and a count: buffers
        self.out = nn.Linear(width, classes)


def drawn_gpt(source: random.Random, widths: tuple[int, ...] = (16, 24, 32, 40)) -> dict[str, Any]:
    """Sizes of a GPT, as GPTConfig takes them."""
    return {
        "vocab_size": source.randrange(60, 200),
        "block_size": source.randrange(24, 64),
        "n_layer": source.randrange(1, 4),
        "n_head": 4,
        "n_embd": source.choice(widths),
    }


def drawn_classifier(source: random.Random) -> list[int]:
    """Sizes of a Classifier."""
    return [source.randrange(40, 90), source.randrange(11, 30), source.randrange(3, 8)]


def gpt(sizes: dict[str, Any]) -> GPT:
    """The course's GPT in these sizes; torch's global generator is as before."""
    with torch.random.fork_rng(devices=[]):
        return GPT(GPTConfig(**sizes))


def classifier(sizes: list[int]) -> Classifier:
    """A classifier in these sizes; torch's global generator is as before."""
    with torch.random.fork_rng(devices=[]):
        return Classifier(*sizes)


def stepped(model: nn.Module, name: str) -> torch.optim.Optimizer:
    """One of torch's optimizers, after a step with a gradient of ones."""
    rules: dict[str, Any] = {
        SGD: lambda parameters: torch.optim.SGD(parameters, lr=0.1),
        MOMENTUM: lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
        ADAMW: lambda parameters: torch.optim.AdamW(parameters, lr=0.1),
    }
    optimizer: torch.optim.Optimizer = rules[name](model.parameters())
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    return optimizer


def held(optimizer: torch.optim.Optimizer) -> int:
    """Numbers in all tensors of an optimizer's state."""
    return sum(
        value.numel()
        for state in optimizer.state.values()
        for value in state.values()
        if isinstance(value, torch.Tensor)
    )
