"""Which of a notebook's values do functions read? A state in one of them is the commonest slip."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any

from lastgood.recovery.learner.reach import global_names


def data_globals(functions: Iterable[Callable[..., Any]]) -> list[str]:
    """The globals that hold data, read by these functions or by functions that they read: name (type)."""
    found: dict[str, str] = {}
    seen: set[int] = set()
    queue: list[Any] = list(functions)
    while queue:
        item = queue.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, type):
            queue += [value for value in vars(item).values() if isinstance(value, types.FunctionType)]
        if not isinstance(item, types.FunctionType) or _is_library(item):
            continue
        for name in global_names(item.__code__, also_set=True):
            if name not in item.__globals__:
                continue
            value = item.__globals__[name]
            store = isinstance(value, dict | list | set | bytearray)  # even where its name is a constant's
            if isinstance(value, types.FunctionType | type):
                queue.append(value)
            elif store or not (isinstance(value, types.ModuleType) or callable(value) or name.isupper()):
                found[name] = type(value).__name__
    return [f"{name} ({kind})" for name, kind in sorted(found.items())]


def _is_library(function: types.FunctionType) -> bool:
    return (function.__module__ or "").split(".")[0] in ("lastgood", "torch", "numpy")
