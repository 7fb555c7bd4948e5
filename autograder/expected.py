"""The notebooks that a lab's submissions should hold, as they were released and as the gradebook has them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry

from autograder.intake.reading import Handed, ReadingError, notebook_in
from autograder.intake.released import Marked, Released, released


def expected(directory: Any, lab: str) -> dict[str, Released]:
    """By name, in the order of names; empty where the gradebook does not have the lab.

    `directory` is nbgrader's CourseDirectory.
    """
    with Gradebook(directory.db_url, directory.course_id) as gradebook:
        try:
            books = {book.name: _marked(book) for book in gradebook.find_assignment(lab).notebooks}
        except MissingEntry:
            return {}
    folder = _release(directory, lab)
    return {
        name: released(name, _file(folder / f"{name}.ipynb"), marked)
        for name, marked in sorted(books.items())
    }


def lab_with(directory: Any, claims: frozenset[str], but: str) -> str:
    """The released lab, other than `but`, that has most of these grade_ids; empty where none has half."""
    most, best = len(claims) / 2, ""
    for path in sorted(_release(directory, "*").parent.glob("*/*.ipynb")):
        file = _file(path) if path.parent.name != but else None
        shared = len(claims.intersection(cell.claim for cell in file.cells)) if file else 0
        if shared and shared >= most:
            most, best = shared, path.parent.name
    return best


def _release(directory: Any, lab: str) -> Path:
    return Path(directory.format_path(directory.release_directory, ".", lab))


def _file(path: Path) -> Handed | None:
    try:
        status = path.stat()  # a worker's release is a link to the course's
        return _read(path.resolve(), status.st_mtime_ns, status.st_size)
    except (OSError, ReadingError):
        return None


@lru_cache(maxsize=32)
def _read(path: Path, changed_ns: int, size: int) -> Handed:
    """Read once while it stays as it is: a class has one release and many submissions."""
    return notebook_in(path)


def _marked(book: Any) -> Mapping[str, Marked]:
    grades = {cell.name: cell for cell in book.grade_cells}
    tasks = {cell.name: cell for cell in book.task_cells}
    answers = {cell.name for cell in book.solution_cells}
    marked = {}
    for cell in book.source_cells:
        name = cell.name
        worth = grades.get(name) or tasks.get(name)
        marked[name] = Marked(
            name,
            cell.cell_type,
            cell.source or "",
            cell.checksum,
            locked=bool(cell.locked),
            grade=name in grades,
            solution=name in answers,
            task=name in tasks,
            points=float(worth.max_score) if worth else 0.0,
        )
    return marked
