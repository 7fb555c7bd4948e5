"""Checkpoints on disk: atomic, checksummed, listed, pruned, verified, fallen back from.

    folder/
      step-00000120/                         a checkpoint, complete from the moment it has this name
        state.pt                             torch.save of plain data (see `plain`)
        manifest.json                        size and SHA-256 of state.pt, versions (see `manifest`)
      step-00000120.r2/                      the same step written again, on its way (see `write`)
      .step-00000140.4242-99-0badcafe.tmp/   being written, or left by a kill: process 4242, started at 99
      .step-00000100.4242-99-deadbeef.del/   being removed, or left by a kill

A folder has one writer at a time and any number of readers. Reading executes nothing that a file holds.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lastgood.recovery import files, leftovers
from lastgood.recovery.manifest import STATE_FILE, CheckpointError, Manifest
from lastgood.recovery.plain import to_plain

__all__ = [
    "Checkpoint", "CheckpointError", "Found", "Manifest", "Skipped",
    "latest_good", "list_checkpoints", "prune", "read", "verify", "write",
]  # fmt: skip

_NAME = re.compile(r"step-([0-9]{8,})(?:\.r([0-9]+))?")


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


def write(folder: str | os.PathLike[str], state: dict[str, Any], *, step: int) -> Path:
    """Save `state` as the checkpoint of `step` and return its path, once all of it is on the disk.

    The files are written and fsynced under a temporary name beside the target, the temporary folder is
    fsynced, then renamed, then `folder` is fsynced. A kill at any moment leaves the whole checkpoint or none
    of it. `folder` is created where its parent exists. See `to_plain` for what `state` may hold.

    Writing a step again: a good checkpoint with the same bytes is kept as it is. Otherwise the new one gets
    the name with `.r2`, then the old one is removed, then the new one takes the plain name: at each moment
    one of them stands complete, and `list_checkpoints` puts the new one last.

    Raises CheckpointError (value that loading would refuse, no folder, disk full, ...). Nothing half-written
    stays, and earlier checkpoints are untouched.
    """
    folder = Path(folder)
    if type(step) is not int or step < 0:
        raise CheckpointError(folder, f"step is {step!r}", "Pass a whole number, 0 or more.")
    target = folder / _name(step, 1)
    plain = to_plain(state, target)
    _make(folder)
    temp = leftovers.temporary(target)
    try:
        temp.mkdir()
        manifest = files.write_files(temp, plain, step)
        return _publish(temp, target, manifest)
    except BaseException as error:
        shutil.rmtree(temp, ignore_errors=True)
        if isinstance(error, (OSError, RuntimeError)):
            raise files.unwritable(target, error) from error
        raise


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
    return sorted(filter(_order, _entries(Path(folder))), key=_order)


def latest_good(folder: str | os.PathLike[str]) -> Found:
    """Return the newest checkpoint of `folder` that can be read, and all that was passed over on the way.

    Skipped are damaged checkpoints newer than the one found, newest first, then whatever is half-written or
    half-removed. Raises CheckpointError if there is no such folder: a mistyped path must not start afresh.
    """
    folder = Path(folder)
    found, skipped = None, []
    for path in reversed(list_checkpoints(folder)):
        try:
            found = read(path)
            break
        except CheckpointError as error:
            skipped.append(Skipped(path, f"{error.path.name}: {error.cause}"))
    skipped += [Skipped(leftover.path, str(leftover)) for leftover in _leftovers(folder)]
    return Found(found, skipped)


def prune(folder: str | os.PathLike[str], keep_last: int = 2, keep_every: int | None = None) -> list[Path]:
    """Remove what is older than the newest `keep_last` good checkpoints of `folder`; return what was removed.

    Checkpoints are verified, newest first, until `keep_last` are found good, and only then is anything
    removed: while there are fewer, all steps stay. Damaged ones do not count, and stay until they are the
    older ones. Steps divisible by `keep_every` stay for good. Of one step only the newest good writing stays.
    Also removed is what a dead process left half-written or half-removed, never what a living one works at.

    Raises CheckpointError.
    """
    folder = Path(folder)
    for name, value in (("keep_last", keep_last), ("keep_every", keep_every)):
        if value is not None and value < 1:
            raise CheckpointError(folder, f"{name} is {value}", f"Pass a {name} of 1 or more.")
    doomed = _superseded(list_checkpoints(folder), keep_last, keep_every)
    try:
        for path in doomed:
            leftovers.remove(path)
        dead = [leftover.path for leftover in _leftovers(folder) if not leftover.alive]
        for path in dead:
            leftovers.erase(path)
    except OSError as error:
        remedy = "Make it writable; what is to be kept was not touched."
        raise CheckpointError(folder, f"something in it cannot be removed ({error})", remedy) from error
    return doomed + dead


def _publish(temp: Path, target: Path, manifest: Manifest) -> Path:
    """Give the complete checkpoint `temp` its name, and remove what it replaces only afterwards."""
    folder = target.parent
    older = [path for path in list_checkpoints(folder) if _step(path) == manifest.step]
    if older and _same_content(older[-1], manifest):
        shutil.rmtree(temp)
        return older[-1]
    # A folder cannot be renamed over another, and two renames would leave a moment with neither.
    named = folder / _name(manifest.step, _order(older[-1])[1] + 1) if older else target
    os.rename(temp, named)
    leftovers.sync_folder(folder)
    for path in older:
        leftovers.remove(path)
    if named != target:
        os.rename(named, target)
        leftovers.sync_folder(folder)
    return target


def _manifest(path: Path) -> Manifest:
    manifest = files.read_manifest(path)
    if _order(path) and _step(path) != manifest.step:
        cause = f"of step {manifest.step}, by its manifest"
        raise CheckpointError(path, cause, f"Name it {_name(manifest.step, 1)}.")
    return manifest


def _entries(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in sorted(os.listdir(folder))]
    except OSError as error:
        raise files.unreadable(folder, error) from error


def _leftovers(folder: Path) -> list[leftovers.Leftover]:
    return [leftover for path in _entries(folder) if (leftover := leftovers.recognise(path))]


def _same_content(path: Path, manifest: Manifest) -> bool:
    try:
        return verify(path).files == manifest.files
    except CheckpointError:
        return False


def _superseded(paths: list[Path], keep_last: int, keep_every: int | None) -> list[Path]:
    """Return which of `paths`, oldest first, may go. Verifies no more than it must."""
    kept: list[Path] = []  # good ones, newest first, one a step
    for path in reversed(paths):
        if len(kept) == keep_last:
            break
        if not (kept and _step(kept[-1]) == _step(path)) and _is_good(path):
            kept.append(path)
    newest_of = {_step(path): _order(path) for path in kept}
    doomed = []
    for path in paths:
        outdated = _step(path) in newest_of and _order(path) < newest_of[_step(path)]
        old = len(kept) == keep_last and _step(path) < _step(kept[-1])
        if outdated or (old and not (keep_every and _step(path) % keep_every == 0)):
            doomed.append(path)
    return doomed


def _is_good(path: Path) -> bool:
    try:
        verify(path)
    except CheckpointError:
        return False
    return True


def _name(step: int, revision: int) -> str:
    return f"step-{step:08d}" + (f".r{revision}" if revision > 1 else "")


def _order(path: Path) -> tuple[int, ...]:
    """Return (step, revision) of a checkpoint's path, () for a name that `_name` does not make."""
    if match := _NAME.fullmatch(path.name):
        order = int(match[1]), int(match[2] or 1)
        if path.name == _name(*order):
            return order
    return ()


def _step(path: Path) -> int:
    return _order(path)[0]


def _make(folder: Path) -> None:
    """Create `folder`, but not its parents: a disk that is not mounted must not be written around."""
    try:
        folder.mkdir()
        leftovers.sync_folder(folder.parent)
    except FileExistsError as error:
        if not folder.is_dir():
            raise CheckpointError(folder, "not a folder", "Save into a folder.") from error
    except OSError as error:
        cause = f"cannot be created ({error.strerror})"
        raise CheckpointError(folder, cause, "Create the folder, or save elsewhere.") from error
