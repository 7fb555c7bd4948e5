"""`lastgood reset`: a lab, or one exercise of it, as it was released."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lastgood.commands.choosing import NAMED, chosen
from lastgood.commands.errors import plain_errors

if TYPE_CHECKING:
    from lastgood.released import Restored


def reset(
    lab: Annotated[str, typer.Argument(help="A lab, such as 18.")],
    exercise: Annotated[str | None, typer.Argument(help=NAMED, show_default="all")] = None,
) -> None:
    """Put back the cells of a lab, or of one exercise, as they were released. What you wrote is kept."""
    from lastgood.released import ReleasedError, restore_exercise, restore_lab
    from lastgood.workspace import WorkspaceError, find_root, lab_name

    if exercise is None:
        with plain_errors(WorkspaceError, ReleasedError):
            root = find_root()
            restored = restore_lab(root, lab_name(root, lab))
        _tell(restored, restored.notebook.stem, root)
    else:
        choice = chosen("reset", lab, exercise)
        with plain_errors(WorkspaceError, ReleasedError):
            restored = restore_exercise(choice.root, choice.lab, choice.exercise)
        _tell(restored, choice.exercise.name, choice.root)


def _tell(restored: Restored, what: str, root: Path) -> None:
    if not restored.changed:
        typer.echo(f"{what} in {restored.notebook} is as it was released. Nothing was changed.")
        return
    typer.echo(f"{what} in {restored.notebook} is as it was released.")
    if restored.aside:
        typer.echo(f"Your version is kept in {restored.aside}.")
    if restored.noted:
        typer.echo("What you had written stands under it, folded away: “What you had written here …”.")
    typer.echo(
        "Is it open in JupyterLab? Then reload the page. If it says there that the file has changed, "
        "choose Revert: Overwrite would undo this."
    )
