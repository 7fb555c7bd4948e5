"""A pickle, read opcode by opcode into inert stand-ins. Nothing is imported, called or executed.

`pickletools` names each opcode and reads its argument. What the opcodes would have done on the stack of a
pickle machine is done here, except for the five things that make pickles dangerous: looking up a global,
calling it, making an object, setting its state, and resolving a persistent id. They leave a stand-in (see
`machine`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from lastgood.recovery.inspect.machine import TEXT_CHARS, Machine, Malformed, TooMuch
from lastgood.recovery.inspect.opcodes import READERS, SHORT_TEXT, STOP, TABLE, TEXT
from lastgood.recovery.inspect.opening import InspectError, plain
from lastgood.recovery.inspect.values import Global, Made

# A tensor takes some 36 opcodes, so 32,000 tensors fit. At the limit a file takes some two seconds and 90 MB.
OPCODES = 1_200_000
OTHERS = 500_000  # opcodes whose arguments pickletools reads, which takes some five times as long
PICKLE_BYTES = 32 << 20
STRING_BYTES = 16 << 20
GLOBALS = 10_000  # names of classes and functions
_NO_LARGER = "Pickles of some 32,000 tensors are read, and metadata of some 10,000 pieces; no larger ones."

Reduce = Callable[[Global, Any], Any]
Persistent = Callable[[Any], Any]


class Window:
    """The bytes that pickles are read from, one behind the other, and how far. Not too many at once."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def read(self, size: int) -> bytes:
        if size > STRING_BYTES:
            raise TooMuch(f"one value claims {size:,} bytes")
        self.at += size
        return self.data[self.at - size : self.at]

    def readline(self) -> bytes:
        end = self.data.find(b"\n", self.at, self.at + TEXT_CHARS + 1) + 1
        if not end and len(self.data) - self.at > TEXT_CHARS:
            raise TooMuch(f"a line is longer than {TEXT_CHARS:,} bytes")
        return self.read((end or len(self.data)) - self.at)


class Walker:
    """Reads pickles. `globals` are all names that they asked for, in order; `opcodes` counts."""

    def __init__(self, reduce: Reduce | None = None, persistent: Persistent | None = None) -> None:
        self._reduce, self._persistent = reduce, persistent
        self.opcodes = self._others = 0
        self.globals: dict[str, Global] = {}

    def read(self, window: Window) -> Any:
        """The value of the pickle that begins here. Raises Malformed, TooMuch."""
        machine = Machine(self)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # pickletools', of odd escapes in a string
            return self._read(window, machine)

    def _read(self, window: Window, machine: Machine) -> Any:
        try:
            return self._walk(window, machine)
        except (Malformed, TooMuch):
            raise
        except KeyError:
            raise Malformed("it refers to what it never held") from None
        except IndexError:
            if len(window.data) >= PICKLE_BYTES:
                raise TooMuch(f"it is longer than {PICKLE_BYTES >> 20} MiB") from None
            raise Malformed("it does not end") from None
        except (ValueError, TypeError, OverflowError, MemoryError) as error:
            raise Malformed(plain(str(error), 80) or type(error).__name__) from None

    def _walk(self, window: Window, machine: Machine) -> Any:
        """Follow the opcodes up to STOP. The most frequent kinds of argument are decoded here, for speed."""
        data, at, count = window.data, window.at, self.opcodes
        try:
            while count < OPCODES:
                code = data[at]
                at, count = at + 1, count + 1
                if code == STOP:
                    window.at = at
                    return machine.pop()
                entry = TABLE[code]
                if entry is None:
                    raise Malformed(f"the opcode {bytes([code])!r} is unknown")
                handler, size = entry
                if size == 0:
                    handler(machine, None)
                elif size == 1:
                    handler(machine, data[at])
                    at += 1
                elif size > 0:
                    handler(machine, int.from_bytes(data[at : at + size], "little"))
                    at += size
                elif size == TEXT and data[at + 1 : at + 4] == b"\0\0\0":
                    begin, at = at + 4, at + 4 + data[at]
                    handler(machine, data[begin:at].decode("utf-8", "surrogatepass"))
                elif size == SHORT_TEXT:
                    begin, at = at + 1, at + 1 + data[at]
                    handler(machine, data[begin:at].decode("utf-8", "surrogatepass"))
                else:
                    window.at = at
                    handler(machine, self._argument(code, window))
                    at = window.at
        finally:
            self.opcodes = count
        raise TooMuch(f"it has more than {OPCODES:,} opcodes")

    def _argument(self, code: int, window: Window) -> Any:
        self._others += 1
        if self._others > OTHERS:
            raise TooMuch(f"it has more than {OTHERS:,} numbers and texts")
        return READERS[code](window)

    def lookup(self, module: Any, name: Any) -> Global:
        if type(module) is not str or type(name) is not str:
            raise Malformed("a global's name is not text")
        found = Global(plain(module), plain(name))
        if len(self.globals) >= GLOBALS:
            raise TooMuch(f"it names more than {GLOBALS:,} classes and functions")
        return self.globals.setdefault(str(found), found)

    def call(self, target: Any, arguments: Any) -> Any:
        if self._reduce and isinstance(target, Global):
            return self._reduce(target, arguments)
        return Made(target, arguments)

    def persist(self, identity: Any) -> Any:
        return self._persistent(identity) if self._persistent else Made(None, identity)


def read_bytes(data: bytes, walker: Walker, path: Path) -> Any:
    """The value of a whole pickle. Raises InspectError naming `path`."""
    return read_window(Window(data), walker, path)


def read_file(file: BinaryIO, walker: Walker, path: Path) -> Any:
    """The value of the pickle at the file's beginning. Raises InspectError naming `path`."""
    return read_bytes(file.read(PICKLE_BYTES), walker, path)


def read_window(window: Window, walker: Walker, path: Path) -> Any:
    """The value of the next pickle of a window. Raises InspectError naming `path`."""
    try:
        return walker.read(window)
    except TooMuch as error:
        cause = f"its pickle is refused: {error}"
        raise InspectError(path, cause, _NO_LARGER) from None
    except Malformed as error:
        cause = f"its pickle cannot be read: damaged or cut short ({error})"
        raise InspectError(path, cause, "Use an earlier checkpoint.") from None
