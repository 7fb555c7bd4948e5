"""The private gradebook of a worker: a lab's cells and nothing of any student's, as an SQLite file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Final

from nbgrader.api import Base, Gradebook, MissingEntry
from sqlalchemy import Connection, Table, create_engine, select, text

# nbgrader's preprocessors open a gradebook without saying which course, and have this row made.
_UNNAMED: Final = "default_course"
# Whether somebody is late is the writer's to say, who knows of extensions and of a date that was moved.
_NOT_COPIED: Final[dict[str, dict[str, None]]] = {"assignment": {"duedate": None}}


class BlankError(Exception):
    """The lab is not in the gradebook; the message says what enters it."""


def blank(gradebook: Gradebook, lab: str) -> bytes:
    """The bytes of a gradebook with the lab of `gradebook`, nbgrader's own, and without submissions.

    Raises BlankError where the lab was never released.
    """
    try:
        assignment = gradebook.find_assignment(lab)
    except MissingEntry:
        raise BlankError(
            f"{lab} is not in the gradebook: `nbgrader generate_assignment {lab}` enters it"
        ) from None
    with tempfile.TemporaryDirectory(prefix="lastgood-blank-") as folder:
        path = Path(folder) / "gradebook.db"
        engine = create_engine(f"sqlite:///{path}")
        try:
            Base.metadata.create_all(engine)
            with engine.begin() as private:
                _copy(gradebook.db.connection(), private, assignment)
        finally:
            engine.dispose()
        return path.read_bytes()


def _copy(here: Connection, there: Connection, assignment: Any) -> None:
    tables = Base.metadata.tables
    for course in {_UNNAMED, assignment.course_id}:
        there.execute(tables["course"].insert(), {"id": course})
    books = [book.id for book in assignment.notebooks]
    cells = [cell.id for book in assignment.notebooks for cell in book._base_cells]
    for name, column, wanted in (
        ("assignment", "id", [assignment.id]),
        ("notebook", "id", books),
        ("base_cell", "id", cells),
        ("grade_cells", "id", cells),
        ("solution_cells", "id", cells),
        ("task_cells", "id", cells),
        ("source_cell", "notebook_id", books),
    ):
        _copy_rows(here, there, tables[name], column, wanted)
    # A gradebook without its schema's version is taken for an old one.
    (version,) = here.execute(text("SELECT version_num FROM alembic_version")).one()
    there.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
    there.execute(text("INSERT INTO alembic_version VALUES (:version)"), {"version": version})


def _copy_rows(here: Connection, there: Connection, table: Table, column: str, wanted: list[str]) -> None:
    rows = here.execute(select(table).where(table.c[column].in_(wanted))).mappings().all()
    if rows:
        there.execute(table.insert(), [{**row, **_NOT_COPIED.get(table.name, {})} for row in rows])
