"""The released notebook with a learner's answers in it, and all that the learner added."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from nbformat import NotebookNode, from_dict

from autograder.intake.cells import CODE, Cell
from autograder.intake.matching import Match
from autograder.intake.released import Released
from autograder.intake.words import listed

OWN_CELLS: Final = 1_000  # that a learner added; further ones are not run
_COMPARED: Final = ("schema_version", "locked", "grade", "solution", "task", "points")


def untouched(released: Released) -> NotebookNode:
    """The release itself, for when nothing that was handed in can be read."""
    ids = _Ids(released)
    return _notebook(released, [_trusted(released, at, ids) for at in range(len(released.cells))])


def rebuilt(made: Match) -> tuple[NotebookNode, tuple[str, ...]]:
    """A notebook in which each cell that nbgrader knows stands once, as released; of answers, the learner's.

    Other cells are the learner's and stay where they are. Notes say what is not as it was handed in.
    """
    released, ids = made.released, _Ids(made.released)
    ours = {theirs: at for at, theirs in made.at.items()}
    dropped = _dropped(made)
    placed: list[tuple[int | None, NotebookNode]] = []
    own = 0
    for theirs, cell in enumerate(made.cells):
        at = ours.get(theirs)
        if theirs in dropped:
            continue
        if at is not None and released.mark(at):
            placed.append((at, _trusted(released, at, ids, cell)))
            continue
        own += at is None
        if at is not None or own <= OWN_CELLS:
            placed.append((at, _new(cell, ids)))
    _put_back(made, placed, ids)
    left = max(0, own - OWN_CELLS)
    return _notebook(released, [cell for _, cell in placed]), tuple(_notes(made, left))


class _Ids:
    """Gives each cell an id of its own; those of the release keep theirs."""

    def __init__(self, released: Released) -> None:
        self._released: dict[str, int] = {}
        for at, cell in enumerate(released.cells):
            self._released.setdefault(cell.id or cell.claim[:64], at)
        self._used = {name for name, at in self._released.items() if released.mark(at)}
        self._count = 0

    def ours(self, released: Released, at: int) -> str:
        cell = released.cells[at]
        name = cell.id or cell.claim[:64]
        return name if name and self._released[name] == at else self.new("")

    def new(self, wish: str) -> str:
        while not wish or wish in self._used:
            self._count += 1
            wish = f"cell-{self._count}"
        self._used.add(wish)
        return wish


def _notebook(released: Released, cells: list[NotebookNode]) -> NotebookNode:
    made: NotebookNode = from_dict({"nbformat": 4, "nbformat_minor": 5, "metadata": dict(released.metadata)})
    made["cells"] = cells
    return made


def _trusted(released: Released, at: int, ids: _Ids, theirs: Cell | None = None) -> NotebookNode:
    """A cell of the release. `theirs` is the learner's, of which an answer is taken."""
    cell, mark = released.cells[at], released.mark(at)
    source, attachments = cell.source, cell.attachments
    if theirs is not None and mark and mark.solution:
        source, attachments = theirs.source, theirs.attachments
    name = ids.ours(released, at) if mark else ids.new(cell.id)
    return _made(cell.kind, source, name, dict(cell.metadata), attachments)


def _new(cell: Cell, ids: _Ids) -> NotebookNode:
    """A learner's own cell, without metadata that anything could take for ours."""
    tags = {"tags": list(cell.tags)} if cell.tags else {}
    return _made(cell.kind, cell.source, ids.new(cell.id), tags, cell.attachments)


def _made(
    kind: str, source: str, name: str, metadata: dict[str, Any], attachments: Mapping[str, Any]
) -> NotebookNode:
    """A cell. nbformat's own functions look at the schema for each, which takes longer than all the rest."""
    more: dict[str, Any] = {"outputs": [], "execution_count": None} if kind == CODE else {}
    if attachments and kind != CODE:
        more["attachments"] = dict(attachments)
    made: NotebookNode = from_dict(
        {"cell_type": kind, "id": name, "source": source, "metadata": metadata, **more}
    )
    return made


def _dropped(made: Match) -> set[int]:
    """Copies that say nothing of their own: the released text once more."""
    return {
        theirs
        for ours, copies in made.copies.items()
        for theirs in copies
        if made.cells[theirs].words in ("", made.released.cells[ours].words)
    }


