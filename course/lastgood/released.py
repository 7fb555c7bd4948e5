"""Puts what was released back into the learner's copy of a lab, and loses nothing of what stood there.

A whole lab becomes a fresh copy, and the learner's file lies beside it under a name with the time. Of one
exercise the cells come back exactly as released, with nbgrader's marks; everything else stays, and what the
learner had written there stands in a text cell under it, where it is read and not run.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from lastgood import workspace
from lastgood.exercises import Cell, Exercise, grade_id, marks, source
from lastgood.recovery.disk import sync_folder, write_synced


class ReleasedError(Exception):
    """Nothing could be put back, and the learner's file is as it was; the message says why."""


@dataclass(frozen=True)
class Restored:
    """What was put back.

    Attributes:
        notebook: the learner's copy, relative to the course's root.
        changed: whether it differs from what it was.
        aside: the learner's version beside it, relative to the root; None where nothing had to be kept there.
        noted: what the learner had written stands in a cell under the exercise.
    """

    notebook: Path
    changed: bool
    aside: Path | None = None
    noted: bool = False


def restore_lab(root: Path, lab: str) -> Restored:
    """Make the learner's copy of a lab what it was at first. Raises ReleasedError, WorkspaceError."""
    notebook = workspace.lab_notebook(lab)
    file = root / notebook
    seen = _read(file)
    if seen is None:
        return Restored(notebook, bool(workspace.start(root, [lab]).copied))
    fresh = _as_copied(root, lab)
    if seen == fresh:
        return Restored(notebook, changed=False)
    aside = _keep_beside(file, seen)
    _replace(file, seen, fresh)
    return Restored(notebook, changed=True, aside=aside.relative_to(root))


def restore_exercise(root: Path, lab: str, exercise: Exercise) -> Restored:
    """Put the cells of one exercise back into the learner's copy. Raises ReleasedError, WorkspaceError."""
    notebook = workspace.lab_notebook(lab)
    file = root / notebook
    seen = _read(file)
    if seen is None:
        return Restored(notebook, bool(workspace.start(root, [lab]).copied))
    content = _parsed(seen, notebook, lab)
    released = json.loads(_as_copied(root, lab))["cells"]
    cells, old = _put_back(content["cells"], released, exercise.cells)
    if _without_outputs(cells) == _without_outputs(content["cells"]):
        return Restored(notebook, changed=False)
    if old:
        cells.insert(_place(cells, exercise.graded) + 1, _note(old, exercise))
    content["cells"] = _named(cells, content.get("nbformat_minor"))
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    _replace(file, seen, text.encode("utf-8", "backslashreplace"))
    return Restored(notebook, changed=True, noted=bool(old))


def _as_copied(root: Path, lab: str) -> bytes:
    return workspace.as_copied(root / workspace.LABS / lab / f"{lab}.ipynb")


def _read(file: Path) -> bytes | None:
    """What the learner's copy holds; None where there is none."""
    if file.is_symlink() and not file.exists():
        raise ReleasedError(
            f"{file} is a link to {os.readlink(file)}, which is not there. Mend it or delete it."
        )
    try:
        content = file.read_bytes()
        writable = file.stat().st_mode & 0o222
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ReleasedError(f"{file} cannot be read: {error.strerror}. Nothing was changed.") from error
    # Renaming would replace it all the same: whoever took the right away from themselves meant it.
    if not writable:
        raise ReleasedError(f"{file} is read-only, so it was left as it is. `chmod u+w` allows writing.")
    return content


