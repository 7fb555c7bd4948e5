"""Which of a notebook's values do functions read? The commonest honest mistake is a state that lives in
one of them.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME")


def data_globals(functions: Iterable[Callable[..., Any]]) -> list[str]:
    """Names of the globals that hold data, read by these functions or by functions that they read; with
    types.
    """
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
        for name in _names(item.__code__):
            if name not in item.__globals__ or name.startswith("__"):
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


def _names(code: types.CodeType) -> Iterator[str]:
    # co_names would not do: it also holds attributes, so that os.path would read a global called path.
    yield from (step.argval for step in dis.get_instructions(code) if step.opname in _GLOBAL)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
