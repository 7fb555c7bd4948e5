"""What a run keeps: bytes in memory while it trains, and bytes in its checkpoint.

Everything here is counted, nothing measured: parameters times bytes, for each thing of which a run keeps one
number a parameter. Activations are not among them: they come and go within a step, and their size depends on
the batch. Nor are the few bytes that do not grow with the model, such as step counters.
"""

from __future__ import annotations

from dataclasses import dataclass

WEIGHTS = "weights"
MASTER = "master weights"
GRADIENTS = "gradients"
MOMENTS = ("first moment", "second moment")  # of the gradient; momentum's running sum counts as the first
COMPONENTS = (WEIGHTS, MASTER, GRADIENTS, *MOMENTS)


class SizeError(ValueError):
    """A size that no model can have."""


@dataclass(frozen=True)
class Precision:
    """Bytes a number takes in each thing that a run keeps. `master` is 0 where there is no second copy."""

    name: str
    weights: int
    master: int
    gradients: int
    moment: int


@dataclass(frozen=True)
class Optimizer:
    """An optimizer, by how many numbers it remembers for each parameter between two steps: 0, 1 or 2."""

    name: str
    moments: int


FP32 = Precision("fp32", weights=4, master=0, gradients=4, moment=4)
MIXED = Precision("mixed precision", weights=2, master=4, gradients=2, moment=4)
MIXED_NO_MASTER = Precision("mixed, without master weights", weights=2, master=0, gradients=2, moment=4)
PRECISIONS = (FP32, MIXED, MIXED_NO_MASTER)

SGD = Optimizer("SGD", moments=0)
MOMENTUM = Optimizer("SGD with momentum", moments=1)
ADAM = Optimizer("Adam or AdamW", moments=2)
OPTIMIZERS = (SGD, MOMENTUM, ADAM)


def parts(parameters: int, precision: Precision, optimizer: Optimizer) -> dict[str, int]:
    """What a run keeps in memory between two steps: component to bytes, in the order of `COMPONENTS`.

    What takes nothing is left out. Raises SizeError where `parameters` is negative.
    """
    if parameters < 0:
        raise SizeError(f"a model cannot have {parameters:,} parameters")
    bytes_each = {
        WEIGHTS: precision.weights,
        MASTER: precision.master,
        GRADIENTS: precision.gradients,
        **dict.fromkeys(MOMENTS[: optimizer.moments], precision.moment),
    }
    return {name: parameters * each for name, each in bytes_each.items() if parameters * each}


def checkpoint_parts(parameters: int, precision: Precision, optimizer: Optimizer) -> dict[str, int]:
    """Those of `parts` that a checkpoint holds: all but the gradients, which the next step computes anew."""
    return {name: size for name, size in parts(parameters, precision, optimizer).items() if name != GRADIENTS}


def in_memory(parameters: int, precision: Precision, optimizer: Optimizer) -> int:
    """Bytes that a run keeps in memory, without activations."""
    return sum(parts(parameters, precision, optimizer).values())


def in_checkpoint(parameters: int, precision: Precision, optimizer: Optimizer) -> int:
    """Bytes of weights and optimizer state in a checkpoint. For OPT-175B: 10 a parameter, 1.75 TB."""
    return sum(checkpoint_parts(parameters, precision, optimizer).values())


def gpt_parameters(n_layer: int, n_embd: int, vocab_size: int, block_size: int) -> int:
    """Parameters of the course's GPT, `lastgood.training.model.GPT`. The tied head is counted once.

    Raises SizeError where a size is not positive.
    """
    sizes = {"n_layer": n_layer, "n_embd": n_embd, "vocab_size": vocab_size, "block_size": block_size}
    for name, size in sizes.items():
        if size < 1:
            raise SizeError(f"{name}={size} must be at least 1")
    C = n_embd
    attention = (C * 3 * C + 3 * C) + (C * C + C)  # queries, keys and values; then the layer that joins heads
    mlp = (C * 4 * C + 4 * C) + (4 * C * C + C)
    norm = 2 * C  # a scale and a shift
    tables = (vocab_size + block_size) * C  # the head is the table of tokens again
    return tables + n_layer * (norm + attention + norm + mlp) + norm
