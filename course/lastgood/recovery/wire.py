"""Plain data over a wire: nested dicts and lists of numbers, strings, booleans, None, bytes and tensors.

The frame is JSON, with a placeholder where bytes or a tensor stand; the tensors follow as one safetensors
block. Nothing in it can be executed, which is the point: whoever reads it need not trust whoever wrote it.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

_TENSOR, _BYTES = "$tensor", "$bytes"
_HEAD = struct.Struct("<Q")


class WireError(ValueError):
    """Data that cannot be sent, or bytes that are not such data."""


def pack(data: Any) -> bytes:
    """Bytes of plain data. The same data gives the same bytes.

    Raises WireError naming the path of the first value that is not plain, such as `state.loader.rng`.
    """
    tensors: dict[str, Tensor] = {}
    frame = json.dumps(_encode(data, "data", tensors), ensure_ascii=False, sort_keys=True).encode()
    return _HEAD.pack(len(frame)) + frame + (save_tensors(tensors) if tensors else b"")


def unpack(blob: bytes) -> Any:
    """The data that `pack` wrote. Raises WireError for anything else."""
    try:
        (size,) = _HEAD.unpack_from(blob)
        frame, rest = blob[_HEAD.size : _HEAD.size + size], blob[_HEAD.size + size :]
        return _decode(json.loads(frame), load_tensors(rest) if rest else {}, {})
    except Exception as error:  # safetensors raises its own kinds for damaged bytes
        raise WireError(f"these {len(blob)} bytes are not packed plain data: {error}") from error


def _encode(value: Any, path: str, tensors: dict[str, Tensor]) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Tensor() | bytes():
            name = str(len(tensors))
            if isinstance(value, bytes):
                tensors[name] = torch.tensor(bytearray(value), dtype=torch.uint8)
                return {_BYTES: name}
            tensors[name] = value.detach().cpu().contiguous().clone()
            return {_TENSOR: name}
        case dict():
            for key in value:
                if not isinstance(key, str) or key in (_TENSOR, _BYTES):
                    raise WireError(f"{path}: the key {key!r} is not a plain string")
            return {key: _encode(item, f"{path}.{key}", tensors) for key, item in value.items()}
        case list() | tuple():
            return [_encode(item, f"{path}[{i}]", tensors) for i, item in enumerate(value)]
        case _:
            raise WireError(f"{path}: a {type(value).__name__} is not plain data")


def _decode(value: Any, tensors: dict[str, Tensor], known: dict[str, bytes]) -> Any:
    match value:
        case {"$tensor": name}:
            return tensors[name]
        case {"$bytes": name}:
            if name not in known:  # once, in however many places it stands
                known[name] = tensors[name].numpy().tobytes()
            return known[name]
        case dict():
            return {key: _decode(item, tensors, known) for key, item in value.items()}
        case list():
            return [_decode(item, tensors, known) for item in value]
        case _:
            return value


def same(a: Any, b: Any) -> bool:
    """Exact equality of plain data: values, shapes, dtypes; NaN equals NaN, and 1 does not equal 1.0."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        a, b = a.detach().cpu().contiguous(), b.detach().cpu().contiguous()
        # Bit for bit: torch.equal takes -0.0 for 0.0 and finds NaN different from itself.
        return torch.equal(a.view(-1).view(torch.uint8), b.view(-1).view(torch.uint8))
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b or (a != a and b != b))
