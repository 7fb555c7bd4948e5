"""Does a learner's function let the library answer? Found in what its code reaches, without running it.

This is for a learner who has lost the way, not against one who wants to cheat: whoever hides an import well
enough (`getattr`, `exec`, a file beside the notebook) is not found, and learns nothing.
"""

from __future__ import annotations

import dis
from collections.abc import Collection, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from lastgood.recovery.learner.reach import Value, by_value, reachable


def leans(function: Any, answers: Collection[str], lent: Collection[Any] = ()) -> str:
    """A sentence where a function or class uses something of the modules `answers`; else empty.

    Looked through are the notebook's own functions, classes and objects that it reaches, however deep:
    a helper, a partial, a base class, an import inside. An annotation is no use. `lent` are the library's
    objects that it may use all the same, and instances of those.
    """
    name = getattr(function, "__name__", type(function).__name__)
    for value in reachable({name: function}):
        if _is_answer(value.obj, answers, lent):
            return _sentence(value)
        for module in _imported(value.obj):
            if _holds(module, answers):
                return _sentence(Value(name, module, None))
    return ""


def _sentence(value: Value) -> str:
    if value.name == value.function:
        return f"{value} is the library's own, and that is the answer. Write yours in the notebook."
    return f"{value}, the library's own, and that is the answer. Write it yourself; afterwards, compare."


def _is_answer(obj: Any, answers: Collection[str], lent: Collection[Any]) -> bool:
    if isinstance(obj, ModuleType):
        return _holds(obj.__name__, answers)
    if any(obj is thing or type(obj) is thing for thing in lent):
        return False
    home = getattr(obj, "__module__", None) if isinstance(obj, FunctionType | type) else type(obj).__module__
    return isinstance(home, str) and any(_within(home, answer) for answer in answers)


def _holds(module: str, answers: Collection[str]) -> bool:
    """Whether an answer is in the module, or beneath it: `lastgood.training` leads to all of its modules."""
    return any(_within(module, answer) or _within(answer, module) for answer in answers)


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _imported(obj: Any) -> Iterator[str]:
    """The modules that a function of the notebook's imports inside."""
    if isinstance(obj, FunctionType) and by_value(obj):
        yield from _imports(obj.__code__)


def _imports(code: CodeType) -> Iterator[str]:
    yield from (step.argval for step in dis.get_instructions(code) if step.opname == "IMPORT_NAME")
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _imports(constant)
