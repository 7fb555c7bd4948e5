"""What a learner's functions bring along: all that they can reach, as their code calls it."""

from __future__ import annotations

import dis
import functools
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType
from typing import Any

_MANY = 1000  # items of a container that are looked into


@dataclass(frozen=True)
class Value:
    """Something that the functions need, as the code calls it."""

    function: str
    name: str
    obj: Any

    def __str__(self) -> str:
        return f"`{self.function}`" if self.name == self.function else f"`{self.function}` uses `{self.name}`"

    def which(self, does: str) -> str:
        """A clause with this value as what `does` says something about."""
        return f"{self} {does}" if self.name == self.function else f"{self}, which {does}"


def reachable(functions: dict[str, Callable[..., Any]]) -> Iterator[Value]:
    """All that travels with the functions, breadth first, each once. Installed code is not looked into."""
    queue = deque(Value(name, name, obj) for name, obj in functions.items())
    seen: dict[int, Any] = {}  # the objects too: an id is used again once its object is gone
    while queue:
        value = queue.popleft()
        if id(value.obj) in seen:
            continue
        seen[id(value.obj)] = value.obj
        yield value
        queue.extend(Value(value.function, name or value.name, obj) for name, obj in _parts(value.obj))


def _parts(obj: Any) -> Iterator[tuple[str, Any]]:
    """What `obj` brings along: (name, value), the name empty where the code has none for it."""
    match obj:
        case FunctionType() if by_value(obj):
            yield from ((name, obj.__globals__[name]) for name in _globals_of(obj))
            yield from _closure(obj)
            yield from (("", item) for item in (obj.__defaults__ or ()))
            yield from (obj.__kwdefaults__ or {}).items()
            yield from vars(obj).items()
        case type() if by_value(obj):
            yield from (("", base) for base in obj.__bases__)
            yield from (("", _unwrapped(member)) for member in list(vars(obj).values()))
        case MethodType():
            yield from (("", obj.__func__), ("", obj.__self__))
        case functools.partial():
            yield from (("", part) for part in (obj.func, *obj.args, *obj.keywords.values()))
        case dict() if len(obj) <= _MANY:
            yield from (("", item) for item in list(obj.values()))
        case list() | tuple() | set() if len(obj) <= _MANY:
            yield from (("", item) for item in list(obj))
        case _ if not isinstance(obj, type) and by_value(type(obj)):
            yield "", type(obj)
            yield from getattr(obj, "__dict__", {}).items()


def by_value(obj: Any) -> bool:
    """Whether a function or class is the notebook's own, so that its code travels and not its name."""
    return getattr(obj, "__module__", None) == "__main__"


def _unwrapped(member: Any) -> Any:
    if isinstance(member, property):
        return (member.fget, member.fset, member.fdel)
    return getattr(member, "__func__", member)


def _closure(function: FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not filled yet
            continue


def _globals_of(function: FunctionType) -> list[str]:
    return sorted(name for name in global_names(function.__code__) if name in function.__globals__)


def global_names(code: CodeType, *, also_set: bool = False) -> set[str]:
    """Global names that this code, or code nested in it, reads: those that it sets as well where `also_set`.

    Taken from the instructions: `co_names` holds attributes too, so that os.path would read a global `path`.
    """
    steps = [(step.opname, step.argval) for step in dis.get_instructions(code)]
    loaded = {name for opname, name in steps if opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    stored = {name for opname, name in steps if opname in ("STORE_GLOBAL", "STORE_NAME")}
    nested = [global_names(c, also_set=also_set) for c in code.co_consts if isinstance(c, CodeType)]
    names = loaded.union(*nested) - (set() if also_set else stored)
    return {name for name in names if not (name.startswith("__") and name.endswith("__"))}
