"""The stack machine that a pickle drives, with stand-ins for all that would look up, call or execute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from lastgood.recovery.inspect.values import Global, Made, Raw, Table

MEMO = 500_000
TEXT_CHARS = 1 << 20
_KEPT_BYTES = 64  # of a bytes object; of longer ones only the length
_KEPT_BITS = 256  # of a number


class Malformed(ValueError):
    """What stands there is no pickle, or breaks off."""


class TooMuch(ValueError):
    """A pickle beyond the limits of this package."""


class Outside(Protocol):
    """What a pickle asks of the world outside it: answered with stand-ins."""

    def lookup(self, module: Any, name: Any) -> Global: ...

    def call(self, target: Any, arguments: Any) -> Any: ...

    def persist(self, identity: Any) -> Any: ...


class Machine:
    """The stack, the marks and the memo of one pickle."""

    def __init__(self, walker: Outside) -> None:
        self._walker = walker
        self._stack: list[Any] = []
        self._below: list[list[Any]] = []
        self._memo: dict[int, Any] = {}

    def pop(self) -> Any:
        if not self._stack:
            raise Malformed("its stack is empty")
        return self._stack.pop()

    def step(self, name: str, argument: Any) -> None:
        if name in _SMALL:
            self._stack.append(argument)
        elif name in _CONSTANTS:
            self._stack.append(_CONSTANTS[name])
        elif name in _VALUES:
            self._stack.append(_short(argument))
        elif name in _MEMO_OPCODES:
            self._remember(name, argument)
        else:
            handler = _HANDLERS.get(name)
            if handler is None:
                raise Malformed(f"the opcode {name} is unknown")
            handler(self, argument)

    def _remember(self, name: str, argument: Any) -> None:
        if name in ("GET", "BINGET", "LONG_BINGET"):
            if argument not in self._memo:
                raise Malformed("it refers to what it never held")
            self._stack.append(self._memo[argument])
            return
        if len(self._memo) >= MEMO:
            raise TooMuch(f"it remembers more than {MEMO:,} objects")
        if not self._stack:
            raise Malformed("its stack is empty")
        self._memo[len(self._memo) if name == "MEMOIZE" else argument] = self._stack[-1]

    def mark(self, _: Any) -> None:
        self._below.append(self._stack)
        self._stack = []

    def since_mark(self) -> list[Any]:
        if not self._below:
            raise Malformed("a mark is missing")
        items, self._stack = self._stack, self._below.pop()
        return items

    def drop(self, _: Any) -> None:
        if self._stack:
            self._stack.pop()
        else:
            self.since_mark()

    def drop_to_mark(self, _: Any) -> None:
        self.since_mark()

    def double(self, _: Any) -> None:
        self._stack.append(self._top())

    def ignore(self, _: Any) -> None:
        pass

    def new_list(self, _: Any) -> None:
        self._stack.append([])

    def new_table(self, _: Any) -> None:
        self._stack.append(Table())

    def new_set(self, _: Any) -> None:
        self._stack.append(Made(Global("builtins", "set"), ()))

    def list_of(self, _: Any) -> None:
        items = self.since_mark()
        self._stack.append(items)

    def tuple_of(self, _: Any) -> None:
        items = self.since_mark()
        self._stack.append(tuple(items))

    def table_of(self, _: Any) -> None:
        items = self.since_mark()
        self._stack.append(Table(_pairs(items)))

    def frozen_set(self, _: Any) -> None:
        items = self.since_mark()
        self._stack.append(Made(Global("builtins", "frozenset"), (), items=items))

    def short_tuple(self, size: int) -> None:
        if len(self._stack) < size:
            raise Malformed("its stack is too short")
        self._stack[-size:] = [tuple(self._stack[-size:])]

    def append(self, _: Any) -> None:
        item = self.pop()
        _extend(self._top(), [item])

    def appends(self, _: Any) -> None:
        items = self.since_mark()
        _extend(self._top(), items)

    def set_item(self, _: Any) -> None:
        value, key = self.pop(), self.pop()
        _update(self._top(), [(key, value)])

    def set_items(self, _: Any) -> None:
        items = self.since_mark()
        _update(self._top(), _pairs(items))

    def find_global(self, argument: Any) -> None:
        module, _, name = str(argument).partition(" ")
        self._stack.append(self._walker.lookup(module, name))

    def find_on_stack(self, _: Any) -> None:
        name, module = self.pop(), self.pop()
        self._stack.append(self._walker.lookup(module, name))

    def extension(self, argument: Any) -> None:
        self._stack.append(self._walker.lookup("copyreg.extension", str(argument)))

    def instance(self, argument: Any) -> None:
        items = self.since_mark()
        self.find_global(argument)
        self._stack.append(self._walker.call(self.pop(), tuple(items)))

    def object(self, _: Any) -> None:
        items = self.since_mark()
        if not items:
            raise Malformed("an object without a class")
        self._stack.append(self._walker.call(items[0], tuple(items[1:])))

    def call(self, _: Any) -> None:
        arguments, target = self.pop(), self.pop()
        self._stack.append(self._walker.call(target, arguments))

    def call_with_names(self, _: Any) -> None:
        names, arguments, target = self.pop(), self.pop(), self.pop()
        self._stack.append(self._walker.call(target, (arguments, names)))

    def build(self, _: Any) -> None:
        state = self.pop()
        if isinstance(self._top(), Made):
            self._top().state = state

    def persistent(self, _: Any) -> None:
        self._stack.append(self._walker.persist(self.pop()))

    def persistent_text(self, argument: Any) -> None:
        self._stack.append(self._walker.persist(argument))

    def buffer(self, _: Any) -> None:
        self._stack.append(Raw(0))

    def _top(self) -> Any:
        if not self._stack:
            raise Malformed("its stack is empty")
        return self._stack[-1]


def _short(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray)) and len(value) > _KEPT_BYTES:
        return Raw(len(value))
    if isinstance(value, str) and len(value) > TEXT_CHARS:
        return Raw(len(value))
    if type(value) is int and value.bit_length() > _KEPT_BITS:
        return Raw(value.bit_length() // 8)
    return value


def _pairs(items: list[Any]) -> list[tuple[Any, Any]]:
    if len(items) % 2:
        raise Malformed("a key without a value")
    return list(zip(items[::2], items[1::2], strict=True))


def _extend(target: Any, items: list[Any]) -> None:
    if type(target) is list:
        target.extend(items)
    elif isinstance(target, Made):
        target.items.extend(items)
    else:
        raise Malformed("items are added to what holds none")


def _update(target: Any, pairs: list[tuple[Any, Any]]) -> None:
    if not isinstance(target, Table | Made):
        raise Malformed("keys are set in what has none")
    target.pairs.extend(pairs)


_CONSTANTS: dict[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_SMALL = frozenset({
    "BININT", "BININT1", "BININT2", "FLOAT", "BINFLOAT", "SHORT_BINSTRING", "SHORT_BINUNICODE",
})  # fmt: skip
_VALUES = frozenset({
    "INT", "LONG", "LONG1", "LONG4", "STRING", "BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8",
    "BYTEARRAY8", "UNICODE", "BINUNICODE", "BINUNICODE8",
})  # fmt: skip
_MEMO_OPCODES = frozenset({"PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE", "GET", "BINGET", "LONG_BINGET"})
_HANDLERS: dict[str, Callable[[Machine, Any], None]] = {
    "MARK": Machine.mark, "POP": Machine.drop, "POP_MARK": Machine.drop_to_mark, "DUP": Machine.double,
    "PROTO": Machine.ignore, "FRAME": Machine.ignore, "READONLY_BUFFER": Machine.ignore,
    "EMPTY_LIST": Machine.new_list, "EMPTY_DICT": Machine.new_table, "EMPTY_SET": Machine.new_set,
    "LIST": Machine.list_of, "TUPLE": Machine.tuple_of, "DICT": Machine.table_of,
    "FROZENSET": Machine.frozen_set,
    "TUPLE1": lambda machine, _: machine.short_tuple(1),
    "TUPLE2": lambda machine, _: machine.short_tuple(2),
    "TUPLE3": lambda machine, _: machine.short_tuple(3),
    "APPEND": Machine.append, "APPENDS": Machine.appends, "ADDITEMS": Machine.appends,
    "SETITEM": Machine.set_item, "SETITEMS": Machine.set_items,
    "GLOBAL": Machine.find_global, "STACK_GLOBAL": Machine.find_on_stack,
    "EXT1": Machine.extension, "EXT2": Machine.extension, "EXT4": Machine.extension,
    "INST": Machine.instance, "OBJ": Machine.object,
    "REDUCE": Machine.call, "NEWOBJ": Machine.call, "NEWOBJ_EX": Machine.call_with_names,
    "BUILD": Machine.build,
    "PERSID": Machine.persistent_text, "BINPERSID": Machine.persistent, "NEXT_BUFFER": Machine.buffer,
}  # fmt: skip
