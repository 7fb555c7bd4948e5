"""One file: recognised by its first bytes, never by its name, and described."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from lastgood.recovery.inspect.opening import InspectError, open_regular
from lastgood.recovery.inspect.part import Part
from lastgood.recovery.inspect.safetensors import read_json, read_safetensors
from lastgood.recovery.inspect.torchfile import read_stream, read_zip

_OTHERS = {
    b"\x89HDF": "HDF5, as Keras writes it",
    b"GGUF": "GGUF, weights for inference",
    b"\x93NUMPY": "one array of NumPy",
    b"\x1f\x8b": "packed with gzip",
    b"BZh": "packed with bzip2",
    b"\xfd7zXZ": "packed with xz",
    b"\x28\xb5\x2f\xfd": "packed with zstd",
    b"\x7fELF": "a program",
    b"version https://git-lfs": "a pointer of Git LFS: the file itself was never fetched",
}
_KINDS_READ = "This command reads what torch.save, pickle and safetensors write."
_OLD_PICKLES = b"(]}cNIKJMGFSVUXl)"  # how a pickle without a protocol's number can begin
_TAR_MAGIC_AT = 257


def read_part(path: Path) -> Part:
    """Describe the file at `path`. Raises InspectError."""
    file, size = open_regular(path)
    with file:
        head = file.read(512)
        file.seek(0)
        part = _read(file, head, size, path)
    part.name = path.name
    return part


def _read(file: BinaryIO, head: bytes, size: int, path: Path) -> Part:
    if not size:
        raise InspectError(path, "empty: 0 bytes", "Use an earlier checkpoint.")
    if not head.strip(b"\0") and size >= len(head):
        raise InspectError(path, "begins with nothing but zeros: never written down", "Use an earlier one.")
    for magic, what in _OTHERS.items():
        if head.startswith(magic):
            raise InspectError(path, f"{what}, not a checkpoint of torch", _KINDS_READ)
    if head[_TAR_MAGIC_AT : _TAR_MAGIC_AT + 5] == b"ustar":
        raise InspectError(path, "a tar archive", "Unpack it in a folder of its own, and pass that.")
    if head.startswith(b"PK"):
        return read_zip(file, size, path)
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 1 << 40:
        return read_safetensors(file, size, path)
    if head.lstrip().startswith(b"{"):
        return Part(path, "JSON", size, read_json(file, size, path))
    if head[0] == 0x80 or head[0] in _OLD_PICKLES:
        return read_stream(file, size, path)
    raise InspectError(path, "of an unknown format, by its first bytes", _KINDS_READ)
