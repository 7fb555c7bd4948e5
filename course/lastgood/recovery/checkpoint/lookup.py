"""What stands in a checkpoint folder: listed, read, verified, fallen back from. Nothing here writes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lastgood.recovery.checkpoint import files, leftovers, names
from lastgood.recovery.checkpoint.manifest import STATE_FILE, CheckpointError, Manifest

_PASSES = 20  # of a listing and a look, while another process changes what was listed


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was read: `state` is the nested dict that was written, its tensors on the CPU."""

    path: Path
    step: int
    state: dict[str, Any]
    manifest: Manifest


@dataclass(frozen=True)
class Skipped:
    """Something in a folder that is no good checkpoint, and why."""

    path: Path
    reason: str


@dataclass(frozen=True)
class Found:
    """The newest good checkpoint of a folder, or None, and all that was passed over."""

    checkpoint: Checkpoint | None
    skipped: list[Skipped]


def read(path: str | os.PathLike[str]) -> Checkpoint:
    """Return the checkpoint at `path`, verified before a byte of its state is interpreted.

    Loading goes through `torch.load(weights_only=True)`: a file that asks for more than tensors and plain
    values is refused, also where its manifest is right. Raises CheckpointError.
    """
    path = Path(path)
    manifest = _manifest(path)
    with files.open_verified(path / STATE_FILE, manifest.files[STATE_FILE]) as file:
        state = files.load(file, path / STATE_FILE)
    return Checkpoint(path, manifest.step, state, manifest)


def verify(path: str | os.PathLike[str]) -> Manifest:
    """Return the manifest of the checkpoint at `path` if size and SHA-256 of its files agree with it.

    Raises CheckpointError.
    """
    path = Path(path)
    manifest = _manifest(path)
    files.open_verified(path / STATE_FILE, manifest.files[STATE_FILE]).close()
    return manifest


def list_checkpoints(folder: str | os.PathLike[str]) -> list[Path]:
    """Return what bears the name of a checkpoint in `folder`, oldest step first, good or not.

    Raises CheckpointError if there is no such folder.
    """
    ordered = ((names.order(path), path) for path in _entries(Path(folder)))
    return [path for order, path in sorted(ordered) if order]


def latest_good(folder: str | os.PathLike[str]) -> Found:
    """Return the newest checkpoint of `folder` that can be read, and all that was passed over on the way.

    Skipped are damaged checkpoints newer than the one found, newest first, then whatever is half-written or
    half-removed. Where a writer replaces or removes one as it is read, the folder is listed again.

    Raises CheckpointError if there is no such folder: a mistyped path must not start afresh.
    """
    folder = Path(folder)
    for _ in range(_PASSES):
        found = _newest_good(list_checkpoints(folder))
        if found is not None:
            half = [Skipped(leftover.path, str(leftover)) for leftover in unfinished(folder)]
            return Found(found.checkpoint, found.skipped + half)
    raise CheckpointError(folder, "changes as it is read", "Read it again when its writer pauses.")


def unfinished(folder: Path) -> list[leftovers.Leftover]:
    """Return what is half-written or half-removed in `folder`. Raises CheckpointError."""
    return [leftover for path in _entries(folder) if (leftover := leftovers.recognise(path))]


def _newest_good(paths: list[Path]) -> Found | None:
    """Return the last good one of `paths`; None if one of them was not there any more when it was read."""
    skipped: list[Skipped] = []
    for path in reversed(paths):
        before = _identity(path)
        try:
            return Found(read(path), skipped)
        except CheckpointError as error:
            if before is None or _identity(path) != before:
                return None
            skipped.append(Skipped(path, f"{error.path.name}: {error.cause}"))
    return Found(None, skipped)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    except OSError:  # it stands, and cannot be looked at
        return 0, 0
    return found.st_dev, found.st_ino


def _manifest(path: Path) -> Manifest:
    manifest = files.read_manifest(path)
    if names.order(path) and names.step_of(path) != manifest.step:
        cause = f"of step {manifest.step}, by its manifest"
        raise CheckpointError(path, cause, f"Name it {names.name(manifest.step)}.")
    return manifest


def _entries(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in sorted(os.listdir(folder))]
    except OSError as error:
        raise files.unreadable(folder, error) from error
