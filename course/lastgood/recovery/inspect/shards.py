"""Weights in several files: is every shard there that the index names, with its tensors?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lastgood.recovery.inspect.opening import InspectError, open_regular, plain
from lastgood.recovery.inspect.part import Part
from lastgood.recovery.inspect.safetensors import read_json
from lastgood.recovery.inspect.values import Table

INDEX = ".index.json"
_SHARD = re.compile(r"(.*)-([0-9]{1,6})-of-([0-9]{1,6})(\.[a-z]+)")


def files_of(index: Path) -> list[Path]:
    """The files that an index names and that are there. Raises InspectError."""
    named = dict.fromkeys(file for _, file in _weights(index))
    return [path for file in named if _is_name(file) and (path := index.parent / file).exists()]


def faults(folder: Path, names: list[str], parts: list[Part]) -> list[str]:
    """What the indices of a folder name that is not there."""
    found: list[str] = []
    present = {part.path.name: part for part in parts}
    indices = [name for name in names if name.endswith(INDEX)]
    for index in indices:
        try:
            found += _missing(folder / index, present)
        except InspectError as error:
            found.append(f"{plain(index)}: {error.cause}")
    return found if indices else _gaps(names)


def note(path: Path) -> list[str]:
    """A word on a single file that is one of several."""
    match = _SHARD.fullmatch(path.name)
    return [f"This is shard {int(match[2])} of {int(match[3])}: pass the folder for all."] if match else []


def _missing(index: Path, present: dict[str, Part]) -> list[str]:
    found: dict[str, None] = {}
    held = {name: part.value.names() for name, part in present.items() if isinstance(part.value, Table)}
    lost = 0
    for tensor, file in _weights(index):
        if file not in present:
            found[f"the shard {plain(file, 80)} is missing or unreadable"] = None
        elif tensor not in held.get(file, set()):
            lost += 1
    said = list(found)[:8]
    if lost:
        said.append(f"{lost} tensors of the index are not in the shards that it names")
    return said


def _weights(index: Path) -> Iterator[tuple[str, str]]:
    """Tensor and file of each entry. Raises InspectError."""
    file, size = open_regular(index)
    with file:
        content = read_json(file, size, index)
    entries = content.get("weight_map") if isinstance(content, Table) else None
    if not isinstance(entries, Table):
        raise InspectError(index, "an index without a weight_map", "Fetch it again.")
    for tensor, name in entries.pairs:
        if type(tensor) is str and type(name) is str:
            yield tensor, name


def _is_name(file: str) -> bool:
    return "/" not in file and "\0" not in file and file not in ("", ".", "..")


def _gaps(names: list[str]) -> list[str]:
    """Numbers that are missing from `model-00001-of-00003` and the like, where no index names them."""
    sets: dict[tuple[str, int, str], set[int]] = {}
    for name in names:
        if match := _SHARD.fullmatch(name):
            sets.setdefault((match[1], int(match[3]), match[4]), set()).add(int(match[2]))
    return [
        f"{total - len(there)} of {total} shards of {plain(stem)}{ending} are missing"
        for (stem, total, ending), there in sets.items()
        if len(there) < total
    ]
