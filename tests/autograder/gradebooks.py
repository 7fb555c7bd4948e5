"""What stands in a gradebook, to be compared with what stands in another."""

import re
from typing import Any

from sqlalchemy import MetaData, create_engine

from autograder.course import Course


def rows(course: Course) -> dict[str, list[tuple[Any, ...]]]:
    """All there is in the gradebook, by table: sorted, and without the keys that are drawn."""
    engine = create_engine(course.config.CourseDirectory.db_url)
    tables = MetaData()
    try:
        tables.reflect(engine)
        with engine.connect() as connection:
            found = {
                name: [
                    tuple(str(v) for c, v in zip(table.columns.keys(), row, strict=True) if not drawn(c, v))
                    for row in connection.execute(table.select())
                ]
                for name, table in tables.tables.items()
            }
    finally:
        engine.dispose()
    return {name: sorted(found[name]) for name in sorted(found)}


def drawn(column: str, value: object) -> bool:
    return column.endswith("id") and isinstance(value, str) and bool(re.fullmatch("[0-9a-f]{32}", value))
