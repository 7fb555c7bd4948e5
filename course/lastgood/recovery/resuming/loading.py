"""From the name of a module to the five functions in it."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path
from types import ModuleType

from lastgood.recovery.resuming.five import Five

_ARGUMENTS = {"make": 0, "advance": 2, "save": 2, "resume": 1, "observe": 1}
OPTIONAL = "observe"


class ModuleError(ImportError):
    """There is no such module, or it lacks a function that the audit calls."""


def load(name: str) -> Five:
    """Import a module, given by its file or by its dotted name, and take the five functions from it.

    Whatever the module itself raises passes through. Raises ModuleError where it cannot be found, or does not
    offer what an audit needs.
    """
    return _five(_by_file(Path(name)) if name.endswith(".py") else _by_name(name))


def _by_file(path: Path) -> ModuleType:
    path = path.resolve()
    if not path.is_file():
        raise ModuleError(f"{path} is not a file.")
    if not path.stem.isidentifier():
        raise ModuleError(f"{path.name} cannot be imported: name it with letters, digits and _ only.")
    # By its own name and from its own folder: as if it were run there, and so that what it pickles is found.
    sys.path.insert(0, str(path.parent))
    module = importlib.import_module(path.stem)
    if Path(getattr(module, "__file__", None) or "/").resolve() != path:
        raise ModuleError(f"Another module is called {path.stem!r}, too. Rename {path.name}.")
    return module


def _by_name(name: str) -> ModuleType:
    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise ModuleError(f"There is no module {name!r} here. A file's name ends in .py.") from None
        raise


def _five(module: ModuleType) -> Five:
    where = getattr(module, "__file__", None) or module.__name__
    found = {name: getattr(module, name, None) for name in _ARGUMENTS}
    if lacks := [name for name, function in found.items() if function is None and name != OPTIONAL]:
        raise ModuleError(
            f"{where} does not define {', '.join(lacks)}. An audit calls make(), advance(run, steps), "
            "save(run, folder), resume(folder) and, if there is one, observe(run). What stands under "
            "`if __name__ == '__main__':` is not run."
        )
    for name, function in found.items():
        if function is not None:
            _check(where, name, function)
    return Five(**found)  # type: ignore[arg-type]


def _check(where: str, name: str, function: object) -> None:
    """Whether it takes as many arguments as it will be given."""
    if not callable(function):
        raise ModuleError(f"{where}: {name} is a {type(function).__name__}, not a function.")
    try:
        inspect.signature(function).bind(*[None] * _ARGUMENTS[name])
    except TypeError as error:
        raise ModuleError(
            f"{where}: {name} is called with {_ARGUMENTS[name]} arguments, and does not take them: {error}."
        ) from None
    except ValueError:  # one of C's, which does not say what it takes
        pass
