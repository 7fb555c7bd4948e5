"""Bytes in memory and in a checkpoint, against the real model, real optimizers and published runs."""

from __future__ import annotations

import pytest
import torch

from lastgood.training.memory import (
    ADAM,
    COMPONENTS,
    FP32,
    GRADIENTS,
    MIXED,
    MIXED_NO_MASTER,
    MOMENTUM,
    OPTIMIZERS,
    PRECISIONS,
    SGD,
    Optimizer,
    Precision,
    SizeError,
    checkpoint_parts,
    gpt_parameters,
    in_checkpoint,
    in_memory,
    parts,
)
from lastgood.training.model import GPT, GPTConfig


@pytest.mark.parametrize(
    ("n_layer", "n_embd", "vocab_size", "block_size"),
    [(2, 64, 36, 48), (1, 8, 5, 3), (3, 12, 100, 16), (4, 32, 7, 64)],
)
def test_gpt_parameters_are_those_of_the_real_model(
    n_layer: int, n_embd: int, vocab_size: int, block_size: int
) -> None:
    model = GPT(GPTConfig(vocab_size, block_size, n_layer, n_head=4, n_embd=n_embd))
    real = sum(parameter.numel() for parameter in model.parameters())  # each once, so the tied head too
    assert gpt_parameters(n_layer, n_embd, vocab_size, block_size) == real


def test_a_size_that_no_model_has_is_refused_by_name() -> None:
    with pytest.raises(SizeError, match="n_layer=0"):
        gpt_parameters(0, 64, 36, 48)
    with pytest.raises(SizeError, match="-1 parameters"):
        parts(-1, FP32, ADAM)


@pytest.mark.parametrize(
    ("precision", "optimizer", "memory", "checkpoint"),
    [
        (FP32, SGD, 8, 4),
        (FP32, MOMENTUM, 12, 8),
        (FP32, ADAM, 16, 12),
        (MIXED, SGD, 8, 6),
        (MIXED, ADAM, 16, 14),
        (MIXED_NO_MASTER, ADAM, 12, 10),
    ],
    ids=lambda value: value.name if isinstance(value, Precision | Optimizer) else value,
)
def test_bytes_a_parameter(precision: Precision, optimizer: Optimizer, memory: int, checkpoint: int) -> None:
    assert in_memory(1, precision, optimizer) == memory
    assert in_checkpoint(1, precision, optimizer) == checkpoint


def test_parts_add_up_in_one_order_and_leave_out_what_takes_nothing() -> None:
    for precision in PRECISIONS:
        for optimizer in OPTIMIZERS:
            found = parts(1000, precision, optimizer)
            assert list(found) == [name for name in COMPONENTS if name in found]
            assert all(found.values())
            assert sum(found.values()) == in_memory(1000, precision, optimizer)
            kept = checkpoint_parts(1000, precision, optimizer)
            assert kept == {name: size for name, size in found.items() if name != GRADIENTS}
    assert "master weights" not in parts(1000, FP32, ADAM)
    assert parts(0, MIXED, ADAM) == {}


def test_opt_175b_saves_ten_bytes_a_parameter() -> None:
    assert in_checkpoint(175 * 10**9, MIXED_NO_MASTER, ADAM) == 1_750_000_000_000
    assert in_checkpoint(175 * 10**9, MIXED_NO_MASTER, ADAM) / 2**40 == pytest.approx(1.59, abs=0.005)


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda optimizer: optimizer.name)
def test_moments_are_those_of_torchs_optimizers(optimizer: Optimizer) -> None:
    model = torch.nn.Linear(5, 7)
    momentum = 0.9 if optimizer is MOMENTUM else 0.0
    real: torch.optim.Optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=momentum)
    if optimizer is ADAM:
        real = torch.optim.AdamW(model.parameters(), fused=True)
    model(torch.ones(3, 5)).sum().backward()
    real.step()
    remembered = sum(
        value.nbytes
        for state in real.state.values()
        for value in state.values()
        if torch.is_tensor(value) and value.dim() > 0
    )
    parameters = sum(parameter.numel() for parameter in model.parameters())
    moments = sum(size for name, size in parts(parameters, FP32, optimizer).items() if "moment" in name)
    assert remembered == moments
