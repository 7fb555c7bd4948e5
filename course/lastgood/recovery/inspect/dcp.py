"""A folder of torch.distributed.checkpoint: `.metadata` says what there is, `*.distcp` files hold it.

`.metadata` is a pickle, and is written last, by rename. Tensors are described by it alone. Numbers and dicts
lie in the data files as small archives of torch.save, and those are read.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from lastgood.recovery.inspect.opening import InspectError, open_regular, plain
from lastgood.recovery.inspect.part import Part
from lastgood.recovery.inspect.tensors import TorchWalker, dtype_of
from lastgood.recovery.inspect.torchfile import read_zip
from lastgood.recovery.inspect.values import ITEMSIZES, Made, Table, Tensor, numel
from lastgood.recovery.inspect.walker import read_file

METADATA = ".metadata"
DATA = ".distcp"
_BLOB_BYTES = 1 << 20  # of one entry that is no tensor
_BLOBS = 2_000  # entries, and together no more than:
_BLOBS_BYTES = 16 << 20


def read_folder(folder: Path) -> Part:
    """Describe a folder with `.metadata`. Raises InspectError."""
    path = folder / METADATA
    file, size = open_regular(path)
    walker = TorchWalker()
    with file:
        metadata = read_file(file, walker, path)
    fields = metadata.state if isinstance(metadata, Made) else None
    described = fields.get("state_dict_metadata") if isinstance(fields, Table) else None
    if not isinstance(fields, Table) or not isinstance(described, Table):
        raise InspectError(path, "a pickle, but not of torch.distributed.checkpoint", "Save again.")
    places = _places(fields.get("storage_data"))
    part = Part(path, "torch.distributed.checkpoint", size, Table(), list(walker.globals.values()))
    sizes = _check(part, folder, places)
    blobs = _Blobs(folder, places, sizes, part)
    paths = _paths(fields.get("planner_data"))
    tables: dict[tuple[str, ...], Table] = {(): part.value}
    for name, entry in described.pairs:
        if type(name) is str:
            _place(tables, paths.get(name, (name,)), _value(entry, name, blobs))
    part.size += sum(sizes.values())
    return part


def _value(entry: Any, name: str, blobs: _Blobs) -> Any:
    """The stand-in of one entry: a tensor, or what its archive holds."""
    state = entry.state if isinstance(entry, Made) else None
    if not isinstance(entry, Made) or "TensorStorage" not in entry.named():
        return blobs.read(name)
    if not isinstance(state, Table):
        return None
    properties, shape = state.get("properties"), state.get("size")
    inner = properties.state if isinstance(properties, Made) else None
    if isinstance(inner, Table):
        dtype = dtype_of(inner.get("dtype"))
    else:
        dtype = dtype_of(inner[0]) if isinstance(inner, tuple) and inner else ""
    sizes = shape if isinstance(shape, tuple) and all(type(size) is int for size in shape) else ()
    if not dtype:
        return None
    return Tensor(dtype, sizes, numel(sizes) * ITEMSIZES[dtype])


def _places(storage: Any) -> list[tuple[str, str, int, int]]:
    """Entry, file, offset and length, for each piece."""
    found = []
    for index, info in storage.pairs if isinstance(storage, Table) else []:
        names = index.state if isinstance(index, Made) else None
        where = info.state if isinstance(info, Made) else None
        if isinstance(names, Table) and isinstance(where, Table):
            row = names.get("fqn"), where.get("relative_path"), where.get("offset"), where.get("length")
            if type(row[0]) is str and type(row[1]) is str and type(row[2]) is int and type(row[3]) is int:
                found.append((row[0], row[1], row[2], row[3]))
    return found


def _check(part: Part, folder: Path, places: list[tuple[str, str, int, int]]) -> dict[str, int]:
    """Note what data files lack; return the sizes of those that are there."""
    ends: dict[str, int] = {}
    for _, name, offset, length in places:
        ends[name] = max(ends.get(name, 0), offset + length)
    sizes: dict[str, int] = {}
    for name, end in ends.items():
        if "/" in name or name in ("", ".", ".."):
            part.faults.append(f"its data would lie outside the folder, in {plain(name, 60)}: not looked at")
            continue
        try:
            file, sizes[name] = open_regular(folder / name)
            file.close()
        except InspectError as error:
            part.faults.append(f"{plain(name, 60)} {error.cause}")
            continue
        if sizes[name] < end:
            part.faults.append(f"{plain(name, 60)} is cut short: {sizes[name]:,} of {end:,} bytes")
    if not places:
        part.faults.append("its .metadata says of no entry where it lies")
    return sizes


class _Blobs:
    """The entries that are no tensors, read from the data files."""

    def __init__(self, folder: Path, places: list[tuple[str, str, int, int]], sizes: dict[str, int],
                 part: Part) -> None:  # fmt: skip
        self._folder, self._sizes, self._part = folder, sizes, part
        self._places = {name: (file, offset, length) for name, file, offset, length in places}
        self._count, self._bytes, self._opcodes = 0, 0, 0

    def read(self, name: str) -> Any:
        """The value of an entry, None where it is too long or cannot be read."""
        file, offset, length = self._places.get(name, ("", 0, 0))
        self._count, self._bytes = self._count + 1, self._bytes + length
        fits = file in self._sizes and 0 < length <= _BLOB_BYTES and 0 <= offset <= self._sizes[file] - length
        if not fits or self._count > _BLOBS or self._bytes > _BLOBS_BYTES:
            return None
        path, walker = self._folder / file, TorchWalker()
        walker.opcodes = self._opcodes  # all entries together are as long as one pickle may be
        try:
            opened, _ = open_regular(path)
            with opened:
                opened.seek(offset)
                data = opened.read(length)
            inner = read_zip(io.BytesIO(data), length, path, most=length, walker=walker)
        except InspectError as error:
            self._part.faults.append(f"the entry {plain(name, 60)} in {plain(file, 60)}: {error.cause}")
            return None
        finally:
            self._opcodes = walker.opcodes
        self._part.globals += inner.globals
        return inner.value


def _paths(planned: Any) -> dict[str, tuple[str, ...]]:
    """Where each entry stood in the nested dict that was saved."""
    return {
        name: tuple(map(str, path))
        for name, path in (planned.pairs if isinstance(planned, Table) else [])
        if type(name) is str and isinstance(path, tuple) and 0 < len(path) < 20
        and all(type(key) in (str, int) for key in path)
    }  # fmt: skip


def _place(tables: dict[tuple[str, ...], Table], path: tuple[str, ...], value: Any) -> None:
    """Put a value where it stood. `tables` are all that there are, by their paths: an optimizer has many."""
    table = tables[()]
    for depth in range(1, len(path)):
        below = tables.get(path[:depth])
        if below is None:
            below = tables[path[:depth]] = Table()
            table.pairs.append((path[depth - 1], below))
        table = below
    table.pairs.append((path[-1], value))
