"""The two files of one checkpoint: written down to the disk, and read only once they are verified."""

from __future__ import annotations

import errno
import functools
import hashlib
import importlib.metadata
import io
import os
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from lastgood.recovery.checkpoint.manifest import (
    FORMAT,
    MANIFEST_FILE,
    STATE_FILE,
    USE_EARLIER,
    CheckpointError,
    FileRecord,
    Manifest,
    decode,
    encode,
)
from lastgood.recovery.disk import sync_folder

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_LIBRARIES = ("torch", "numpy", "lastgood")
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_files(folder: Path, plain: dict[str, Any], step: int) -> Manifest:
    """Write the files of a checkpoint into the new `folder`, down to the disk.

    Raises OSError, RuntimeError (torch's wrapping of an OSError), CheckpointError if it cannot be read back.
    """
    with _HashingFile(folder / STATE_FILE) as file:
        torch.save(plain, file)
        record = file.sync()
    load(folder / STATE_FILE, folder / STATE_FILE, mmap=True)  # else unreadable ones could push out good ones
    manifest = Manifest(FORMAT, step, {STATE_FILE: record}, _versions())
    with _HashingFile(folder / MANIFEST_FILE) as file:
        file.write(encode(manifest))
        file.sync()
    sync_folder(folder)
    return manifest


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of the checkpoint at `folder`. Raises CheckpointError."""
    path = folder / MANIFEST_FILE
    try:
        if not os.listdir(folder):
            raise CheckpointError(folder, "an empty folder", USE_EARLIER)
        with _open(path) as file:
            return decode(file.read(), path)
    except OSError as error:
        raise unreadable(path if folder.is_dir() else folder, error) from error


def open_verified(path: Path, record: FileRecord) -> io.BufferedReader:
    """Open the file at `path` once its size and SHA-256 are those of `record`. Raises CheckpointError."""
    try:
        file = _open(path)
        try:
            _compare(file, path, record)
        except BaseException:
            file.close()
            raise
    except OSError as error:
        raise unreadable(path, error) from error
    return file


def load(file: io.BufferedReader | Path, path: Path, *, mmap: bool = False) -> dict[str, Any]:
    """Return the state that `file` holds, on the CPU, executing nothing. Raises CheckpointError."""
    try:
        state = torch.load(file, map_location="cpu", weights_only=True, mmap=mmap)
    except Exception as error:  # torch raises what it likes on a file that is not its own
        cause = f"torch refuses to load it ({_brief(error)})"
        raise CheckpointError(path, cause, "Do not load it in another way: it may run code.") from error
    if type(state) is not dict:
        cause = f"it holds a {type(state).__name__}, not a dict"
        raise CheckpointError(path, cause, USE_EARLIER)
    return state


def unreadable(path: Path, error: OSError) -> CheckpointError:
    """Say why `path` cannot be read."""
    if isinstance(error, FileNotFoundError):
        if path.name in (STATE_FILE, MANIFEST_FILE):
            return CheckpointError(path, "missing, so the checkpoint is half-written", USE_EARLIER)
        return CheckpointError(path, "does not exist", "Check the path.")
    if isinstance(error, NotADirectoryError):
        return CheckpointError(path, "not a folder", "Pass the path of a folder.")
    return CheckpointError(path, f"cannot be read ({error.strerror})", "See to its permissions and its disk.")


def unwritable(target: Path, error: BaseException) -> CheckpointError:
    """Say why the checkpoint `target` could not be written."""
    system = _system_error(error)
    if system and system.errno in _FULL:
        remedy = "Make room (prune(folder) may), then save again; earlier checkpoints are untouched."
        return CheckpointError(target, f"no room to write it ({system.strerror})", remedy)
    remedy = "See to the folder and its disk, then save again; earlier checkpoints are untouched."
    return CheckpointError(target, f"could not be written ({system or error})", remedy)


def _system_error(error: BaseException | None) -> OSError | None:
    """Return the OSError behind `error`: where writing fails, torch raises a RuntimeError of its own."""
    while error:
        if isinstance(error, OSError):
            return error
        error = error.__cause__ or error.__context__
    return None


def _open(path: Path) -> io.BufferedReader:
    """Open a regular file: a folder cannot be read, and a pipe would block."""
    if path.exists() and not path.is_file():
        raise CheckpointError(path, "not a file", USE_EARLIER)
    return open(path, "rb")


def _compare(file: io.BufferedReader, path: Path, record: FileRecord) -> None:
    size = os.fstat(file.fileno()).st_size
    if size != record.bytes:
        cause = f"{size} bytes long, where {record.bytes} were written: cut short or added to"
        raise CheckpointError(path, cause, USE_EARLIER)
    if hashlib.file_digest(file, "sha256").hexdigest() != record.sha256:
        raise CheckpointError(path, "changed: its SHA-256 is not that of what was written", USE_EARLIER)
    file.seek(0)


def _brief(error: Exception) -> str:
    """Shorten what torch says, which goes on to recommend loading without safety."""
    if named := re.search(r"GLOBAL (\S+)", str(error)):
        return f"it asks for {named[1]}"
    return f"{type(error).__name__}: {str(error).partition('. ')[0][:100]}"


@functools.cache
def _versions() -> dict[str, str]:
    return {"python": platform.python_version()} | {name: _version(name) for name in _LIBRARIES}


def _version(library: str) -> str:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"  # used from a folder, not installed


class _HashingFile(io.BufferedWriter):
    """A new file that hashes what goes into it: the manifest then tells what was meant to be written."""

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path, "x"))
        self.sha256 = hashlib.sha256()
        self.size = 0

    def write(self, data: ReadableBuffer, /) -> int:
        self.sha256.update(data)
        self.size += memoryview(data).nbytes
        return super().write(data)

    def sync(self) -> FileRecord:
        self.flush()
        os.fsync(self.fileno())
        return FileRecord(self.size, self.sha256.hexdigest())
