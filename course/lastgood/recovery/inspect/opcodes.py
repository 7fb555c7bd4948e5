"""What each opcode does on the machine, and how what follows it is read.

`pickletools` says how. Numbers and short texts are decoded by the walker itself, for speed: pickles consist
of little else.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from typing import Any

from lastgood.recovery.inspect.machine import Machine

Handler = Callable[[Machine, Any], None]

STOP = ord(".")
TEXT, SHORT_TEXT, OTHER = -1, -2, -3  # instead of the number of bytes of an argument
_SIZES = {
    "uint1": 1, "uint2": 2, "uint4": 4, "uint8": 8, "unicodestring4": TEXT, "unicodestring1": SHORT_TEXT,
}  # fmt: skip
_HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("BININT", "BININT1", "BININT2", "FLOAT", "BINFLOAT"), Machine.push),
    **dict.fromkeys((
        "INT", "LONG", "LONG1", "LONG4", "STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES",
        "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE",
        "BINUNICODE8",
    ), Machine.push_short),
    "NONE": lambda machine, _: machine.push(None),
    "NEWTRUE": lambda machine, _: machine.push(True),
    "NEWFALSE": lambda machine, _: machine.push(False),
    "EMPTY_TUPLE": lambda machine, _: machine.push(()),
    "GET": Machine.recall, "BINGET": Machine.recall, "LONG_BINGET": Machine.recall,
    "PUT": Machine.remember, "BINPUT": Machine.remember, "LONG_BINPUT": Machine.remember,
    "MEMOIZE": Machine.remember_next,
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


def _table() -> list[tuple[Handler, int] | None]:
    """For each opcode's byte: what to do, and how many bytes the number has that follows."""
    table: list[tuple[Handler, int] | None] = [None] * 256
    for opcode in pickletools.opcodes:
        size = _SIZES.get(opcode.arg.name, OTHER) if opcode.arg else 0
        if opcode.name in _HANDLERS:
            table[ord(opcode.code)] = _HANDLERS[opcode.name], size
    return table


TABLE = _table()
READERS: dict[int, Callable[[Any], Any]] = {
    ord(opcode.code): opcode.arg.reader for opcode in pickletools.opcodes if opcode.arg
}
