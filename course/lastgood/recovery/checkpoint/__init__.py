"""Checkpoints on disk: atomic, checksummed, listed, pruned, verified, fallen back from.

    folder/
      step-00000120/                         a checkpoint, complete from the moment it has this name
        state.pt                             torch.save of plain data (see `plain`)
        manifest.json                        size and SHA-256 of state.pt, versions (see `manifest`)
      step-00000120.r2/                      the same step written again, on its way (see `write`)
      .step-00000140.4242-99-0badcafe.tmp/   being written, or left by a kill: process 4242, started at 99
      .step-00000100.4242-99-deadbeef.del/   being removed, or left by a kill
      .lock                                  who writes here just now (see `lock`)

A folder has one writer at a time, which `write` and `prune` see to, and any number of readers. Reading
executes nothing that a file holds.

Here is what changes a folder. The rest, in reading order:

    names         what a checkpoint is called, and which is newer
    manifest      what its files must look like; CheckpointError
    plain         what a state may hold, and a copy of it that training cannot change
    files         the two files: written down to the disk, read once they are verified
    lookup        what stands in a folder: list, read, verify, fall back
    leftovers     what is on its way in or out, and what a kill leaves of it
    lock          one writer a folder
    processes     which process is this, and does it still live?
    asynchronous  saving while the run trains on
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from lastgood.recovery.checkpoint import files, leftovers, lock, names
from lastgood.recovery.checkpoint.lock import hold
from lastgood.recovery.checkpoint.lookup import (
    Checkpoint,
    Found,
    Skipped,
    latest_good,
    list_checkpoints,
    read,
    unfinished,
    verify,
)
from lastgood.recovery.checkpoint.manifest import CheckpointError, Manifest
from lastgood.recovery.checkpoint.plain import to_plain
from lastgood.recovery.disk import sync_folder

__all__ = [
    "Checkpoint", "CheckpointError", "Found", "Manifest", "Skipped",
    "hold", "latest_good", "list_checkpoints", "prune", "read", "verify", "write",
]  # fmt: skip


def write(folder: str | os.PathLike[str], state: dict[str, Any], *, step: int) -> Path:
    """Save `state` as the checkpoint of `step` and return its path, once all of it is on the disk.

    The files are written and fsynced under a temporary name beside the target, the temporary folder is
    fsynced, then renamed, then `folder` is fsynced. A kill at any moment leaves the whole checkpoint or none
    of it. `folder` is created where its parent exists. See `to_plain` for what `state` may hold.

    Writing a step again: a good checkpoint with the same bytes is kept as it is. Otherwise the new one gets
    the name with `.r2`, then the old one is removed, then the new one takes the plain name: at each moment
    one of them stands complete, and `list_checkpoints` puts the new one last.

    Raises CheckpointError (value that loading would refuse, no folder, disk full, another process that writes
    there, ...). Nothing half-written stays, and earlier checkpoints are untouched.
    """
    folder = Path(folder)
    target = names.target(folder, step)
    plain = to_plain(state, target)
    _make(folder)
    with lock.alone(folder):
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


def prune(folder: str | os.PathLike[str], keep_last: int = 2, keep_every: int | None = None) -> list[Path]:
    """Remove what is older than the newest `keep_last` good checkpoints of `folder`; return what was removed.

    Checkpoints are verified, newest first, until `keep_last` are found good, and only then is anything
    removed: while there are fewer, all steps stay. Damaged ones do not count, and stay until they are the
    older ones. Steps divisible by `keep_every` stay for good. Of one step only the newest good writing stays.
    Also removed is what a dead process left half-written or half-removed, never what a living one works at.

    Newest means the highest step, whatever the clock says. A run that goes back on purpose to an earlier step
    must first move the later ones away. Raises CheckpointError.
    """
    folder = Path(folder)
    for name, value in (("keep_last", keep_last), ("keep_every", keep_every)):
        if value is not None and value < 1:
            raise CheckpointError(folder, f"{name} is {value}", f"Pass a {name} of 1 or more.")
    with lock.alone(folder):
        doomed = _superseded(list_checkpoints(folder), keep_last, keep_every)
        try:
            leftovers.remove(doomed)
            dead = [leftover.path for leftover in unfinished(folder) if not leftover.alive]
            for path in dead:
                leftovers.erase(path)
        except OSError as error:
            remedy = "Make it writable; what is to be kept was not touched."
            raise CheckpointError(folder, f"something in it cannot be removed ({error})", remedy) from error
    return doomed + dead


def _publish(temp: Path, target: Path, manifest: Manifest) -> Path:
    """Give the complete checkpoint `temp` its name, and remove what it replaces only afterwards."""
    folder = target.parent
    older = [path for path in list_checkpoints(folder) if names.step_of(path) == manifest.step]
    if older and (standing := _if_good(older[-1])) and standing.files == manifest.files:
        shutil.rmtree(temp)
        return older[-1]
    # A folder cannot be renamed over another, and two renames would leave a moment with neither.
    revision = names.order(older[-1])[1] + 1 if older else 1
    named = folder / names.name(manifest.step, revision)
    os.rename(temp, named)
    sync_folder(folder)
    leftovers.remove(older)
    if named != target:
        os.rename(named, target)
        sync_folder(folder)
    return target


def _if_good(path: Path) -> Manifest | None:
    """Return the manifest of the checkpoint at `path`, None if that is damaged."""
    try:
        return verify(path)
    except CheckpointError:
        return None


def _superseded(paths: list[Path], keep_last: int, keep_every: int | None) -> list[Path]:
    """Return which of `paths`, oldest first, may go. Verifies no more than it must."""
    kept: list[Path] = []  # good ones, newest first, one a step
    for path in reversed(paths):
        if len(kept) == keep_last:
            break
        if not (kept and names.step_of(kept[-1]) == names.step_of(path)) and _if_good(path):
            kept.append(path)
    newest_of = {names.step_of(path): names.order(path) for path in kept}
    doomed = []
    for path in paths:
        step = names.step_of(path)
        outdated = step in newest_of and names.order(path) < newest_of[step]
        old = len(kept) == keep_last and step < names.step_of(kept[-1])
        if outdated or (old and not (keep_every and step % keep_every == 0)):
            doomed.append(path)
    return doomed


def _make(folder: Path) -> None:
    """Create `folder`, but not its parents: a disk that is not mounted must not be written around."""
    try:
        folder.mkdir()
        sync_folder(folder.parent)
    except FileExistsError as error:
        if not folder.is_dir():
            raise CheckpointError(folder, "not a folder", "Save into a folder.") from error
    except OSError as error:
        cause = f"cannot be created ({error.strerror})"
        raise CheckpointError(folder, cause, "Create the folder, or save elsewhere.") from error
