"""A learner's functions as bytes, on their way into a fresh process.

All of them go through one `cloudpickle.dumps`, so that they share their globals there as they do here. What
cannot travel is found before the journey where possible, and named in a sentence a learner can act on.
"""

from __future__ import annotations

import builtins
import functools
import io
import linecache
import pickle
import site
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

import cloudpickle

from lastgood.recovery.learner.reach import Value, by_value, global_names, reachable

_CACHED = type(functools.lru_cache(lambda: None))
_LOCKS = (type(threading.Lock()), type(threading.RLock()), threading.Condition, threading.Event)


class BundleError(Exception):
    """A function that cannot be taken to another process; the message says which, why, and what to do."""


def dumps(functions: dict[str, Callable[..., Any]]) -> bytes:
    """The functions, with all that they use, as bytes for `loads` in another process.

    Raises BundleError: a value that cannot be pickled, a name that is not defined yet, a `@lru_cache`, a
    module from a file that the other process would not find.
    """
    values = list(reachable(functions))
    for value in values:
        _refuse_strays(value)
    named = [v.obj for v in values if isinstance(v.obj, type | FunctionType) and by_value(v.obj)]
    main = {obj.__qualname__: obj for obj in named if "." not in obj.__qualname__}
    codes = [code for obj in named if isinstance(obj, FunctionType) for code in _codes(obj.__code__)]
    files = {_place(code): code.co_filename for code in codes}
    try:
        return bytes(cloudpickle.dumps({"functions": functions, "main": main, "files": files}))
    except Exception as error:  # every kind of object has its own way to refuse
        raise BundleError(_culprit(values, error)) from error


def texts(functions: dict[str, Callable[..., Any]]) -> dict[str, str]:
    """The text of each cell that they come from, by the name that a traceback gives the cell."""
    values = [value.obj for value in reachable(functions)]
    named = [obj for obj in values if isinstance(obj, FunctionType) and by_value(obj)]
    files = {code.co_filename for obj in named for code in _codes(obj.__code__)}
    return {file: "".join(linecache.getlines(file)) for file in sorted(files)}


def loads(blob: bytes) -> dict[str, Callable[..., Any]]:
    """The functions that `dumps` took. Runs what the bytes choose: only for a process to be thrown away.

    Classes and functions of the notebook become names of this process's `__main__`, where pickle looks for
    them. Tracebacks name the cells that they came from, by the names that `linecache` knows them by there.
    Raises BundleError where the bytes cannot be unpacked here.
    """
    try:
        content = pickle.loads(blob)
        functions: dict[str, Callable[..., Any]] = content["functions"]
        vars(sys.modules["__main__"]).update(content["main"])
        for value in reachable(functions):
            if isinstance(value.obj, FunctionType) and by_value(value.obj):
                value.obj.__code__ = _labelled(value.obj.__code__, content["files"])
    except Exception as error:
        raise BundleError(
            f"The functions cannot be unpacked in a fresh process: {type(error).__name__}: {error}. "
            "Something that they use exists in the notebook's process only."
        ) from error
    return functions


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _codes(const)


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _labelled(code: CodeType, files: dict[tuple[str, int], str]) -> CodeType:
    """The code with its file's name, which cloudpickle takes away."""
    consts = tuple(_labelled(c, files) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_filename=files.get(_place(code), code.co_filename), co_consts=consts)


_MAGIC = (
    "`{}` calls IPython: a line that begins with % or !, or get_ipython. That exists in a notebook only. "
    "Write it in Python, or take it out of the function."
)


def _refuse_strays(value: Value) -> None:
    """Raise BundleError for what would pickle here and then fail there."""
    obj = value.obj
    if value.name == "get_ipython" or type(obj).__module__.startswith("IPython."):
        raise BundleError(_MAGIC.format(value.function))
    if isinstance(obj, _CACHED) and by_value(obj):
        raise BundleError(
            value.which("has a cache (@lru_cache or @cache) that cannot travel. ")
            + "Remove the decorator: a restarted process begins with an empty cache anyway."
        )
    if path := _file_beside(obj):
        raise BundleError(
            value.which(f"comes from {path}, a file that a restarted process does not find. ")
            + "Put what you need of it into a cell of the notebook."
        )
    if isinstance(obj, FunctionType) and by_value(obj):
        known = obj.__globals__.keys() | vars(builtins).keys()
        missing = sorted(global_names(obj.__code__) - known)
        if "get_ipython" in missing:
            raise BundleError(_MAGIC.format(value.function))
        if missing:
            raise BundleError(
                f"`{obj.__qualname__}` uses `{missing[0]}`, which is not defined yet. Run the cell that "
                "defines it first, or correct the name."
            )


def _file_beside(obj: Any) -> str | None:
    """The file of a module, or of a function's or class's module, that is not installed; None otherwise."""
    if not isinstance(obj, ModuleType | FunctionType | type):
        return None
    name = obj.__name__ if isinstance(obj, ModuleType) else obj.__module__
    package = (name or "__main__").partition(".")[0]
    file = getattr(sys.modules.get(name or "__main__"), "__file__", None)
    if package in ("__main__", "__mp_main__", "lastgood") or file is None:
        return None
    if any(Path(file).is_relative_to(folder) for folder in _installed()):
        return None
    return str(file)


@functools.cache
def _installed() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = {paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple({*folders, *site.getsitepackages(), site.getusersitepackages()})


def _culprit(values: list[Value], error: Exception) -> str:
    """The sentence about the innermost value that refuses to be pickled."""
    data = [v for v in values if not isinstance(v.obj, FunctionType | type | ModuleType | MethodType)]
    for value in reversed(data):
        if not _pickles(value.obj):
            what, remedy = _described(value.obj)
            return value.which(f"is {what} and cannot be taken to another process. ") + remedy
    names = sorted({value.function for value in values})
    return f"{', '.join(f'`{name}`' for name in names)} cannot be taken to another process: {error}"


def _pickles(obj: Any) -> bool:
    try:
        cloudpickle.dumps(obj)
    except Exception:
        return False
    return True


def _described(obj: Any) -> tuple[str, str]:
    if isinstance(obj, io.IOBase):
        return "an open file", "Open it inside the function."
    if isinstance(obj, _LOCKS):
        return "a lock", "Make it inside the function; a training step needs none."
    if isinstance(obj, GeneratorType):
        return "a generator", "Make it inside the function, or turn it into a list."
    if type(obj).__name__ == "OptimizedModule":
        return "a compiled module", "Use the module that it was compiled from."
    return f"a {type(obj).__qualname__}", "Make it inside the function, or keep plain data instead."
