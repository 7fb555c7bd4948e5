"""What belongs to a checkpoint: one file, the files of a folder, or the newest of a folder of checkpoints."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from pathlib import Path

from lastgood.recovery.inspect import dcp, ours, shards
from lastgood.recovery.inspect.files import read_part
from lastgood.recovery.inspect.opening import InspectError, entries, plain
from lastgood.recovery.inspect.part import Part
from lastgood.recovery.inspect.recognise import children, is_optimizer, is_state_dict
from lastgood.recovery.inspect.words import words_of

FILES = 512  # of one folder that are read
PATIENCE = 10.0  # seconds for all of them: each may be as slow as its limits allow
NESTED = "checkpoints"  # where `lastgood run` and Lightning keep them
_TRIES = 8  # checkpoints of a folder, newest first, until one can be read
_SUFFIXES = frozenset({".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle", ".safetensors", ".tar"})
_READ_JSON = frozenset({"trainer_state.json"})
_NUMBERED = re.compile(r"(?:checkpoint|ckpt|global_step|step|iter|epoch)[-_=]?([0-9]{1,18})(?:\.r[0-9]+)?")
_UNFINISHED = re.compile(r"tmp[-_].*|.*\.(?:tmp|temp|part|partial|incomplete|download)|\..*\.tmp")
_RANK = re.compile(r"(?:rng_state|random_states)_([0-9]{1,6})\.")


@dataclass
class Gathered:
    """The files of one checkpoint, as they were read."""

    path: Path
    names: list[str] = field(default_factory=list)  # what stands in the folder
    parts: list[Part] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ours: bool = False
    ranks: int = 0  # that have a file of their own


def gather(path: Path) -> Gathered:
    """Read what `path` names. Raises InspectError."""
    if not path.is_dir():
        return _one_file(path)
    inside = entries(path)
    if not inside:
        raise InspectError(path, "an empty folder", "Pass a checkpoint's file or folder.")
    numbered = [(int(match[1]), entry) for entry in inside
                if (match := _NUMBERED.fullmatch(entry.name)) and entry.is_dir()]  # fmt: skip
    if numbered and not _is_checkpoint(inside):
        return _newest(path, [entry for _, entry in sorted(numbered)], inside)
    nested = path / NESTED
    if nested in inside and nested.is_dir() and not _is_checkpoint(inside) and not any(map(_to_read, inside)):
        return gather(nested)
    return _folder(path, inside)


def _is_checkpoint(inside: list[Path]) -> bool:
    names = {entry.name for entry in inside}
    return bool(names & {dcp.METADATA, "trainer_state.json", ours.MANIFEST})


def _one_file(path: Path) -> Gathered:
    if path.name.endswith(shards.INDEX):
        found = _folder(path.parent, [path, *shards.files_of(path)])
        found.path = path
        return found
    if path.name == dcp.METADATA:
        return _folder(path.parent, entries(path.parent))
    if path.name.endswith(dcp.DATA):
        raise InspectError(path, "a data file of torch.distributed.checkpoint", "Pass its folder.")
    found = Gathered(path, [path.name], [read_part(path)])
    found.notes += shards.note(path)
    return found


def _newest(path: Path, numbered: list[Path], inside: list[Path]) -> Gathered:
    """The newest of several checkpoints that can be read, with what is wrong with newer ones."""
    faults: list[str] = []
    for entry in reversed(numbered[-_TRIES:]):
        try:
            found = _folder(entry, entries(entry))
        except InspectError as error:
            faults.append(f"{plain(entry.name)}, which is newer, cannot be read: {error.cause}")
            continue
        if found.ours and found.faults and entry != numbered[0]:
            faults += [f"{plain(entry.name)}, which is newer: {fault}" for fault in found.faults]
            continue
        found.faults = faults + found.faults + _unfinished(inside)
        if len(numbered) > 1:
            found.notes.append(f"{len(numbered)} checkpoints stand in {plain(str(path))}; this is the newest"
                               f"{' that is sound' if faults else ''}.")  # fmt: skip
        return found
    cause = f"none of its newest checkpoints can be read; {faults[0]}"
    raise InspectError(path, cause, "Pass an earlier one by name.")


def _folder(folder: Path, inside: list[Path]) -> Gathered:
    names = [entry.name for entry in inside]
    found = Gathered(folder, names)
    if ours.MANIFEST in names and ours.STATE in names:
        found.ours = True
        found.faults += ours.faults(folder)
    deadline = time.monotonic() + PATIENCE
    for entry in _one_of_each(found, inside):
        if time.monotonic() > deadline:
            found.faults.append(f"not all of its files were read: that took more than {PATIENCE:g} s")
            break
        if entry.name == dcp.METADATA:
            _add(found, lambda: dcp.read_folder(folder), folder.name, frozenset())
        elif entry.is_dir() and (entry / dcp.METADATA).is_file():
            _add(found, lambda: dcp.read_folder(entry), entry.name, words_of(entry.name))  # noqa: B023
        elif _to_read(entry) and len(found.parts) < FILES:
            _add(found, lambda: read_part(entry), entry.name, words_of(entry.stem))  # noqa: B023
    if dcp.METADATA not in names and any(name.endswith(dcp.DATA) for name in names):
        found.faults.append("half-written: it has *.distcp files and no .metadata, which is written last")
    _one_of_the_whole(found)
    found.faults += shards.faults(folder, names, found.parts) + _unfinished(inside)
    _count_ranks(found)
    if not found.parts:
        cause = found.faults[0] if found.faults else "a folder without a checkpoint's files"
        raise InspectError(folder, cause, "Pass a checkpoint's file or folder.")
    return found


def _one_of_each(found: Gathered, inside: list[Path]) -> list[Path]:
    """Of several `.ckpt` files, each a checkpoint by itself, the one that was written last."""
    several = sorted((entry for entry in inside if entry.suffix == ".ckpt"), key=_written)
    if len(several) < 2:
        return inside
    newest = plain(several[-1].name)
    found.notes.append(f"{len(several)} .ckpt files stand here; this is {newest}, written last.")
    older = set(several[:-1])
    return [entry for entry in inside if entry not in older]


def _one_of_the_whole(found: Gathered) -> None:
    """Of several files that each hold a model and its optimizer, keep the one that was written last."""
    whole = [part for part in found.parts if _is_whole(part)]
    if len(whole) < 2:
        return
    newest = max(whole, key=lambda part: _written(part.path))
    found.notes.append(
        f"{len(whole)} files each hold a model and its optimizer; this is {newest.name}, written last. "
        "Pass another one by name."
    )
    found.parts = [part for part in found.parts if part is newest or part not in whole]


def _is_whole(part: Part) -> bool:
    inside = [value for _, value in children(part.value)]
    return any(map(is_optimizer, inside)) and any(map(is_state_dict, inside))


def _written(entry: Path) -> tuple[int, str]:
    try:
        return entry.lstat().st_mtime_ns, entry.name
    except OSError:
        return 0, entry.name


def _to_read(entry: Path) -> bool:
    return (entry.suffix in _SUFFIXES or entry.name in _READ_JSON) and not entry.is_dir()


def _add(found: Gathered, read: object, name: str, tokens: frozenset[str]) -> None:
    try:
        part: Part = read()  # type: ignore[operator]
    except InspectError as error:
        found.faults.append(f"{plain(name)}: {error.cause}")
        return
    part.name, part.tokens = plain(name), tokens
    if part.path.is_symlink():
        found.notes.append(f"{part.name} is a link, and was followed.")
    found.parts.append(part)


def _unfinished(inside: list[Path]) -> list[str]:
    """What a save left half-written, or is writing now."""
    half = [entry.name for entry in inside if _UNFINISHED.fullmatch(entry.name)]
    return [f"half-written, or being written now: {plain(name)}" for name in half[:5]]


def _count_ranks(found: Gathered) -> None:
    ranks = sorted(int(match[1]) for name in found.names if (match := _RANK.match(name)))
    found.ranks = len(ranks)
    if ranks and ranks[-1] < 100_000 and (gone := sorted(set(range(ranks[-1] + 1)) - set(ranks))):
        found.faults.append(f"RNG states of ranks are missing: {', '.join(map(str, gone[:8]))}")
