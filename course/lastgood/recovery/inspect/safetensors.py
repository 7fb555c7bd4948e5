"""safetensors: a length, a JSON header that says where each tensor lies, and the tensors.

Only the header is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

from lastgood.recovery.inspect.opening import InspectError, plain
from lastgood.recovery.inspect.part import Part
from lastgood.recovery.inspect.values import ITEMSIZES, Table, Tensor, numel

HEADER_BYTES = 13 << 20  # the format allows 100 MB; that of some 130,000 tensors has this length
JSON_BYTES = 16 << 20
# Of 16 MiB of `{},{},…` json makes a gigabyte: what takes most is counted before it is parsed.
_MOST = {b"{": 250_000, b"[": 500_000, b":": 600_000, b",": 2_000_000}
_DTYPES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32",
    "I16": "int16", "I8": "int8", "U8": "uint8", "U16": "uint16", "U32": "uint32", "U64": "uint64",
    "BOOL": "bool", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "C64": "complex64",
    "F8_E8M0": "float8_e8m0fnu",
}  # fmt: skip
_Pairs = list[tuple[str, Any]]
_FETCH = "Fetch it again, or use an earlier checkpoint."


def parse_json(data: bytes, path: Path, what: str, hook: Callable[[_Pairs], Any] = Table) -> Any:
    """JSON with each object as a Table, or as `hook` has it. Raises InspectError."""
    for sign, most in _MOST.items():
        if data.count(sign) > most:
            cause = f"its {what} is JSON with more than {most:,} times {sign.decode()!r}"
            raise InspectError(path, cause, "Headers and indices of some 130,000 tensors are read.")
    try:
        return json.loads(data, object_pairs_hook=hook)
    except (ValueError, RecursionError, MemoryError) as error:
        cause = f"its {what} is not JSON ({plain(str(error), 80)})"
        raise InspectError(path, cause, _FETCH) from None


def read_json(file: BinaryIO, size: int, path: Path) -> Any:
    """A whole JSON file. Raises InspectError."""
    if size > JSON_BYTES:
        raise InspectError(path, f"JSON of {size:,} bytes", f"At most {JSON_BYTES >> 20} MiB are read.")
    return parse_json(file.read(JSON_BYTES), path, "content")


def read_safetensors(file: BinaryIO, size: int, path: Path) -> Part:
    """Describe a safetensors file. Raises InspectError."""
    length = int.from_bytes(file.read(8), "little")
    if length > size - 8:
        cause = f"its header claims {length:,} bytes, the file has {size:,}: cut short or damaged"
        raise InspectError(path, cause, _FETCH)
    if length > HEADER_BYTES:
        cause = f"its header has {length:,} bytes"
        raise InspectError(path, cause, f"At most {HEADER_BYTES >> 20} MiB are read.")
    header = parse_json(file.read(length), path, "header", _entry)
    if not isinstance(header, Table):
        raise InspectError(path, "its header is not an object", _FETCH)
    pairs, ends, odd = [], [(0, 0)], []
    for name, entry in header.pairs:
        if name == "__metadata__":
            continue
        if isinstance(entry, tuple):
            pairs.append((name, entry[0]))
            ends.append(entry[1])
        else:
            odd.append(str(name))
    part = Part(path, "safetensors", size, Table(pairs))
    part.faults += _faults(ends, size - 8 - length, odd)
    return part


def _entry(pairs: _Pairs) -> tuple[Tensor, tuple[int, int]] | Table:
    """A tensor and where it lies, made as soon as its entry is parsed, which takes far more memory."""
    fields = dict(pairs)
    dtype: Any = fields.get("dtype")
    shape: Any = fields.get("shape")
    span: Any = fields.get("data_offsets")
    name = _DTYPES.get(dtype) if type(dtype) is str else None
    if name is None or not _numbers(shape) or not _numbers(span) or len(span) != 2 or len(shape) > 64:
        return Table(pairs)
    claimed = numel(shape) * ITEMSIZES[name]
    if span[1] - span[0] != claimed:
        return Table(pairs)
    return Tensor(name, tuple(shape), claimed), (span[0], span[1])


def _numbers(value: Any) -> bool:
    if type(value) is not list:
        return False
    return not [item for item in value if type(item) is not int or not 0 <= item < 2**62]


def _faults(spans: list[tuple[int, int]], room: int, odd: list[str]) -> list[str]:
    faults = []
    if odd:
        faults.append(f"{len(odd)} entries of the header make no sense, the first is {plain(odd[0], 60)}")
    last = max(end for _, end in spans)
    if last > room:
        faults.append(f"cut short: its tensors need {last:,} bytes, the file has {room:,}")
    elif last < room and not odd:
        faults.append(f"{room - last:,} bytes follow the last tensor: added to, or damaged")
    ordered = sorted(spans)
    if any(later[0] < earlier[1] for earlier, later in pairwise(ordered)):
        faults.append("its tensors lie on top of each other")
    return faults
