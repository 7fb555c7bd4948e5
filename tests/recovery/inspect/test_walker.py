"""The walker reads plain values as pickle does, and leaves stand-ins for the rest."""

import pickle
from collections import OrderedDict
from pathlib import Path
from types import SimpleNamespace

import pytest

from lastgood.recovery.inspect.opening import plain
from lastgood.recovery.inspect.tensors import TorchWalker
from lastgood.recovery.inspect.values import Global, Made, Raw, Table
from lastgood.recovery.inspect.walker import Walker, read_bytes

SHARED = [1, 2]
VALUES = [
    None, True, False, 0, 255, 256, 65536, -1, -(2**31), 2**40, 2**100, 0.5, "", "text", "ä€𝄞", b"", b"bytes",
    (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [], [1], list(range(2000)), {}, {"a": 1}, {1: {2: [3, (4,)]}},
    {str(key): key for key in range(2000)}, [SHARED, SHARED], "long" * 100,
]  # fmt: skip


def as_plain(value):
    if isinstance(value, Table):
        return {key: as_plain(item) for key, item in value.pairs}
    if isinstance(value, list | tuple):
        return type(value)(map(as_plain, value))
    if isinstance(value, Made) and value.named() == "_codecs.encode":  # how protocols 0 to 2 write bytes
        return value.args[0].encode(value.args[1])
    if isinstance(value, Made) and value.named() == "__builtin__.bytes":
        return b""
    return value


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_values_are_read_as_pickle_reads_them(protocol):
    for value in [*VALUES, VALUES]:
        read = as_plain(read_bytes(pickle.dumps(value, protocol), Walker(), Path("x")))
        assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_an_object_is_its_class_by_name_and_its_state(protocol):
    walker = Walker()
    made = read_bytes(pickle.dumps(SimpleNamespace(cause="b"), protocol), walker, Path("x"))
    assert isinstance(made, Made)
    assert made.named() == "types.SimpleNamespace"
    assert made.state.get("cause") == "b"
    assert "types.SimpleNamespace" in walker.globals


def test_an_ordered_dict_is_a_table():
    value = OrderedDict(a=1, b=OrderedDict())
    assert as_plain(read_bytes(pickle.dumps(value), TorchWalker(), Path("x"))) == {"a": 1, "b": {}}


def test_of_long_bytes_and_numbers_only_the_length_is_kept():
    kept = read_bytes(pickle.dumps([b"x" * 5000, 2**4000], 4), Walker(), Path("x"))
    assert [(type(item), item.size) for item in kept] == [(Raw, 5000), (Raw, 500)]


def test_sets_old_classes_and_extensions_leave_stand_ins():
    old = b"(K\x01i__main__\nOld\n.", b"(c__main__\nOld\nK\x01o."
    for data in (*old, b"\x80\x04\x8f(K\x01\x90.", b"\x82\x07."):
        value = read_bytes(data, Walker(), Path("x"))
        assert isinstance(value, Made | Global)


def test_a_second_pickle_in_the_same_bytes_is_not_read():
    assert read_bytes(b"\x80\x04K\x01.cos\nsystem\n.", Walker(), Path("x")) == 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [("ä", "ä"), ("\x1b[2J", "\\x1b[2J"), ("a" * 500, "a" * 160 + "…"), ("\udc80\n", "\\udc80\\n")],
)
def test_text_is_shown_without_what_moves_the_cursor(text, shown):
    assert plain(text) == shown


def test_the_window_stops_where_too_much_is_asked_for():
    from lastgood.recovery.inspect.walker import TooMuch, Window

    window = Window(bytes(100))
    assert len(window.read(50)) == window.at == 50
    with pytest.raises(TooMuch, match="one value claims 16,777,217 bytes"):
        window.read((16 << 20) + 1)


@pytest.mark.parametrize("text", [rb"a\q", rb"\8"])
def test_an_odd_escape_in_a_string_warns_nobody(text):
    assert read_bytes(b"S'" + text + b"'\n.", Walker(), Path("x")) == text.decode()
