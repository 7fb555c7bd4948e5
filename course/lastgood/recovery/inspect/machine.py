"""The stack machine that a pickle drives, with stand-ins for all that would look up, call or execute."""

from __future__ import annotations

from typing import Any, Protocol

from lastgood.recovery.inspect.values import Global, Made, Raw, Table

MEMO = 600_000  # objects that are remembered
OBJECTS = 400_000  # lists, dicts, their keys, and what is called: a tensor takes up to five
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
        self._objects = 0

    def pop(self) -> Any:
        if not self._stack:
            raise Malformed("its stack is empty")
        return self._stack.pop()

    def push(self, value: Any) -> None:
        self._stack.append(value)

    def push_short(self, value: Any) -> None:
        self._stack.append(_short(value))

    def recall(self, index: int) -> None:
        self._stack.append(self._memo[index])  # of a KeyError the walker tells

    def remember(self, index: int) -> None:
        if not self._stack:
            raise Malformed("its stack is empty")
        self._memo[index] = self._stack[-1]
        if len(self._memo) > MEMO:
            raise TooMuch(f"it remembers more than {MEMO:,} objects")

    def remember_next(self, _: Any) -> None:
        self.remember(len(self._memo))

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
        self._count()
        self._stack.append([])

    def new_table(self, _: Any) -> None:
        self._count()
        self._stack.append(Table())

    def new_set(self, _: Any) -> None:
        self._count()
        self._stack.append(Made(_SET, ()))

    def list_of(self, _: Any) -> None:
        items = self.since_mark()
        self._count()
        self._stack.append(items)

    def tuple_of(self, _: Any) -> None:
        items = self.since_mark()
        self._stack.append(tuple(items))

    def table_of(self, _: Any) -> None:
        items = self.since_mark()
        self._count(1 + len(items) // 2)
        self._stack.append(Table(_pairs(items)))

    def frozen_set(self, _: Any) -> None:
        items = self.since_mark()
        self._count()
        self._stack.append(Made(_FROZENSET, (), items=items))

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
        self._count()
        _update(self._top(), [(key, value)])

    def set_items(self, _: Any) -> None:
        items = self.since_mark()
        self._count(len(items) // 2)
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
        self._call(self.pop(), tuple(items))

    def object(self, _: Any) -> None:
        items = self.since_mark()
        if not items:
            raise Malformed("an object without a class")
        self._call(items[0], tuple(items[1:]))

    def call(self, _: Any) -> None:
        arguments = self.pop()
        self._call(self.pop(), arguments)

    def call_with_names(self, _: Any) -> None:
        names, arguments, target = self.pop(), self.pop(), self.pop()
        self._call(target, (arguments, names))

    def build(self, _: Any) -> None:
        state = self.pop()
        if isinstance(self._top(), Made):
            self._top().state = state

    def persistent(self, _: Any) -> None:
        self.persistent_text(self.pop())

    def persistent_text(self, argument: Any) -> None:
        self._count()
        self._stack.append(self._walker.persist(argument))

    def buffer(self, _: Any) -> None:
        self._stack.append(Raw(0))

    def _call(self, target: Any, arguments: Any) -> None:
        self._count()
        self._stack.append(self._walker.call(target, arguments))

    def _count(self, more: int = 1) -> None:
        """Opcodes of one byte make objects of hundreds: these are limited by themselves."""
        self._objects += more
        if self._objects > OBJECTS:
            raise TooMuch(f"it makes more than {OBJECTS:,} objects")

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
    if not isinstance(target, (Table, Made)):
        raise Malformed("keys are set in what has none")
    target.pairs.extend(pairs)


_SET, _FROZENSET = Global("builtins", "set"), Global("builtins", "frozenset")
