"""torch.save's two formats: a zip archive with `data.pkl` and one entry a storage, and the older stream.

Of a storage only its size is looked at: in the archive's directory, or in the eight bytes before it.
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

from lastgood.recovery.inspect.opening import InspectError, plain
from lastgood.recovery.inspect.part import Part
from lastgood.recovery.inspect.tensors import TorchWalker
from lastgood.recovery.inspect.values import ITEMSIZES
from lastgood.recovery.inspect.walker import PICKLE_BYTES, Window, read_bytes, read_window

USE_EARLIER = "Use an earlier checkpoint."
LEGACY_MAGIC = 0x1950A86A20F9469CFC6C  # torch/serialization.py
_DIRECTORY_BYTES = 8 << 20  # of a zip archive: some 80,000 entries
_BAD_ZIP: tuple[type[Exception], ...] = (
    zipfile.BadZipFile, NotImplementedError, struct.error, zlib.error, EOFError, ValueError, OSError,
    RuntimeError, LookupError, OverflowError, MemoryError, AttributeError, TypeError,
)  # fmt: skip


class _Bounded(io.BufferedIOBase):
    """A file from which nothing of more than the limit is read at once: a directory can claim any size."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0 or size > _DIRECTORY_BYTES:
            here = self._file.tell()
            left = self._file.seek(0, os.SEEK_END) - here
            self._file.seek(here)
            if left > _DIRECTORY_BYTES:
                raise ValueError(f"its directory is longer than {_DIRECTORY_BYTES >> 20} MiB")
            size = left
        return self._file.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


def read_zip(
    file: BinaryIO, size: int, path: Path, most: int = PICKLE_BYTES, walker: TorchWalker | None = None
) -> Part:
    """Describe an archive of torch.save whose pickle has `most` bytes at most. Raises InspectError."""
    try:
        with zipfile.ZipFile(_Bounded(file)) as archive:
            listed = archive.infolist()
            inner = [info for info in listed if info.filename.rpartition("/")[2] == "data.pkl"]
            if not inner:
                raise InspectError(path, _other_archive(listed), "Pass a file that torch.save wrote.")
            data = _data(archive, inner[0], most, path)
    except InspectError:
        raise
    except _BAD_ZIP as error:
        cause = f"begins as a zip archive and cannot be read as one: cut short or damaged ({_brief(error)})"
        raise InspectError(path, cause, USE_EARLIER) from None
    walker = walker or TorchWalker()
    value = read_bytes(data, walker, path)
    root = inner[0].filename.removesuffix("data.pkl")
    part = Part(path, "torch.save, zip", size, value, list(walker.globals.values()))
    part.script = any(info.filename.startswith(f"{root}code/") for info in listed)
    part.faults += _zip_faults(listed, size)
    found = {info.filename: info.file_size for info in listed}
    part.faults += _storage_faults(walker, {key: found.get(f"{root}data/{key}") for key in walker.storages})
    return part


def _data(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int, path: Path) -> bytes:
    """The bytes of `data.pkl`, no more than it may have."""
    claimed = max(info.file_size, info.compress_size)
    if claimed > most:
        cause = f"its data.pkl claims {claimed:,} bytes"
        raise InspectError(path, cause, f"At most {most:,} are read.")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InspectError(path, "its data.pkl is packed in a way torch never uses", "Do not load it.")
    with archive.open(info) as entry:
        return entry.read(most)


def _other_archive(listed: list[zipfile.ZipInfo]) -> str:
    names = [info.filename for info in listed]
    if names and all(name.endswith(".npy") for name in names):
        return f"NumPy's .npz, {len(names)} arrays, not a checkpoint of torch"
    shown = ", ".join(plain(name, 40) for name in names[:3])
    return f"a zip archive without data.pkl, so not of torch.save ({len(names)} entries: {shown or 'none'})"


def _zip_faults(listed: list[zipfile.ZipInfo], size: int) -> list[str]:
    """What the directory claims that the file cannot hold."""
    beyond = [info for info in listed if info.header_offset + info.compress_size > size]
    if beyond:
        return [f"{len(beyond)} entries reach beyond the end of the file, the first is {_named(beyond[0])}"]
    if sum(info.compress_size for info in listed) > size:
        return ["its entries lie on top of each other: together they claim more bytes than the file has"]
    storages = [info for info in listed if "/data/" in info.filename]
    packed = [info for info in storages if info.compress_type != zipfile.ZIP_STORED]
    if packed:
        return [f"{len(packed)} storages are compressed, which torch.save never does: {_named(packed[0])}"]
    return []


def _named(info: zipfile.ZipInfo) -> str:
    return plain(info.filename, 60)


def _storage_faults(walker: TorchWalker, bytes_of: dict[str, int | None]) -> list[str]:
    """Where the pickle speaks of bytes that are not there."""
    faults = []
    absent = [key for key, found in bytes_of.items() if found is None]
    if absent:
        faults.append(f"{len(absent)} storages are not in the file, the first is {plain(absent[0], 40)}")
    short = [
        storage
        for key, storage in walker.storages.items()
        if (found := bytes_of[key]) is not None and found < storage.bytes
    ]
    if short:
        claim = f"{plain(short[0].key, 40)} has {bytes_of[short[0].key]:,} of {short[0].bytes:,} bytes"
        faults.append(f"{len(short)} storages are shorter than their tensors need: {claim}")
    beyond = [
        tensor
        for tensor in walker.tensors
        if tensor.storage and tensor.reach * ITEMSIZES[tensor.dtype] > tensor.storage.bytes
    ]
    if beyond:
        faults.append(f"{len(beyond)} tensors reach beyond their storages")
    return faults


def read_stream(file: BinaryIO, size: int, path: Path) -> Part:
    """Describe the older format, or a plain pickle. Raises InspectError.

    The older format is a row of pickles (a magic number, the protocol, the system, the value, the keys of the
    storages), and then each storage: its number of elements in eight bytes, and the elements.
    """
    walker, window = TorchWalker(), Window(file.read(PICKLE_BYTES))
    first = read_window(window, walker, path)
    if type(first) is not int or first != LEGACY_MAGIC:
        part = Part(path, "pickle", size, first, list(walker.globals.values()))
        if walker.storages:
            part.faults.append("it speaks of storages that a plain pickle does not hold")
        return part
    for _ in ("protocol", "system"):
        read_window(window, walker, path)
    value = read_window(window, walker, path)
    keys = read_window(window, walker, path)
    part = Part(path, "torch.save, legacy", size, value, list(walker.globals.values()))
    part.faults += _storage_faults(walker, _stream_storages(file, size, window.at, keys, walker))
    return part


def _stream_storages(
    file: BinaryIO, size: int, at: int, keys: Any, walker: TorchWalker
) -> dict[str, int | None]:
    """Bytes that each storage has in the stream: None from where it breaks off."""
    found: dict[str, int | None] = dict.fromkeys(walker.storages)
    for key in keys if isinstance(keys, list) else []:
        storage = walker.storages.get(key) if type(key) is str else None
        file.seek(at)
        head = file.read(8)
        if storage is None or len(head) < 8:
            break
        held = int.from_bytes(head, "little") * storage.itemsize
        found[storage.key] = min(held, size - at - 8)
        at += 8 + held
        if at > size:
            break
    return found


def _brief(error: Exception) -> str:
    return plain(str(error), 80) or type(error).__name__
