"""A job's checkpoints on disk, in a format plain enough for a learner to verify by hand.

    folder/
      step-5/
        state.pt         the state
        manifest.json    {"run": "lab19-3fa9", "step": 5, "bytes": 212797, "sha256": "1f0e…"}
      step-10.tmp/       being written, or left by a kill

A checkpoint gets its name when it is complete. What happens to it later is another matter: hence the
manifest. Steps are not padded with zeros, so names do not sort as steps do.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import struct
import zipfile
from pathlib import Path
from typing import Any

STATE, MANIFEST = "state.pt", "manifest.json"
TORN, CORRUPT, FOREIGN = "torn", "corrupt", "foreign"
_NAME = re.compile(r"step-(\d+)")


def write(folder: Path, run: str, step: int, state: bytes) -> Path:
    """Save `state` as the checkpoint of `step`, under a temporary name until it is complete."""
    target, temporary = folder / f"step-{step}", folder / f"step-{step}.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    (temporary / STATE).write_bytes(state)
    manifest = {"run": run, "step": step, "bytes": len(state), "sha256": hashlib.sha256(state).hexdigest()}
    (temporary / MANIFEST).write_text(json.dumps(manifest))
    shutil.rmtree(target, ignore_errors=True)  # a damaged one of the same step
    return temporary.rename(target)


def step_of(name: str) -> int | None:
    """The step of a checkpoint's name, None for any other name."""
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else None


def candidates(folder: Path) -> list[Path]:
    """What bears the name of a checkpoint, oldest step first."""
    steps = ((step_of(path.name), path) for path in folder.iterdir())
    return [path for _, path in sorted((step, path) for step, path in steps if step is not None)]


def fault(path: Path, run: str) -> str:
    """What is wrong with a checkpoint of `run`: torn, corrupt or foreign, and why; empty if it is good."""
    try:
        manifest: dict[str, Any] = json.loads((path / MANIFEST).read_text())
        state = (path / STATE).read_bytes()
    except (OSError, ValueError) as error:
        return f"{TORN}: {error}"
    if manifest["run"] != run:
        return f"{FOREIGN}: of the run {manifest['run']}"
    if manifest["step"] != step_of(path.name):
        return f"{FOREIGN}: of step {manifest['step']}"
    if len(state) != manifest["bytes"]:
        return f"{TORN}: {len(state):,} of {manifest['bytes']:,} bytes"
    if hashlib.sha256(state).hexdigest() != manifest["sha256"]:
        return f"{CORRUPT}: its SHA-256 is another one"
    return ""


def last_good(folder: Path, run: str) -> tuple[Path | None, dict[str, str]]:
    """The checkpoint of the highest step that is good, or None; and why each newer one was passed over."""
    skipped: dict[str, str] = {}
    for path in reversed(candidates(folder)):
        why = fault(path, run)
        if not why:
            return path, skipped
        skipped[path.name] = why
    return None, skipped


def damage(path: Path, how: str) -> None:
    """Make a good checkpoint torn (its end is missing), or corrupt (one byte of what it holds is another)."""
    file = path / STATE
    state = file.read_bytes()
    if how == TORN:
        file.write_bytes(state[: len(state) * 6 // 10])
    else:
        place = _inside(file, state)
        file.write_bytes(state[:place] + bytes([state[place] ^ 0xFF]) + state[place + 1 :])


def _inside(file: Path, state: bytes) -> int:
    """A place that matters: in the largest tensor, where torch wrote the file, and else in the middle.

    Between its tensors, torch leaves gaps that nobody reads.
    """
    if not zipfile.is_zipfile(file):
        return len(state) // 2
    with zipfile.ZipFile(file) as archive:
        largest = max(archive.infolist(), key=lambda info: info.file_size)
    name, extra = struct.unpack_from("<HH", state, largest.header_offset + 26)
    start = largest.header_offset + 30 + name + extra  # of a zip file's local header
    # Of four bytes the third: the number doubles or halves.
    return int(start + largest.file_size // 8 * 4 + 2)
