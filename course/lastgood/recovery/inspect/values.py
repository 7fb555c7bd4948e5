"""Inert stand-ins for what a file speaks of. None of them does anything; all compare by identity.

Nothing of a file is hashed, compared or printed as a whole: a tuple in a tuple a hundred thousand deep would
exhaust the interpreter's own stack.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

_FEW = 20  # pairs that are sooner looked through than put in a set


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Global:
    """A class or function that a pickle names. It is not looked up."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(eq=False, repr=False, slots=True)
class Made:
    """What calling `of` with `args` would have made, had anyone called it."""

    of: Any
    args: Any
    state: Any = None
    items: list[Any] = field(default_factory=list)
    pairs: list[tuple[Any, Any]] = field(default_factory=list)

    def named(self) -> str:
        return str(self.of) if isinstance(self.of, Global) else ""


@dataclass(eq=False, repr=False, slots=True)
class Table:
    """A dict, as the pairs that went into it: a key may be anything, and only text is hashed."""

    pairs: list[tuple[Any, Any]] = field(default_factory=list)
    _names: set[str] | None = None  # made where it is asked for: an empty set takes 200 bytes
    _counted: int = 0

    def get(self, key: str) -> Any:
        """The value under a text key, None where there is none. The last one counts, as in a dict."""
        if len(self.pairs) > _FEW and key not in self.names():
            return None
        for mine, value in reversed(self.pairs):
            if type(mine) is str and mine == key:
                return value
        return None

    def names(self) -> set[str]:
        if self._names is None or self._counted != len(self.pairs):
            self._names = {key for key, _ in self.pairs if type(key) is str}
            self._counted = len(self.pairs)
        return self._names

    def values(self) -> list[Any]:
        return [value for _, value in self.pairs]


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Raw:
    """Bytes, of which only the length is kept."""

    size: int


@dataclass(eq=False, repr=False, slots=True)  # not frozen: that doubles the time to make one
class Storage:
    """The bytes under one or more tensors: `key` says where in the file."""

    key: str
    dtype: str
    itemsize: int
    count: int

    @property
    def bytes(self) -> int:
        return self.count * self.itemsize


@dataclass(eq=False, repr=False, slots=True)  # not frozen: that doubles the time to make one
class Tensor:
    """A tensor without its numbers. `shape` and `bytes` are what the file claims."""

    dtype: str
    shape: tuple[int, ...]
    bytes: int
    storage: Storage | None = None
    reach: int = 0  # elements of the storage that it needs, from the storage's beginning
    parameter: bool = False

    @property
    def count(self) -> int:
        return numel(self.shape)


def numel(shape: tuple[int, ...]) -> int:
    """How many elements a tensor of this shape has."""
    count = 1
    for size in shape:
        count *= size
    return count


ITEMSIZES = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8,
    "uint64": 8,
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex32": 4, "complex64": 8, "complex128": 16,
    "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
    "quint8": 1, "qint8": 1, "qint32": 4,
}  # fmt: skip
