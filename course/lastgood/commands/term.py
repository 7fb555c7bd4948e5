"""`lastgood term`: an entry of the glossary, found by name, alias or misspelling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from lastgood.commands.errors import plain_errors

if TYPE_CHECKING:
    from lastgood.teaching.study.terms import Term


def term(
    words: Annotated[
        list[str], typer.Argument(metavar="WORD...", help="A term, such as fsync or atomic rename.")
    ],
) -> None:
    """Explain a term of the course, as the glossary does."""
    from lastgood.teaching.study.terms import TermError, find, terms
    from lastgood.workspace import WorkspaceError, find_root

    asked = " ".join(words)
    with plain_errors(WorkspaceError, TermError):
        known = terms(find_root())
    match = find(asked, known)
    if match.term is None:
        _refuse(asked, match.near)
    else:
        _print(match.term, "" if match.exact else f"No term is called “{asked}”. This is the nearest.")


def _refuse(asked: str, near: Sequence[Term]) -> None:
    from lastgood.workspace import GLOSSARY

    if near:
        names = ", ".join(f"“{term.title}”" for term in near)
        hint = f"Did you mean {names}?" if len(near) == 1 else f"Did you mean one of {names}?"
    else:
        hint = f"All terms stand in {GLOSSARY}."
    typer.secho(f"There is no term “{asked}” in the glossary. {hint}", fg=typer.colors.RED, err=True)
    raise typer.Exit(1)


def _print(found: Term, note: str) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    from lastgood.teaching.study.markup import unlinked

    console = Console(highlight=False)
    if note:
        console.print(note, markup=False)
        console.print()
    also = f" Also called: {', '.join(found.aliases)}." if found.aliases else ""
    parts = [
        f"**{found.title}.** {found.plain}{also}",
        f"*More exactly.* {found.exactly}",
        f"*In this course.* {found.here}",
        f"*Not to be confused with.* {found.confused}",
        f"*See also.* {', '.join(found.see_also)}" if found.see_also else "",
        f"*Used in.* {', '.join(found.used_in)}",
        f"*Source.* {found.source}" if found.source else "",
    ]
    text = "\n\n".join(unlinked(part) for part in parts if part)
    console.print(Markdown(text, hyperlinks=False))
