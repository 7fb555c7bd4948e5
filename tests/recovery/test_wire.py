"""Plain data crosses a wire exactly, and nothing else crosses it at all."""

import json
import math

import pytest
import torch

from lastgood.recovery.wire import WireError, pack, same, unpack

DATA = {
    "numbers": [1, 2.5, -0.0, True, None, 2**70, float("inf")],
    "text": "naïve ✓",
    "deep": {"a": [{"b": torch.arange(6).view(2, 3).t()}, torch.tensor(1.5, dtype=torch.bfloat16)]},
    "empty": [{}, [], torch.zeros(0, 3), b""],
    "bytes": bytes(range(256)),
}


def test_plain_data_comes_back_exactly() -> None:
    back = unpack(pack(DATA))
    assert same(back, DATA)
    assert math.copysign(1, back["numbers"][2]) == -1


def test_the_same_data_gives_the_same_bytes_whatever_the_order_of_keys() -> None:
    assert pack({"a": 1, "b": torch.ones(2)}) == pack({"b": torch.ones(2), "a": 1})


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": {"b": object()}}, "data.a.b"),
        ({"a": [0, {1, 2}]}, r"data.a\[1\]"),
        ({3: 1}, "key 3"),
        ({"$tensor": "0"}, "key"),
        ({"$bytes": "0"}, "key"),
    ],
)
def test_what_is_not_plain_is_refused_by_its_path(value: object, path: str) -> None:
    with pytest.raises(WireError, match=path):
        pack(value)


@pytest.mark.parametrize("cut", [0, 4, 12, -1])
def test_cut_bytes_are_refused(cut: int) -> None:
    with pytest.raises(WireError, match="not packed plain data"):
        unpack(pack(DATA)[:cut])


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (torch.tensor([float("nan")]), torch.tensor([float("nan")]), True),
        (torch.tensor([0.0]), torch.tensor([-0.0]), False),
        (torch.ones(2), torch.ones(2, dtype=torch.float64), False),
        (torch.ones(2), torch.ones(2, 1), False),
        (1, 1.0, False),
        (True, 1, False),
        ([1, 2], (1, 2), False),
        (float("nan"), float("nan"), True),
        ({"a": [1]}, {"a": [1]}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
    ],
)
def test_equality_is_exact(a: object, b: object, equal: bool) -> None:
    assert same(a, b) is equal


def test_bytes_that_stand_in_many_places_are_unpacked_once() -> None:
    whole = pack({"x": bytes(1000)})
    size = int.from_bytes(whole[:8], "little")
    frame = json.dumps([{"$bytes": "0"}] * 3).encode()
    one, *others = unpack(len(frame).to_bytes(8, "little") + frame + whole[8 + size :])
    assert len(one) == 1000
    assert all(other is one for other in others)
