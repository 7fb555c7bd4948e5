"""What an audit looks at: the components of a run, by name."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from lastgood.training.rng import capture_rng

# The names that the audit knows: of these it can say whether a checkpoint's file holds them. Others are fine.
PARAMETERS, BUFFERS, OPTIMIZER, STEP, SCHEDULE = "parameters", "buffers", "optimizer", "step", "schedule"
LOADER, PYTHON, NUMPY, TORCH, CUDA = "data loader", "Python RNG", "NumPy RNG", "torch RNG", "CUDA RNG"
SCALER = "loss scaler"


def components(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    *,
    schedule: Any = None,
    step: int | None = None,
    batch: Any = None,
    scaler: Any = None,
    **more: Any,
) -> dict[str, Any]:
    """The usual components of a run, and the states of all global generators.

    Args:
        model: its parameters and buffers, by name.
        optimizer: what it remembers of each parameter, and its groups' settings, the current rates included.
        schedule: anything with a `state_dict()`.
        step: the count of optimizer steps.
        batch: the next batch, which is where the data loader stands as far as training can tell.
        scaler: the loss scaler, anything with a `state_dict()`.
        more: further components, by name.
    """
    held = optimizer.state_dict()
    settings = [
        {key: value for key, value in group.items() if key != "params"} for group in held["param_groups"]
    ]
    rng = capture_rng()
    return {
        PARAMETERS: dict(model.named_parameters()),
        BUFFERS: dict(model.named_buffers()),
        OPTIMIZER: {"state": held["state"], "settings": settings},
        **({} if step is None else {STEP: step}),
        **({} if schedule is None else {SCHEDULE: schedule.state_dict()}),
        **({} if batch is None else {LOADER: {"next batch": batch}}),
        PYTHON: rng["python"],
        NUMPY: rng["numpy"],
        TORCH: rng["torch"],
        **({CUDA: rng["cuda"]} if rng["cuda"] else {}),
        **({} if scaler is None else {SCALER: scaler.state_dict()}),
        **more,
    }
