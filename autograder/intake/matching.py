"""Which cell of a submission is which of the release.

By what it says itself, its grade_id; else by its id, which learners do not see; else by its source; else by
the functions that it defines; else by where it stands. Each cell is matched once.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from autograder.intake.cells import CODE, Cell
from autograder.intake.released import Marked, Released

_DEFINES: Final = re.compile(r"^(?:async +def|def|class) +(\w+)", re.MULTILINE)


@dataclass
class Match:
    """Cells of a submission by cells of the release, both by where they stand.

    `found` holds those that did not say themselves which they are, `copies` the further ones that say the
    same as another, by the release's cell, and `unknown` the grade_ids that this release does not have.
    """

    cells: Sequence[Cell]
    released: Released
    at: dict[int, int] = field(default_factory=dict)
    found: list[int] = field(default_factory=list)
    copies: dict[int, list[int]] = field(default_factory=dict)
    unknown: list[int] = field(default_factory=list)
    _taken: set[int] = field(default_factory=set)

    @property
    def recognised(self) -> int:
        """How many of the cells that nbgrader knows are there."""
        return sum(at in self.at for at in self.released.places.values())

    @property
    def answered(self) -> int:
        """How many answers differ from what was released."""
        return sum(
            self.cells[self.at[at]].words not in ("", self.released.cells[at].words)
            for claim, at in self.released.places.items()
            if at in self.at and self.released.marked[claim].solution
        )

    def take(self, ours: int, theirs: int, *, found: bool = True) -> None:
        """Match two cells."""
        self.at[ours] = theirs
        self._taken.add(theirs)
        if found and self.released.mark(ours):
            self.found.append(ours)

    def free(self, theirs: int) -> bool:
        """Whether the submission's cell is matched with none."""
        return theirs not in self._taken

    def gap(self, ours: int) -> range:
        """Between which cells of the submission the release's cell belongs."""
        before = next((self.at[at] for at in range(ours - 1, -1, -1) if at in self.at), -1)
        after = (self.at[at] for at in range(ours + 1, len(self.released.cells)) if at in self.at)
        return range(before + 1, next((at for at in after if at > before), len(self.cells)))


def match(cells: Sequence[Cell], released: Released) -> Match:
    """Match as many cells as can be."""
    made = Match(cells, released)
    _by_claim(made)
    for way in (_by_id, _by_source, _by_functions, _by_place):
        way(made)
    made.found.sort()
    return made


def _by_claim(made: Match) -> None:
    claims: dict[str, list[int]] = defaultdict(list)
    for at, cell in enumerate(made.cells):
        if cell.claim in made.released.places:
            claims[cell.claim].append(at)
        elif cell.claim:
            made.unknown.append(at)
    for claim, candidates in claims.items():
        ours = made.released.places[claim]
        chosen = _original(made, ours, candidates)
        made.take(ours, chosen, found=False)
        if len(candidates) > 1:
            made.copies[ours] = [at for at in candidates if at != chosen]
            made._taken.update(candidates)


def _original(made: Match, ours: int, candidates: list[int]) -> int:
    """The one that counts: of answers one that was written, with the released id, or the last."""
    cell, mark = made.released.cells[ours], made.released.mark(ours)
    if mark and mark.solution:
        written = [at for at in candidates if made.cells[at].words not in ("", cell.words)]
        candidates = written or candidates[:1]
    same = [at for at in candidates if cell.id and made.cells[at].id == cell.id]
    return (same or candidates[-1:])[0]


def _by_id(made: Match) -> None:
    """A cell keeps its id through renaming, editing, and whatever takes nbgrader's metadata away."""
    places = {cell.id: at for at, cell in enumerate(made.released.cells) if cell.id}
    for theirs, cell in enumerate(made.cells):
        ours = places.get(cell.id)
        if ours is not None and ours not in made.at and made.free(theirs):
            made.take(ours, theirs)


def _by_source(made: Match) -> None:
    """Prose and examples too: they tell where the others stand."""
    sources: dict[tuple[str, str], list[int]] = defaultdict(list)
    for theirs, cell in enumerate(made.cells):
        if made.free(theirs) and cell.words:
            sources[cell.kind, cell.words].append(theirs)
    for ours, cell in _missing(made, lambda mark: True):
        candidates = [at for at in sources.get((cell.kind, cell.words), ()) if made.free(at)]
        gap = made.gap(ours)
        inside = [at for at in candidates if at in gap]
        if inside or candidates:
            made.take(ours, (inside or candidates)[0])


def _by_functions(made: Match) -> None:
    missing = _missing(made, lambda mark: mark is not None and mark.solution)
    names = {
        theirs: _DEFINES.findall(cell.source)
        for theirs, cell in enumerate(made.cells if missing else ())
        if made.free(theirs) and cell.kind == CODE
    }
    for ours, cell in missing:
        wanted = set(_DEFINES.findall(cell.source)) if cell.kind == CODE else set()
        shared = {at: len(wanted.intersection(defined)) for at, defined in names.items() if made.free(at)}
        best = max(shared.values(), default=0)
        if best:
            made.take(ours, max(theirs for theirs, count in shared.items() if count == best))


def _by_place(made: Match) -> None:
    """An answer without functions: the one cell of its kind between its neighbours, or the longest text."""
    if not made.at:
        return
    for ours, cell in _missing(made, lambda mark: mark is not None and mark.solution):
        if cell.kind == CODE and _DEFINES.search(cell.source):
            continue
        there = [at for at in made.gap(ours) if made.free(at) and made.cells[at].kind == cell.kind]
        there = [at for at in there if made.cells[at].words]
        if len(there) == 1 or (there and cell.kind != CODE):
            made.take(ours, max(there, key=lambda at: len(made.cells[at].source)))


def _missing(made: Match, wanted: Callable[[Marked | None], bool]) -> list[tuple[int, Cell]]:
    return [
        (at, cell)
        for at, cell in enumerate(made.released.cells)
        if at not in made.at and wanted(made.released.mark(at))
    ]
