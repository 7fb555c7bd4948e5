"""`lastgood anki`: the course's cards as a deck for Anki."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lastgood.commands.errors import plain_errors


def anki(
    out: Annotated[
        Path, typer.Option(help="The file to write; one that is there is replaced.", show_default=True)
    ] = Path("lastgood.apkg"),
) -> None:
    """Write all cards as a deck for Anki. Imported again after an update, it updates what is there."""
    from lastgood.teaching.study.anki import AnkiError, write
    from lastgood.teaching.study.deck import DeckError, of_course
    from lastgood.workspace import WorkspaceError, find_root

    with plain_errors(WorkspaceError, DeckError, AnkiError):
        found = of_course(find_root())
        write(found, out)
    typer.echo(f"Wrote {len(found)} cards to {out}. In Anki: File, Import.")
    typer.echo(
        "After an update of the course, write and import it again: notes are updated, none is doubled."
    )
