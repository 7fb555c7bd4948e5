"""An optimizer with torch's interface and nothing behind it: what it is told is written down.

Building one of torch's imports its compiler, which takes seconds in a fresh kernel.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn


class Optimizer:
    """Two groups of two parameters each, and Adam's two moments for every one of them.

    `rates` holds, for each step taken, the learning rate of each group. `state_dict` and `load_state_dict`
    are laid out as torch's, and loading brings back the groups' settings as torch's does.

    Raises RuntimeError, from `step`, after `patience` steps: a loop without end would hang the kernel.
    """

    def __init__(self, lr: float, betas: tuple[float, float], seed: int = 0, patience: int = 1000) -> None:
        source = torch.Generator().manual_seed(seed)
        self.defaults = {"lr": lr, "betas": betas, "eps": 1e-8, "weight_decay": 0.1}
        self.patience = patience
        self.rates: list[list[float]] = []
        self.state: dict[Tensor, dict[str, Tensor]] = {}
        self.param_groups: list[dict[str, Any]] = []
        for weight_decay in (0.1, 0.0):  # as usual: matrices decay, biases do not
            parameters = [nn.Parameter(torch.randn(3, generator=source)) for _ in range(2)]
            self.param_groups.append({**self.defaults, "weight_decay": weight_decay, "params": parameters})
            for parameter in parameters:
                average, square = torch.randn(2, 3, generator=source)
                self.state[parameter] = {
                    "step": torch.tensor(float(seed % 1000 + 1)),
                    "exp_avg": average,
                    "exp_avg_sq": square.square(),
                }

    def _parameters(self) -> list[Tensor]:
        return [parameter for group in self.param_groups for parameter in group["params"]]

    def step(self, closure: Any = None) -> None:
        """Write down the rates that would be used now."""
        if len(self.rates) >= self.patience:
            raise RuntimeError(f"the optimizer has made {self.patience} steps, and still the loop goes on")
        self.rates.append([float(group["lr"]) for group in self.param_groups])

    def zero_grad(self, set_to_none: bool = True) -> None:
        """There is no gradient here."""

    def state_dict(self) -> dict[str, Any]:
        """The moments by the parameters' numbers, and the groups' settings."""
        number = {parameter: i for i, parameter in enumerate(self._parameters())}
        return {
            "state": {number[parameter]: moments for parameter, moments in self.state.items()},
            "param_groups": [
                {**group, "params": [number[p] for p in group["params"]]} for group in self.param_groups
            ],
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take moments and settings from a state; the parameters stay this optimizer's own."""
        parameters = self._parameters()
        groups = copy.deepcopy(state_dict["param_groups"])
        for mine, saved in zip(self.param_groups, groups, strict=True):
            mine.update({**saved, "params": mine["params"]})
        self.state = {parameters[int(i)]: dict(moments) for i, moments in state_dict["state"].items()}
