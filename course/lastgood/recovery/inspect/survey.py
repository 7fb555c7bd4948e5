"""A walk over all that a checkpoint's files hold, which sorts it by component.

It goes by form first (an optimizer's dict, a generator's state) and by names second. It has no recursion,
sees each object once, and stops at so many levels and objects: a stranger's pickle may refer to itself.
"""

from __future__ import annotations

from typing import Any

from lastgood.recovery.inspect import recognise, words
from lastgood.recovery.inspect.opening import plain
from lastgood.recovery.inspect.part import Part
from lastgood.recovery.inspect.tally import WHERES, Survey
from lastgood.recovery.inspect.values import Made, Table, Tensor

LEVELS = 40
_LEAVES = (Tensor, *recognise.PLAIN)


def survey(parts: list[Part]) -> Survey:
    """Sort what the parts hold."""
    walk = _Walk()
    for part in parts:
        walk.through(part)
    return walk.found


_Item = tuple[tuple[str, ...], frozenset[str], str | None, Any]


class _Walk:
    def __init__(self) -> None:
        self.found = Survey()
        self._seen: set[int] = set()
        self._alive: list[Any] = []  # else another object could get the id of one that is gone
        self._objects = 0
        self._name = ""
        self._above: frozenset[str] = frozenset()  # what the names above the value say
        self._settings = False  # the part is an object of a class, such as Trainer's training_args.bin

    def through(self, part: Part) -> None:
        self._name, self._settings = part.name, isinstance(part.value, Made)
        todo: list[_Item] = [((), part.tokens, None, part.value)]
        while todo:
            above, said, key, value = todo.pop()
            self._objects += 1
            if self._objects > recognise.OBJECTS or len(above) > LEVELS:
                self.found.cut = True
                continue
            if not isinstance(value, _LEAVES):
                if id(value) in self._seen:
                    continue
                self._seen.add(id(value))
                self._alive.append(value)
            self._above = said
            if key is not None:
                said = said if key.isdecimal() else said | words.words_of(key)
            path = above if key is None else (*above, key)
            if not self._take(path, said, value):
                todo += [(path, said, name, item) for name, item in reversed(recognise.children(value))]

    def _at(self, path: tuple[str, ...]) -> str:
        return plain(self._name + (":" + ".".join(path) if path else ""), 100)

    def _take(self, path: tuple[str, ...], said: frozenset[str], value: Any) -> bool:
        """Sort this value; False where what it holds is to be looked at instead."""
        if isinstance(value, recognise.PLAIN):  # first, since most are
            self._plain(path, said, value)
        elif self._generator(path, said, value):
            pass
        elif recognise.is_optimizer(value):
            self._optimizer(path, value)
        elif recognise.is_schedule(value) and not said & words.LOADER:
            self._schedule(path, value)
        elif recognise.is_scaler(value):
            self.found.scale = recognise.number(value.get("scale"))
            self.found.tally("scaler").at(self._at(path))
        elif recognise.is_state_dict(value):
            self._state_dict(path, said, value)
        elif isinstance(value, Tensor):
            self._loose(path, said, value)
        else:
            return False
        return True

    def _generator(self, path: tuple[str, ...], said: frozenset[str], value: Any) -> bool:
        """Note the state of a random number generator."""
        whose = recognise.generator(value, bool(said & (words.RNG | words.CUDA)), bool(said & words.CUDA))
        if whose:
            self.found.generators.setdefault(whose, []).append(self._at(path))
        return whose is not None

    def _optimizer(self, path: tuple[str, ...], value: Table) -> None:
        found, tally = self.found.optimizer, self.found.tally("optimizer")
        found.dicts += 1
        tally.at(self._at(path))
        groups = value.get("param_groups")
        for _, group in recognise.children(groups):
            members = group.get("params") if isinstance(group, Table) else None
            found.groups += 1
            if isinstance(group, Table) and ("betas" in group.names() or group.get("momentum")):
                found.adaptive = True
            found.parameters += len(members) if isinstance(members, list | tuple) else 0
        state = value.get("state")
        for entry in state.values() if isinstance(state, Table) else []:
            kept = entry.pairs if isinstance(entry, Table) else []
            found.remembered += bool(kept)
            for key, item in kept:
                found.kinds[plain(str(key), 40) if type(key) is str else "(an object)"] += 1
                if isinstance(item, Tensor):
                    tally.add(item)

    def _schedule(self, path: tuple[str, ...], value: Table) -> None:
        self.found.tally("schedule").at(self._at(path))
        self.found.positions.append((self._at(path), recognise.number(value.get("last_epoch"))))
        for key, item in value.pairs:
            self._horizon((*path, str(key) if type(key) is str else ""), item)

    def _horizon(self, path: tuple[str, ...], value: Any) -> None:
        number = recognise.number(value)
        if path and path[-1].lower() in words.HORIZONS and number is not None and number > 0:
            self.found.horizons.append((self._at(path), number))

    def _state_dict(self, path: tuple[str, ...], said: frozenset[str], value: Table) -> None:
        role = _role(said)
        for key, tensor in value.pairs:
            below = (*path, key)
            if tensor.dtype == "uint8" and self._generator(below, said | words.words_of(key), tensor):
                continue
            if role == "rng" or (role is None and said & words.ASIDE):
                self.found.unsorted += role == "rng"
            else:
                self._sort(role or _own_role(key), below, tensor)

    def _loose(self, path: tuple[str, ...], said: frozenset[str], value: Tensor) -> None:
        key = path[-1] if path else ""
        role = _role(said)
        if not value.shape and key.lower() in words.STEPS and len(path) < 3 and role != "optimizer":
            self._step(key.lower(), path, None)
            return
        named = "." in key or key in ("weight", "bias") or "_parameters" in path or "_buffers" in path
        if role == "rng" or (role is None and not value.parameter and not named):
            self.found.unsorted += not said & words.ASIDE
            return
        if role == "optimizer":
            self.found.optimizer.kinds[plain(key, 40)] += 1
        self._sort(role or _own_role(key), path, value)

    def _sort(self, role: str | None, path: tuple[str, ...], tensor: Tensor) -> None:
        if role is None:
            key = path[-1] if path else ""
            odd = not tensor.dtype.startswith(("float", "bfloat", "complex"))
            buffer = odd or key.endswith(words.BUFFERS) or "_buffers" in path
            role = "buffers" if buffer and not tensor.parameter else "parameters"
        tally = self.found.tally(role)
        tally.add(tensor)
        if len(tally.where) < WHERES:
            tally.at(self._at(path if role == "buffers" else path[:-1]))

    def _plain(self, path: tuple[str, ...], said: frozenset[str], value: Any) -> None:
        key = path[-1].lower() if path else ""
        self._horizon(path, value)
        # Settings speak of loaders too (`dataloader_num_workers`): a position stands in a dict of its own,
        # and never among the attributes of an object.
        above = frozenset[str]() if self._settings else self._above
        around = said if len(path) == 1 and not self._settings else above
        counted = key in words.POSITIONS and len(path) < 3 and type(value) is int
        if around & words.LOADER or "consumed" in said or counted:
            self.found.loader.append((self._at(path), value))
            inside = above & words.LOADER  # of a dict or a file that is the loader's
            self.found.tally("loader").at(self._at(path[:-1] if inside else path))
        elif above & words.SCHEDULE:
            self.found.tally("schedule").at(self._at(path[:-1]))
        elif self._above & words.EMA and type(value) in (int, float):
            self.found.tally("ema").at(self._at(path))
        elif key == "epoch" and len(path) < 3:
            self.found.epoch = recognise.number(value)
        elif key in words.STEPS and type(value) in (int, float) and len(path) < 3:
            self._step(key, path, value)

    def _step(self, key: str, path: tuple[str, ...], value: Any) -> None:
        """Note a count of steps, of the run and not of its optimizer or its loss scaler."""
        if not self._above & (words.OPTIMIZER | words.SCALER):
            self.found.steps.append((words.STEPS.index(key), len(path), self._at(path), value))


def _role(said: frozenset[str]) -> str | None:
    """The component that the names on the way speak of; None for a model's."""
    for role, spoken in (
        ("ema", words.EMA), ("optimizer", words.OPTIMIZER), ("scaler", words.SCALER),
        ("schedule", words.SCHEDULE), ("loader", words.LOADER), ("rng", words.RNG),
    ):  # fmt: skip
        if said & spoken:
            return role
    return None


def _own_role(key: Any) -> str | None:
    """A flat file may tell its parts apart by the first word of a tensor's name."""
    first = str(key).partition(".")[0]
    if words.words_of(first) & words.EMA:
        return "ema"
    return "optimizer" if first in ("optimizer", "optim") else None
