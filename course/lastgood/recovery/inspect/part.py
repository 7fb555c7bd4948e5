"""What one file of a checkpoint turned out to hold."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lastgood.recovery.inspect.values import Global

# What honest checkpoints name of Python's own library, by whole names: `pathlib.Path.unlink` would act.
_HARMLESS = frozenset({
    "_codecs.encode", "argparse.Namespace", "collections.Counter", "collections.OrderedDict",
    "collections.defaultdict", "collections.deque", "copyreg._reconstructor", "copy_reg._reconstructor",
    "datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta", "datetime.timezone",
    "decimal.Decimal", "fractions.Fraction", "functools.partial", "pathlib.Path", "pathlib.PosixPath",
    "pathlib.PurePath", "pathlib.PurePosixPath", "pathlib.PureWindowsPath", "pathlib.WindowsPath",
    "random.Random", "types.SimpleNamespace", "uuid.UUID",
})  # fmt: skip
_BUILTINS = frozenset({
    "bool", "bytearray", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "object", "range",
    "set", "slice", "str", "tuple",
})  # fmt: skip
# What torch and NumPy put into checkpoints. Both also have functions that run what they are given.
_LIBRARIES = re.compile(
    r"torch\.(?:[A-Za-z0-9]+Storage|Size|Tensor|device|dtype|Generator|[a-z]+[0-9]+\w*|bool|strided|per_\w+"
    r"|_utils\._rebuild\w+|_tensor\._rebuild\w+|storage\.\w+|serialization\._get_layout|nn\..*|optim\..*"
    r"|amp\..*|cuda\.amp\..*|distributed\.checkpoint\..*)"
    r"|numpy\.(?:dtype|ndarray|dtypes\.\w+|random\.\w+|(?:core|_core)\.(?:multiarray|numeric)\.\w+)"
)
_RUN_CODE = re.compile(
    r"(?:torch|numpy)\.(?:.*\.)?(?:load\w*|hub|cpp_extension|testing|f2py|distutils|package|_inductor|_dynamo)"
    r"(?:\..*)?"
)


@dataclass
class Part:
    """A file that was read: what it is, its value in stand-ins, and what is wrong with it."""

    path: Path
    format: str
    size: int
    value: Any
    globals: list[Global] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    script: bool = False  # TorchScript: the file brings code of its own
    name: str = ""  # how the report calls it, from the checkpoint's folder
    tokens: frozenset[str] = frozenset()  # what its name says of its content

    @property
    def dangers(self) -> list[str]:
        """Functions of Python's own library that loading the pickle in full could call."""
        return [str(named) for named in self.globals if _could_act(named)]

    @property
    def classes(self) -> list[str]:
        """Names beyond those of torch, NumPy and Python: `weights_only` refuses them."""
        return [str(named) for named in self.globals if _is_foreign(named)]


def _is_foreign(named: Global) -> bool:
    top = named.module.partition(".")[0]
    if top in ("torch", "numpy"):
        return not _LIBRARIES.fullmatch(str(named)) and not _could_act(named)
    return top != "__builtin__" and top not in sys.stdlib_module_names


def _could_act(named: Global) -> bool:
    """Whether this is a function that can do something outside the program, or run what it is given."""
    top, whole = named.module.partition(".")[0], str(named)
    if set(named.name.split(".")[:-1]) & sys.stdlib_module_names:
        return True  # reached through another module: torch.serialization's os.system
    if top in ("builtins", "__builtin__"):
        return named.name not in _BUILTINS
    if top in ("torch", "numpy"):
        return _RUN_CODE.fullmatch(whole) is not None
    return (top == "copy_reg" or top in sys.stdlib_module_names) and whole not in _HARMLESS
