"""A notebook as it was released: what every submission is put back into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from autograder.intake.cells import Cell
from autograder.intake.reading import Handed

SCHEMA: Final = 3  # of nbgrader's metadata


@dataclass(frozen=True)
class Marked:
    """What the gradebook says of a cell that nbgrader knows. `points` are those it is worth, or 0."""

    grade_id: str
    kind: str
    source: str
    checksum: str
    locked: bool
    grade: bool = False
    solution: bool = False
    task: bool = False
    points: float = 0.0

    @property
    def metadata(self) -> dict[str, Any]:
        """The same as nbgrader's metadata of a cell."""
        points = {"points": self.points} if self.grade or self.task else {}
        return {
            "schema_version": SCHEMA,
            "grade_id": self.grade_id,
            "cell_type": self.kind,
            "checksum": self.checksum,
            "locked": self.locked,
            "grade": self.grade,
            "solution": self.solution,
            "task": self.task,
            **points,
        }


@dataclass(frozen=True)
class Released:
    """A released notebook: its cells in order, and what is known of those that carry a `claim`.

    `shown` says that the cells read as learners got them; a gradebook's may hold hidden tests. `given`
    are marks as the file has them, by grade_id: nbgrader reads some of them otherwise than they are written.
    """

    name: str
    cells: tuple[Cell, ...]
    marked: Mapping[str, Marked]
    metadata: Mapping[str, Any]
    shown: bool = True
    given: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each cell that nbgrader knows stands, by grade_id."""
        return {cell.claim: at for at, cell in enumerate(self.cells) if cell.claim}

    @property
    def file(self) -> str:
        """What the file is called."""
        return f"{self.name}.ipynb"

    def mark(self, at: int) -> Marked | None:
        """What is known of the cell there; None of prose and examples."""
        return self.marked.get(self.cells[at].claim)


def released(name: str, file: Handed | None, marked: Mapping[str, Marked]) -> Released:
    """The released notebook: cells and their order as in its file, and points as in the gradebook.

    Without a file it is the gradebook's cells alone, in the order in which they were entered.
    """
    cells: list[Cell] = []
    known: set[str] = set()
    for cell in file.cells if file else ():
        claim = cell.claim if cell.claim in marked and cell.claim not in known else ""
        known.add(claim)
        extra = {key: value for key, value in cell.metadata.items() if key != "nbgrader"}
        if claim:
            extra["nbgrader"] = _agreed(cell.marks, marked[claim])
        kind = marked[claim].kind if claim else cell.kind
        cells.append(Cell(kind, cell.source, cell.id, claim, cell.tags, cell.attachments, extra))
    for mark in marked.values():
        if mark.grade_id not in known:
            about = {"nbgrader": mark.metadata}
            cells.append(Cell(mark.kind, mark.source, "", mark.grade_id, metadata=about))
    given = {cell.claim: cell.marks for cell in file.cells if cell.claim} if file else {}
    return Released(name, tuple(cells), marked, file.metadata if file else {}, file is not None, given)


def _agreed(given: Mapping[str, Any], mark: Marked) -> dict[str, Any]:
    """The gradebook's values, written as the file has them where they are equal (2 and not 2.0)."""
    kept = {key: given[key] if given.get(key) == value else value for key, value in mark.metadata.items()}
    points = given.get("points")  # nbgrader's editor leaves them on cells that are not graded any more
    return kept if points is None else {"points": points, **kept}