def _put_back(made: Match, placed: list[tuple[int | None, NotebookNode]], ids: _Ids) -> None:
    """Cells that are gone, below the nearest one before them that is there and what the learner put below it.

    An answer that is gone is empty, for its function may be defined elsewhere. One that a person reads is
    as released: so nbgrader gives it 0.
    """
    for at in sorted(made.released.places.values()):
        if at in made.at:
            continue
        mark = made.released.mark(at)
        cell = _trusted(made.released, at, ids)
        if mark and mark.solution and not mark.grade:
            cell.source = ""
        placed.insert(_place(placed, at), (at, cell))


def _place(placed: list[tuple[int | None, NotebookNode]], at: int) -> int:
    earlier = [(ours, index) for index, (ours, _) in enumerate(placed) if ours is not None and ours < at]
    index = max(earlier)[1] + 1 if earlier else 0
    while index < len(placed) and placed[index][0] is None:
        index += 1
    return index


def _notes(made: Match, left: int) -> Iterator[str]:
    """Sentences, where the notebook is not as it was handed in or released."""
    released = made.released
    gone = [at for at in released.places.values() if at not in made.at]
    missing = [claim for claim, at in released.places.items() if at in gone]
    answers = [claim for claim in missing if released.marked[claim].solution]
    tests = [claim for claim in missing if claim not in answers]
    if tests:
        yield f"Deleted cells were put back as released: {listed(tests)}."
    if answers:
        yield f"Cells for answers are missing; empty ones stand in their place: {listed(answers)}."
    if made.found:
        names = [released.cells[at].claim for at in made.found]
        yield (
            "Cells had lost the marks by which nbgrader knows them, which other programs than JupyterLab "
            f"remove; they were recognised by id, text or place: {listed(names)}."
        )
    yield from _of_copies(made)
    if changed := [claim for claim, at in released.places.items() if _is_changed(made, at)]:
        yield f"Cells that are not for editing were changed; the released ones were used: {listed(changed)}."
    if flipped := [claim for claim, at in released.places.items() if _is_flipped(made, at)]:
        yield f"Nbgrader's marks were not those of this release, and were put right: {listed(flipped)}."
    if made.unknown and (others := [made.cells[at].claim for at in made.unknown if made.free(at)]):
        yield (
            "Cells that are not of this release, but perhaps of an older one, count for nothing: "
            f"{listed(others)}."
        )
    if left:
        yield f"{OWN_CELLS:,} added cells are the most that is run. {left:,} more were left out."


def _of_copies(made: Match) -> Iterator[str]:
    dropped = _dropped(made)
    for ours, copies in sorted(made.copies.items()):
        cell, mark = made.released.cells[ours], made.released.mark(ours)
        often = f"{listed([cell.claim])} was handed in {len(copies) + 1} times."
        if mark is None or not mark.solution:
            yield f"{often} It was run once, as released."
        elif not [at for at in copies if at not in dropped]:
            yield f"{often} The one with an answer counts."
        elif cell.kind == CODE:
            yield f"{often} All were run in their order, so the last one before the check counts."
        else:
            yield f"{often} One counts as the answer; the others stand beside it."


def _is_changed(made: Match, at: int) -> bool:
    mark = made.released.mark(at)
    if at not in made.at or mark is None or mark.solution or not made.released.shown:
        return False
    theirs, ours = made.cells[made.at[at]], made.released.cells[at]
    return theirs.words != ours.words or theirs.kind != ours.kind


def _is_flipped(made: Match, at: int) -> bool:
    """Whether a cell's marks say anything else than they should. What is not said is not wrong."""
    if at not in made.at or at in made.found:
        return False
    marks, wanted = made.cells[made.at[at]].marks, made.released.cells[at].metadata["nbgrader"]
    given = made.released.given.get(made.released.cells[at].claim, {})
    return any(
        not _same(marks[key], wanted.get(key)) and not (key in given and _same(marks[key], given[key]))
        for key in _COMPARED
        if key in marks
    )


def _same(one: object, other: object) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isfinite(one) and one == other
    return one == other
