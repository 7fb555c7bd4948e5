"""Lab 17, part E: a setting changed at a restart, and the state that would bring the old one back."""

from __future__ import annotations

import copy
import random
from typing import Any

import torch

from lastgood.teaching.checks import exact
from lastgood.teaching.checks.core import Check, Data, attempt
from lastgood.teaching.checks.lab17.own import refused
from lastgood.teaching.checks.lab17.passages import THE_TRAP, TOO_EARLY
from lastgood.teaching.checks.lab17.stand_in import Optimizer
from lastgood.teaching.checks.report import Report, part


def _draw(seed: int) -> Data:
    source = random.Random(seed)
    return {
        "seed": seed % 100_000,
        "saved": [0.9, source.choice([0.95, 0.98])],
        "new": [0.0, source.choice([0.9, 0.99])],
        "lr": [round(source.uniform(1e-4, 9e-4), 6), round(source.uniform(1e-3, 9e-3), 6)],  # saved, and new
    }


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    fault = refused(names["0"])
    if fault:
        return {"error": fault}
    saved = _saved(inputs)
    fresh = Optimizer(inputs["lr"][1], tuple(inputs["saved"]), inputs["seed"] + 1)
    state = saved.state_dict()
    before = copy.deepcopy(state)
    _, fault = attempt(names["0"], fresh, state, tuple(inputs["new"]))
    if fault:
        return {"error": fault}
    return {
        "groups": [_plain(group) for group in fresh.param_groups],
        "moments": [moments["exp_avg"] for moments in fresh.state.values()],
        "kept": _same(state, before),
    }


def _saved(inputs: Data) -> Optimizer:
    return Optimizer(inputs["lr"][0], tuple(inputs["saved"]), inputs["seed"])


def _plain(group: dict[str, Any]) -> dict[str, Any]:
    betas = group.get("betas")
    listed = [float(beta) for beta in betas] if isinstance(betas, list | tuple) else str(betas)
    return {"betas": listed, "lr": float(group["lr"])}


def _same(state: dict[str, Any], before: dict[str, Any]) -> bool:
    settings = [{**group, "betas": list(group["betas"])} for group in state["param_groups"]]
    wanted = [{**group, "betas": list(group["betas"])} for group in before["param_groups"]]
    return settings == wanted and all(
        torch.equal(state["state"][i]["exp_avg"], moments["exp_avg"])
        for i, moments in before["state"].items()
    )


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return BETAS.failed(data["error"])
    wanted = [moments["exp_avg"] for moments in _saved(inputs).state.values()]
    moments = exact.items(data["moments"])
    loaded = len(moments) == len(wanted) and all(map(torch.equal, moments, wanted))
    for group in exact.items(data["groups"], 2):
        exact.under(group, ("betas", "lr"))
    parts = (
        part("new betas", 1, _betas_fault(data, inputs, loaded=loaded), TOO_EARLY),
        part("all else as it was saved", 1, _state_fault(data, inputs, loaded=loaded), TOO_EARLY),
        part(
            "the saved state",
            1,
            ""
            if exact.flag(data["kept"])
            else "The saved state was changed: the next one who resumes from it gets settings "
            "that were never saved. "
            "Change the optimizer, or a deep copy.",
            THE_TRAP,
        ),
    )
    return Report(BETAS.exercise, parts)


def _betas_fault(data: Data, inputs: Data, *, loaded: bool) -> str:
    found = [group["betas"] for group in data["groups"]]
    new, saved = inputs["new"], inputs["saved"]
    if all(betas == new for betas in found):
        return ""
    if any(betas == new for betas in found):
        return "One parameter group has the new betas, the other the old ones. All of param_groups need them."
    if any(isinstance(betas, str) for betas in found):
        return f"A group's betas are {found[0]} now. They are a pair: (β₁, β₂)."
    if all(betas == saved for betas in found) and loaded:
        return (
            f"The betas are {tuple(saved)}, as they were saved. Loading the state brings them "
            f"back: whatever was set "
            "before is gone. (And an optimizer reads its groups, not its `defaults`.)"
        )
    return f"The groups' betas are {found[0]} and {found[1]}; {tuple(new)} were asked for."


def _state_fault(data: Data, inputs: Data, *, loaded: bool) -> str:
    if not loaded:
        return "The moments are not those of the saved state: the optimizer starts cold. Load the state."
    old, new = inputs["lr"]
    rates = [group["lr"] for group in data["groups"]]
    if all(rate == old for rate in rates):
        return ""
    if all(rate == new for rate in rates):
        return "The learning rate is the new optimizer's. Only the betas were to change."
    return f"The groups' learning rates are {rates}; {old:g} was saved."


BETAS = Check("resume_with_betas", "E Another setting at a restart", 3, _draw, _measure, _judge)
