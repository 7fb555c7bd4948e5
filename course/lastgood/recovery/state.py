"""The full state of a run: everything that decides its next step, captured as copies and put back in place.

This is lab 18's answer, so the lab's notebook may not import it.
"""

from __future__ import annotations

import copy
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from lastgood.recovery.components import uncompiled
from lastgood.training.rng import RNGError, capture_rng, check_rng, restore_rng
from lastgood.training.run import Run

MODEL, OPTIMIZER, STEP, SCHEDULE, LOADER, RNG = "model", "optimizer", "step", "schedule", "loader", "rng"
KEYS = (MODEL, OPTIMIZER, STEP, SCHEDULE, LOADER, RNG)
MOMENTS = ("step", "exp_avg", "exp_avg_sq")  # what AdamW keeps for each parameter


class StateError(ValueError):
    """A state that does not belong to this run. The run is as it was."""


def capture(run: Run) -> dict[str, Any]:
    """Copies of everything that decides the next step: training on does not change what was captured.

    Tensors, numbers, strings, lists and dicts only, so `torch.load(weights_only=True)` reads it back.
    """
    return {
        MODEL: copy.deepcopy(dict(uncompiled(run.model).state_dict())),
        OPTIMIZER: copy.deepcopy(run.optimizer.state_dict()),
        STEP: run.step,
        SCHEDULE: asdict(run.schedule),
        LOADER: run.loader.state_dict(),
        RNG: capture_rng(),
    }


def restore(run: Run, state: dict[str, Any]) -> None:
    """Put a captured state into `run`, in place.

    Everything is checked before anything is changed. Raises StateError naming every key, shape and setting
    that does not fit; the run and the global generators are then as they were.
    """
    faults = _faults(run, state)
    if faults:
        raise StateError("this state does not fit the run: " + "; ".join(faults))
    uncompiled(run.model).load_state_dict(state[MODEL])
    run.optimizer.load_state_dict(copy.deepcopy(state[OPTIMIZER]))  # it would keep references
    _keep_dtypes(run, state[OPTIMIZER])
    run.step = int(state[STEP])
    run.loader.load_state_dict(state[LOADER])
    restore_rng(state[RNG])  # last: nothing after it may draw


def _keep_dtypes(run: Run, captured: dict[str, Any]) -> None:
    """Put back moments in the dtype that they had: torch has cast them to that of their parameters."""
    parameters = [parameter for group in run.optimizer.param_groups for parameter in group["params"]]
    for number, entry in captured["state"].items():
        mine = run.optimizer.state[parameters[number]]
        for key, value in entry.items():
            if isinstance(value, Tensor) and mine[key].dtype != value.dtype:
                mine[key] = value.clone()


def _faults(run: Run, state: dict[str, Any]) -> list[str]:
    if not isinstance(state, dict):
        return [f"it is a {type(state).__name__}, not a dict"]
    faults = _key_faults("", state, KEYS)
    if faults:
        return faults
    faults += _tensor_faults(MODEL, state[MODEL], uncompiled(run.model).state_dict())
    faults += _optimizer_faults(run, state[OPTIMIZER])
    if not isinstance(state[STEP], int) or isinstance(state[STEP], bool) or state[STEP] < 0:
        faults.append(f"step is {state[STEP]!r}, not a count of steps")
    if state[SCHEDULE] != asdict(run.schedule):
        faults.append(f"schedule is {state[SCHEDULE]}, the run's is {asdict(run.schedule)}")
    try:
        copy.copy(run.loader).load_state_dict(state[LOADER])
    except (ValueError, TypeError, KeyError) as error:
        faults.append(f"loader: {error}")
    try:
        check_rng(state[RNG])
    except RNGError as error:
        faults.append(f"rng: {error}")
    return faults


def _key_faults(where: str, found: Any, expected: Any) -> list[str]:
    if not isinstance(found, dict):
        return [f"{where or 'it'} is a {type(found).__name__}, not a dict"]
    missing = [f"{where}{key} is missing" for key in expected if key not in found]
    return missing + [f"{where}{key} is unknown" for key in found if key not in expected]


def _tensor_faults(where: str, found: Any, expected: dict[str, Any]) -> list[str]:
    faults = _key_faults(f"{where}.", found, expected)
    if faults:
        return faults
    for key, mine in expected.items():
        theirs = found[key]
        if not isinstance(theirs, Tensor):
            faults.append(f"{where}.{key} is a {type(theirs).__name__}, not a tensor")
        elif theirs.shape != mine.shape:
            faults.append(f"{where}.{key} has shape {tuple(theirs.shape)}, the run's {tuple(mine.shape)}")
        elif theirs.dtype != mine.dtype:
            faults.append(f"{where}.{key} is {theirs.dtype}, the run's is {mine.dtype}")
    return faults


def _optimizer_faults(run: Run, found: Any) -> list[str]:
    mine = run.optimizer.state_dict()
    faults = _key_faults(f"{OPTIMIZER}.", found, mine)
    if faults:
        return faults
    sizes = [len(group["params"]) for group in mine["param_groups"]]
    try:
        theirs = [len(group["params"]) for group in found["param_groups"]]
    except (KeyError, TypeError):
        return [f"{OPTIMIZER}.param_groups is not a list of groups"]
    if theirs != sizes:
        return [f"{OPTIMIZER}.param_groups hold {theirs} parameters, the run's {sizes}"]
    if not isinstance(found["state"], dict):
        return [f"{OPTIMIZER}.state is a {type(found['state']).__name__}, not a dict"]
    shapes = dict(enumerate(p.shape for group in run.optimizer.param_groups for p in group["params"]))
    if found["state"]:  # empty before the first step, complete after it, nothing in between
        faults += _key_faults(f"{OPTIMIZER}.state.", found["state"], shapes)
    for index in shapes.keys() & found["state"].keys():
        faults += _moment_faults(f"{OPTIMIZER}.state.{index}", found["state"][index], shapes[index])
    return faults


def _moment_faults(where: str, entry: Any, shape: torch.Size) -> list[str]:
    faults = _key_faults(f"{where}.", entry, MOMENTS)
    if faults:
        return faults
    return [
        f"{where}.{key} has shape {tuple(value.shape)}, its parameter {tuple(shape)}"
        for key, value in entry.items()
        if isinstance(value, Tensor) and value.dim() and value.shape != shape
    ]


def state_bytes(state: Any) -> int:
    """Bytes that the tensors and numbers of a state need, 8 for a number, before any file format."""
    if isinstance(state, Tensor):
        return state.numel() * state.element_size()
    if isinstance(state, dict):
        return sum(state_bytes(item) for item in state.values())
    if isinstance(state, list | tuple):
        return sum(state_bytes(item) for item in state)
    if isinstance(state, torch.Size | str):
        return len(state)
    return 8 if isinstance(state, int | float) else 0
