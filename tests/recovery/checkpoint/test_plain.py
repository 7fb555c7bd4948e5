"""What cannot be loaded safely is refused when it is saved, and named; all else comes back, copied or not."""

from __future__ import annotations

import copy
import io
import random
from collections import OrderedDict, defaultdict, namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from lastgood.recovery.checkpoint.manifest import CheckpointError
from lastgood.recovery.checkpoint.plain import snapshot, to_plain

PATH = Path("step-00000001")
Pair = namedtuple("Pair", "a b")


class Step(int):
    pass


class Mine:
    pass


class Masked(torch.Tensor):
    pass


def around(state: dict[str, Any]) -> Any:
    """Save what `to_plain` lets through and load it as a checkpoint is loaded."""
    file = io.BytesIO()
    torch.save(to_plain(state, PATH), file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def random_state(rng: random.Random, depth: int) -> Any:
    kinds = ["int", "float", "text", "constant", "tensor"] + ["dict", "list", "tuple"] * (depth > 0)
    kind = rng.choice(kinds)
    if kind == "dict":
        keys = [rng.choice([rng.randint(-9, 9), f"k{rng.random()}"]) for _ in range(rng.randint(0, 4))]
        return {key: random_state(rng, depth - 1) for key in keys}
    if kind in ("list", "tuple"):
        items = [random_state(rng, depth - 1) for _ in range(rng.randint(0, 4))]
        return items if kind == "list" else tuple(items)
    return {
        "int": rng.choice([-1, 1]) * rng.getrandbits(rng.choice([1, 8, 16, 31, 32, 64, 128, 2039])),
        "float": rng.choice([0.0, -0.0, 1e-320, float("inf"), rng.random()]),
        "text": rng.choice(["", "über", "\ud800", "x" * 300]),
        "constant": rng.choice([None, True, False]),
        "tensor": torch.zeros(rng.randint(0, 3), rng.randint(0, 3)).tolist(),
    }[kind]


@pytest.mark.parametrize("seed", range(20))
def test_all_that_is_let_through_comes_back(seed: int) -> None:
    rng = random.Random(seed)
    state = {str(index): random_state(rng, depth=4) for index in range(20)}
    assert repr(around(state)) == repr(state)


DTYPES = """bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 bfloat16 float16 float32 float64
complex64 complex128 float8_e4m3fn float8_e5m2"""


@pytest.mark.parametrize("name", DTYPES.split())
def test_a_tensor_of_each_dtype_comes_back(name: str) -> None:
    dtype = getattr(torch, name)
    data = torch.arange(32, dtype=torch.uint8) % 2 if name == "bool" else torch.arange(32, dtype=torch.uint8)
    back = around({"x": data.view(dtype)})["x"]
    assert back.dtype == dtype
    assert torch.equal(back.view(torch.uint8), data)


def test_values_that_are_not_numbers_come_back() -> None:
    assert around({"x": float("nan")})["x"] != around({"x": float("nan")})["x"]


def test_tensors_that_share_memory_still_do() -> None:
    weight = torch.nn.Parameter(torch.zeros(3))
    back = around({"embedding": weight, "head": weight, "row": weight[:1]})
    back["embedding"][0] = 1
    assert back["head"][0] == back["row"][0] == 1


def test_the_ordered_dict_of_a_model_comes_back_as_a_dict_that_it_loads() -> None:
    model = torch.nn.Linear(2, 2)
    back = around({"model": model.state_dict()})
    assert type(back["model"]) is dict
    model.load_state_dict(back["model"])


def test_parameters_and_what_hangs_on_them_become_plain_tensors() -> None:
    weight = torch.nn.Parameter(torch.ones(2))
    weight.note = Mine()  # type: ignore[attr-defined]
    weight.register_hook(lambda gradient: gradient)  # type: ignore[no-untyped-call]
    back = around({"w": weight, "graph": weight * 2})
    assert type(back["w"]) is torch.Tensor
    assert not back["graph"].requires_grad
    assert weight.requires_grad


@pytest.mark.parametrize(
    ("value", "kind", "remedy"),
    [
        (np.zeros(2), "numpy.ndarray", "torch.from_numpy"),
        (np.float64(1), "numpy.float64", "item()"),
        (np.random.default_rng(0), "numpy.random._generator.Generator", "plain data"),
        (b"", "bytes", "uint8"),
        ({1}, "set", "plain data"),
        (1 + 2j, "complex", "plain data"),
        (Pair(1, 2), f"{__name__}.Pair", "plain data"),
        (defaultdict(int), "collections.defaultdict", "plain data"),
        (Step(1), f"{__name__}.Step", "plain data"),
        (Mine(), f"{__name__}.Mine", "plain data"),
        (print, "builtin_function_or_method", "plain data"),
        (torch.nn.Linear(1, 1), "torch.nn.modules.linear.Linear", "state_dict()"),
        (torch.float32, "torch.dtype", "plain data"),
        (torch.Size([1]), "torch.Size", "plain data"),
        (torch.zeros(1).as_subclass(Masked), f"{__name__}.Masked", "plain data"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_loading_would_refuse_is_named_with_its_place(value: Any, kind: str, remedy: str) -> None:
    with pytest.raises(CheckpointError) as caught:
        to_plain({"rng": {3: [0, (value,)]}}, PATH)
    assert caught.value.path == PATH
    assert caught.value.cause == f"state['rng'][3][1][0] is a {kind}, which loading would refuse"
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    "make",
    [lambda: torch.empty(2, device="meta"), lambda: torch.eye(2).to_sparse()],
    ids=["meta", "sparse"],
)
def test_tensors_without_plain_values_are_refused(make: Any) -> None:
    with pytest.raises(CheckpointError, match=r"state\['x'\] is a sparse, quantized, nested or meta tensor"):
        to_plain({"x": make()}, PATH)


@pytest.mark.parametrize("key", [1.5, None, True, (1, 2)])
def test_keys_that_are_neither_text_nor_count_are_refused(key: Any) -> None:
    with pytest.raises(CheckpointError, match=r"state\['x'\] has the key .*\. Use str or int keys"):
        to_plain({"x": {key: 1}}, PATH)


def test_an_integer_too_long_for_safe_loading_is_refused() -> None:
    with pytest.raises(CheckpointError, match=r"state\['x'\] is an int of 2040 bits"):
        to_plain({"x": -(2**2039)}, PATH)


@pytest.mark.parametrize("state", [[1], None, OrderedDict({1: 2}), defaultdict(int)])
def test_a_state_that_is_no_dict_with_text_keys_is_refused(state: Any) -> None:
    with pytest.raises(CheckpointError, match=r"the state (is a|has the key)"):
        to_plain(state, PATH)


def test_a_state_that_contains_itself_is_refused() -> None:
    state: dict[str, Any] = {}
    state["me"] = state
    with pytest.raises(CheckpointError, match="contains itself"):
        to_plain(state, PATH)


def test_a_snapshot_shares_memory_inside_and_none_outside() -> None:
    base = torch.arange(12.0)
    names = ("whole", "part", "turned", "half", "parameter", "empty", "bits", "lazy", "negative")
    tensors = (
        base,
        base[3:7],
        base.view(3, 4).T,
        torch.ones(2, dtype=torch.bfloat16),
        torch.nn.Parameter(torch.ones(3)),
        torch.zeros(0, 5),
        torch.arange(4).to(torch.uint8).view(torch.float8_e4m3fn),
        torch.tensor([1 + 2j]).conj(),
        torch.tensor([1 + 2j]).conj().imag,
    )
    plain = to_plain({"t": dict(zip(names, tensors, strict=True)), "more": [1, ("a", None)]}, PATH)
    before = copy.deepcopy(plain)
    copied = snapshot(plain)
    for tensor in plain["t"].values():
        tensor.view(torch.uint8).zero_() if tensor.dtype.itemsize == 1 else tensor.zero_()
    assert copied["more"] == [1, ("a", None)]
    for name, expected in before["t"].items():
        found = copied["t"][name]
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert repr(found) == repr(expected)
        assert not found.requires_grad
    storages = {name: copied["t"][name].untyped_storage().data_ptr() for name in names}
    assert storages["whole"] == storages["part"] == storages["turned"] != storages["half"]
    assert copied["t"]["turned"].stride() == (1, 4)
