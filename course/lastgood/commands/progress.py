"""`lastgood progress`: what is done of the course, and what comes next."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lastgood.commands.errors import plain_errors

if TYPE_CHECKING:
    from rich.table import Table

    from lastgood.teaching.study.overview import Row


def progress(
    as_json: Annotated[bool, typer.Option("--json", help="Print the same as JSON, for programs.")] = False,
) -> None:
    """Show what you have done: lessons read, reps ticked, points of each lab, and what comes next."""
    from lastgood.teaching.study import record
    from lastgood.teaching.study.outline import OutlineError, outline
    from lastgood.teaching.study.overview import rows
    from lastgood.workspace import WorkspaceError, find_root

    with plain_errors(WorkspaceError, OutlineError):
        stages = outline(find_root())
    done = record.so_far()
    found = rows(stages, done)
    if as_json:
        typer.echo(json.dumps(_plain(found, done.notes), indent=2, ensure_ascii=False))
    else:
        _print(found, done.notes)


def _print(found: Sequence[Row], notes: Sequence[str]) -> None:
    from rich.console import Console

    from lastgood.teaching.study import store
    from lastgood.teaching.study.overview import LEGEND, next_row, what_next

    console = Console(highlight=False)
    console.print(_table(found))
    ahead = "".join(piece if isinstance(piece, str) else piece.name for piece in what_next(found))
    opens = " `lastgood lab` opens it." if next_row(found) else ""
    told = [f"{ahead}{opens}", *notes, f"{LEGEND} Progress is kept in {store.path()}."]
    for line in told:
        console.print()
        console.print(line, markup=False, soft_wrap=True)


def _table(found: Sequence[Row]) -> Table:
    from rich.table import Table

    from lastgood.teaching.study.overview import next_row, status

    coming = next_row(found)
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for overflow, justify in (("fold", "left"), ("fold", "left"), ("fold", "right"), ("fold", "left")):
        table.add_column(overflow=overflow, justify=justify)  # type: ignore[arg-type]
    for row in found:
        cells = row.stage.name, row.stage.title, f"{row.stage.minutes} min", status(row, coming)
        table.add_row(*cells, style="bold" if row is coming else "")
    return table


def _plain(found: Sequence[Row], notes: Sequence[str]) -> dict[str, Any]:
    from lastgood.teaching.study import store
    from lastgood.teaching.study.overview import next_row

    coming = next_row(found)
    return {
        "file": str(store.path()),
        "next": coming.stage.name if coming else None,
        "notes": list(notes),
        "stages": [
            {
                "name": row.stage.name,
                "title": row.stage.title,
                "minutes": row.stage.minutes,
                "status": row.status,
                "done": row.done,
            }
            for row in found
        ],
    }
