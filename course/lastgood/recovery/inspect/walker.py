"""A pickle, read opcode by opcode into inert stand-ins. Nothing is imported, called or executed.

`pickletools.genops` names each opcode and its argument. What the opcodes would have done on the stack of a
pickle machine is done here, except for the five things that make pickles dangerous: looking up a global,
calling it, making an object, setting its state, and resolving a persistent id. They leave a stand-in (see
`machine`).
"""

from __future__ import annotations

import io
import pickletools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from lastgood.recovery.inspect.machine import TEXT_CHARS, Machine, Malformed, TooMuch
from lastgood.recovery.inspect.opening import InspectError, plain
from lastgood.recovery.inspect.values import Global, Made

# A tensor takes some 36 opcodes, so 15,000 tensors fit. At the limit this takes one to two seconds.
OPCODES = 600_000
PICKLE_BYTES = 32 << 20
STRING_BYTES = 16 << 20

Reduce = Callable[[Global, Any], Any]
Persistent = Callable[[Any], Any]


class Window:
    """The one way to a file's bytes: so many in all and no more, so many at once and no more."""

    def __init__(self, file: BinaryIO, limit: int = PICKLE_BYTES) -> None:
        self._file, self._left = file, limit

    def read(self, size: int) -> bytes:
        # Called for each opcode, so it does not go through another function.
        if size > STRING_BYTES:
            raise TooMuch(f"one value claims {size:,} bytes")
        self._left -= size
        if self._left < 0:
            raise TooMuch(f"it is longer than {PICKLE_BYTES >> 20} MiB")
        return self._file.read(size)

    def readline(self) -> bytes:
        line = self._file.readline(TEXT_CHARS + 1)
        if len(line) > TEXT_CHARS:
            raise TooMuch(f"a line is longer than {TEXT_CHARS:,} bytes")
        self._left -= len(line)
        return line


class Walker:
    """Reads pickles. `globals` are all names that they asked for, in order."""

    def __init__(self, reduce: Reduce | None = None, persistent: Persistent | None = None) -> None:
        self._reduce, self._persistent = reduce, persistent
        self._opcodes = 0
        self.globals: dict[str, Global] = {}

    def read(self, window: Window) -> Any:
        """The value of the pickle that begins here. Raises Malformed, TooMuch."""
        machine = Machine(self)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # pickletools', of odd escapes in a string
            return self._read(window, machine)

    def _read(self, window: Window, machine: Machine) -> Any:
        try:
            for opcode, argument, _ in pickletools.genops(window):  # type: ignore[arg-type]
                self._opcodes += 1
                if self._opcodes > OPCODES:
                    raise TooMuch(f"it has more than {OPCODES:,} opcodes")
                if opcode.name == "STOP":
                    return machine.pop()
                machine.step(opcode.name, argument)
        except (Malformed, TooMuch):
            raise
        except (ValueError, IndexError, TypeError, OverflowError, MemoryError) as error:
            raise Malformed(plain(str(error), 80) or type(error).__name__) from None
        raise Malformed("it does not end")

    def lookup(self, module: Any, name: Any) -> Global:
        if type(module) is not str or type(name) is not str:
            raise Malformed("a global's name is not text")
        found = Global(plain(module), plain(name))
        return self.globals.setdefault(str(found), found)

    def call(self, target: Any, arguments: Any) -> Any:
        if self._reduce and isinstance(target, Global):
            return self._reduce(target, arguments)
        return Made(target, arguments)

    def persist(self, identity: Any) -> Any:
        return self._persistent(identity) if self._persistent else Made(None, identity)


def read_bytes(data: bytes, walker: Walker, path: Path) -> Any:
    """The value of a whole pickle. Raises InspectError naming `path`."""
    return read_file(io.BytesIO(data), walker, path)


def read_file(file: BinaryIO, walker: Walker, path: Path) -> Any:
    """The value of the pickle at the file's position. Raises InspectError naming `path`."""
    return read_window(Window(file), walker, path)


def read_window(window: Window, walker: Walker, path: Path) -> Any:
    """The value of the next pickle of a window. Raises InspectError naming `path`."""
    try:
        return walker.read(window)
    except TooMuch as error:
        cause = f"its pickle is refused: {error}"
        raise InspectError(path, cause, "Pickles of some 15,000 tensors are read, no larger ones.") from None
    except Malformed as error:
        cause = f"its pickle cannot be read: damaged or cut short ({error})"
        raise InspectError(path, cause, "Use an earlier checkpoint.") from None
