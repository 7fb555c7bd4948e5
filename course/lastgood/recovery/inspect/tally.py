"""What the survey of a checkpoint adds up, component by component."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from lastgood.recovery.inspect.values import Tensor

WHERES = 6  # places of a component that are named


@dataclass
class Tally:
    """What was found of one component, and where."""

    tensors: int = 0
    bytes: int = 0
    dtypes: Counter[str] = field(default_factory=Counter)
    where: list[str] = field(default_factory=list)
    _storages: dict[int, int] = field(default_factory=dict)

    def add(self, tensor: Tensor) -> None:
        self.tensors += 1
        self.dtypes[tensor.dtype] += 1
        if tensor.storage is None:
            self.bytes += tensor.bytes
            return
        # Tied tensors share a storage, which lies in the file once.
        counted = self._storages.get(id(tensor.storage), 0)
        more = min(tensor.bytes, tensor.storage.bytes - counted)
        self._storages[id(tensor.storage)] = counted + max(0, more)
        self.bytes += max(0, more)

    def at(self, where: str) -> None:
        if where not in self.where and len(self.where) < WHERES:
            self.where.append(where)


@dataclass
class Optimizer:
    """What the optimizers' dicts say."""

    dicts: int = 0
    groups: int = 0
    parameters: int = 0  # that the groups name
    remembered: int = 0  # of them with state
    adaptive: bool = False  # an Adam, or SGD with momentum: it needs state
    kinds: Counter[str] = field(default_factory=Counter)  # exp_avg, step, … and for how many parameters


@dataclass
class Survey:
    """All that was found."""

    tallies: dict[str, Tally] = field(default_factory=dict)
    optimizer: Optimizer = field(default_factory=Optimizer)
    generators: dict[str, list[str]] = field(default_factory=dict)  # by whose, where
    steps: list[tuple[int, int, str, Any]] = field(default_factory=list)  # name's rank, level, where, value
    positions: list[tuple[str, Any]] = field(default_factory=list)  # of schedules
    horizons: list[tuple[str, int | float]] = field(default_factory=list)
    loader: list[tuple[str, Any]] = field(default_factory=list)
    scale: Any = None
    epoch: Any = None
    unsorted: int = 0
    cut: bool = False  # there was more than is looked at

    def tally(self, component: str) -> Tally:
        found = self.tallies.get(component)
        if found is None:
            found = self.tallies[component] = Tally()
        return found
