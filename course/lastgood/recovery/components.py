"""A run seen as five components, by meaning and not by name.

The audit, the supervisor and the lessons all ask the same question of a run: what are its parameters, its
optimizer state, its step and schedule position, its data-loader position, its RNG state? `observe` answers in
plain data, `transplant` puts one answer into another run, `differences` says where two answers part.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor, nn

from lastgood.recovery import wording
from lastgood.recovery.wire import pack, same
from lastgood.training.rng import capture_rng, restore_rng
from lastgood.training.run import Run
from lastgood.training.schedule import Schedule

PARAMETERS, OPTIMIZER, STEP, LOADER, RNG = "parameters", "optimizer", "step", "loader", "rng"
COMPONENTS = (PARAMETERS, OPTIMIZER, STEP, LOADER, RNG)
TITLES = {
    PARAMETERS: "parameters",
    OPTIMIZER: "optimizer state",
    STEP: "step and schedule position",
    LOADER: "data-loader position",
    RNG: "RNG state",
}

Observation = dict[str, Any]


def observe(run: Run) -> Observation:
    """What decides the run's next steps, as copies in plain data, one entry a component. Changes nothing."""
    return {
        PARAMETERS: _parameters(run),
        OPTIMIZER: _optimizer(run),
        STEP: {"step": run.step, "lr": run.schedule.lr(run.step), "schedule": asdict(run.schedule)},
        LOADER: {"batches": upcoming(run)},
        RNG: capture_rng(),
    }


def uncompiled(model: nn.Module) -> nn.Module:
    """The model itself where `torch.compile` has wrapped it and put a prefix before all its names."""
    inner = getattr(model, "_orig_mod", model)
    assert isinstance(inner, nn.Module)
    return inner


def _parameters(run: Run) -> dict[str, Any]:
    model = uncompiled(run.model)
    owned = {id(p) for group in run.optimizer.param_groups for p in group["params"]}
    return {
        "values": {name: p.detach().clone() for name, p in model.named_parameters()},  # tied ones once
        "buffers": {name: b.detach().clone() for name, b in model.named_buffers()},
        "optimized": all(id(p) in owned for p in model.parameters()),
        "threads": torch.get_num_threads(),
    }


def _optimizer(run: Run) -> dict[str, Any]:
    names = {id(p): name for name, p in uncompiled(run.model).named_parameters()}
    moments: dict[str, Any] = {}
    settings = []
    for g, group in enumerate(run.optimizer.param_groups):
        kept = {k: group[k] for k in ("betas", "eps", "weight_decay") if k in group}
        settings.append({k: list(v) if isinstance(v, tuple) else v for k, v in kept.items()})
        for i, parameter in enumerate(group["params"]):
            state = run.optimizer.state.get(parameter)
            if state:
                name = names.get(id(parameter), f"group {g} parameter {i}")
                moments[name] = {key: _moment(key, value) for key, value in state.items()}
    return {"moments": moments, "settings": settings}


def _moment(key: str, value: Any) -> Any:
    if key == "step":  # torch keeps it as a number or as a tensor, by version and setting: one meaning
        return float(value)
    return value.detach().clone() if isinstance(value, Tensor) else value


def upcoming(run: Run, **elsewhere: int) -> list[list[int]]:
    """Window numbers of each batch still to come in this epoch and in the next. The loader does not move.

    `elsewhere`: entries of the loader's state, such as another `epoch` or `seed`, to look from there instead.
    """
    probe = copy.copy(run.loader)
    if elsewhere:
        probe.load_state_dict(probe.state_dict() | elsewhere)
    last = probe.epoch + 1
    batches = []
    while probe.epoch < last or probe.cursor < len(probe.starts):
        batches.append(probe.next_indices().tolist())
    return batches


def transplant(run: Run, component: str, observation: Observation) -> None:
    """Put one observed component into `run`, in place of its own.

    Raises whatever the run's own parts raise where the component does not fit them.
    """
    _TRANSPLANTS[component](run, observation[component])


@torch.no_grad()
def _put_parameters(run: Run, part: dict[str, Any]) -> None:
    values = part["values"]
    if "head.weight" in values:  # the tie was cut: two tensors where there was one
        run.model.head.weight = nn.Parameter(values["head.weight"].clone())
    for name, parameter in run.model.named_parameters():
        parameter.data = values[name].clone()
    for name, buffer in run.model.named_buffers():
        buffer.copy_(part["buffers"][name])
    if not part["optimized"]:  # the optimizer steps parameters that are not the model's
        for group in run.optimizer.param_groups:
            group["params"] = [nn.Parameter(p.detach().clone()) for p in group["params"]]


def _put_optimizer(run: Run, part: dict[str, Any]) -> None:
    for group, settings in zip(run.optimizer.param_groups, part["settings"], strict=True):
        group.update({k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()})
    run.optimizer.state.clear()
    for name, parameter in run.model.named_parameters():
        if name in part["moments"]:
            run.optimizer.state[parameter] = {
                key: torch.tensor(value) if key == "step" else copy.deepcopy(value)
                for key, value in part["moments"][name].items()
            }


def _put_step(run: Run, part: dict[str, Any]) -> None:
    run.step = part["step"]
    run.schedule = Schedule(**part["schedule"])


def _put_loader(run: Run, part: dict[str, Any]) -> None:
    batches = iter([torch.tensor(batch) for batch in part["batches"]])
    loader = copy.copy(run.loader)
    loader.next_indices = lambda: next(batches)  # type: ignore[method-assign]  # plays what was observed
    run.loader = loader


_TRANSPLANTS: dict[str, Callable[[Run, Any], None]] = {
    PARAMETERS: _put_parameters,
    OPTIMIZER: _put_optimizer,
    STEP: _put_step,
    LOADER: _put_loader,
    RNG: lambda run, part: restore_rng(part),
}


def digests(run: Run) -> dict[str, str]:
    """SHA-256 of each observed component: two runs with equal digests take the same next step."""
    return {name: hashlib.sha256(pack(part)).hexdigest() for name, part in observe(run).items()}


_WORDS: dict[str, Callable[[Any, Any], str]] = {
    PARAMETERS: wording.parameters,
    OPTIMIZER: wording.optimizer,
    STEP: wording.step,
    LOADER: wording.loader,
    RNG: wording.rng,
}


def differences(found: Observation, expected: Observation) -> dict[str, str]:
    """For each component that is not exactly equal: what differs, in words."""
    return {
        name: _WORDS[name](found[name], expected[name])
        for name in COMPONENTS
        if not same(found[name], expected[name])
    }