def _parsed(content: bytes, notebook: Path, lab: str) -> dict[str, Any]:
    number = lab.removeprefix("lab")
    instead = f"`lastgood reset {number}` puts the whole lab back, and keeps this file beside it."
    try:
        top = json.loads(content)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno}: {error.msg})" if isinstance(error, json.JSONDecodeError) else ""
        raise ReleasedError(f"{notebook} is no notebook: it is not JSON{where}. {instead}") from error
    cells = top.get("cells") if isinstance(top, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise ReleasedError(f"{notebook} is no notebook: it has no list of cells. {instead}")
    if top.get("nbformat") != 4:
        raise ReleasedError(f"{notebook} is a notebook of another format than 4. {instead}")
    return dict(top)


def _put_back(
    learners: Sequence[Cell], released: Sequence[Cell], wanted: Sequence[str]
) -> tuple[list[Cell], list[str]]:
    """The learner's cells with the wanted ones as released, and the learner's texts that went."""
    order = [grade_id(cell) or str(cell.get("id")) for cell in released]
    cells = [dict(cell) for cell in learners]
    old: list[str] = []
    floor, ceiling = _gap(cells, order, order.index(wanted[0]), order.index(wanted[-1]))
    for name in wanted:
        fresh = released[order.index(name)]
        places = [at for at, cell in enumerate(cells) if _is(cell, name)]
        texts = [source(cells[at]) for at in places]
        old += [text for text in texts if text.strip() and text != source(fresh) and text not in old]
        at = next((at for at in places if floor <= at < ceiling), floor)
        at -= sum(place < at for place in places)
        ceiling -= sum(place < ceiling for place in places) - 1
        cells = [cell for place, cell in enumerate(cells) if place not in places]
        cells.insert(at, dict(fresh))
        floor = at + 1
    return cells, old


def _is(cell: Cell, name: str) -> bool:
    """Whether it is this released cell: by its mark, or, where a program took that away, by its id."""
    return grade_id(cell) == name or (not marks(cell) and cell.get("id") == name)


def _gap(cells: Sequence[Cell], order: Sequence[str], first: int, last: int) -> tuple[int, int]:
    """Between which of the learner's cells those from `first` to `last` of the released ones belong."""

    def places(names: Sequence[str]) -> Iterator[int]:
        for name in names:
            yield from (at for at, cell in enumerate(cells) if _is(cell, name))

    floor = next((at + 1 for at in places(order[first - 1 :: -1] if first else ())), 0)
    return floor, next((at for at in places(order[last + 1 :]) if at >= floor), len(cells))


def _place(cells: Sequence[Cell], name: str) -> int:
    return next(at for at, cell in enumerate(cells) if _is(cell, name))


def _without_outputs(cells: Sequence[Cell]) -> list[Cell]:
    """Cells by what a learner can undo: text, kind and marks."""
    keys = ("nbgrader", "deletable", "editable")
    shown = []
    for cell in cells:
        metadata = cell.get("metadata")
        kept = {key: metadata.get(key) for key in keys} if isinstance(metadata, dict) else {}
        shown.append({"kind": cell.get("cell_type"), "source": source(cell), "marks": kept})
    return shown


def _note(old: Sequence[str], exercise: Exercise) -> Cell:
    """A text cell with what the learner had written, so that it is read and not run."""
    language = "python" if exercise.functions else "text"
    blocks = []
    for text in old:
        fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
        blocks.append(f"{fence}{language}\n{text}\n{fence}")
    when = datetime.now().strftime("%Y-%m-%d, %H:%M")
    title = f"What you had written here before the reset of {when}"
    text = f"<details><summary>{title}</summary>\n\n" + "\n\n".join(blocks) + "\n\n</details>"
    return {"cell_type": "markdown", "id": "", "metadata": {}, "source": text.splitlines(keepends=True)}


def _named(cells: Sequence[Cell], minor: object) -> list[Cell]:
    """The cells with an id each, and no two alike; before format 4.5 they have none."""
    if not isinstance(minor, int) or minor < 5:
        return [{key: value for key, value in cell.items() if key != "id"} for cell in cells]
    ours = {grade_id(cell) for cell in cells} - {""}
    taken: set[object] = set()
    named = []
    for cell in cells:
        name = cell.get("id")
        if (
            not isinstance(name, str)
            or not name
            or name in taken
            or (name in ours and grade_id(cell) != name)
        ):
            name = secrets.token_hex(4)
        taken.add(name)
        named.append({**cell, "id": name})
    return named


def _keep_beside(file: Path, content: bytes) -> Path:
    """Write the learner's version under a name that nothing has yet."""
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    number = 1
    while True:
        again = "" if number == 1 else f"-{number}"
        aside = file.with_name(f"{file.stem}.before-reset-{stamp}{again}{file.suffix}")
        try:
            with aside.open("xb") as stream:  # x: whatever has that name already stays
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            return aside
        except FileExistsError:
            number += 1
        except OSError as error:
            aside.unlink(missing_ok=True)
            raise ReleasedError(
                f"Your version could not be kept in {file.parent} ({error.strerror}), so nothing was changed."
            ) from error


def _replace(file: Path, seen: bytes, content: bytes) -> None:
    """Write the learner's copy whole or not at all. A link stays a link."""
    target = file.resolve()
    partial = target.with_name(f".{target.name}.partial")
    try:
        write_synced(partial, content)
        shutil.copymode(target, partial)
        if target.read_bytes() != seen:
            partial.unlink()
            raise ReleasedError(
                f"{file} was saved by somebody else just now. Nothing was changed; try again."
            )
        partial.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        raise ReleasedError(f"{file} could not be written: {error.strerror}. It is as it was.") from error
