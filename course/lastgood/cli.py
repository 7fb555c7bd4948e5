"""The command `lastgood`: what a learner, or an instructor, types.

Commands import what they need when they run, so that `lastgood --help` answers at once: torch alone takes
seconds. A command that has much to say lives in a module of its own and is registered at the end of this one.
"""

import os
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

import typer

from lastgood import workspace
from lastgood.commands.anki import anki
from lastgood.commands.audit import audit
from lastgood.commands.errors import plain_errors
from lastgood.commands.hint import hint
from lastgood.commands.inspect import inspect
from lastgood.commands.plan import plan
from lastgood.commands.progress import progress
from lastgood.commands.reset import reset
from lastgood.commands.review import review
from lastgood.commands.run import run
from lastgood.commands.solution import solution
from lastgood.commands.term import term
from lastgood.workspace import WorkspaceError

if TYPE_CHECKING:
    from lastgood.server.validation import Result

app = typer.Typer(
    name="lastgood",
    help="A course on training runs that outlive their nodes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lastgood {version('lastgood')}")
        raise typer.Exit


@app.callback()
def main(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """A course on training runs that outlive their nodes."""


@app.command()
def lab(
    instructor: Annotated[
        bool, typer.Option("--instructor", help="Open the Formgrader, with all of nbgrader's panels.")
    ] = False,
    browser: Annotated[
        bool | None,
        typer.Option(
            "--browser/--no-browser",
            help="Open a browser, or print the address; by itself it does what the machine allows.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="The port to serve on, by itself the first free one from 8888 on.")
    ] = None,
) -> None:
    """Open the course in JupyterLab, on copies of the lessons and labs in work/."""
    from lastgood.server.launch import Launch, can_open_browser

    with plain_errors(WorkspaceError):
        root = workspace.find_root()
        copied = workspace.start(root).copied
    if copied:
        typer.echo(f"Copied {len(copied)} files into {root / workspace.WORK}. They are yours to change.")
    launch = Launch(root, instructor, can_open_browser() if browser is None else browser, port)
    if not launch.browser:
        typer.echo("Open the address that JupyterLab prints below. Ctrl-C stops it.")
    # nbgrader reads its configuration from the current folder.
    os.chdir(root)
    sys.stdout.flush()
    command = launch.command()
    os.execve(command[0], command, launch.environment(os.environ))


@app.command()
def start(
    lab: Annotated[str | None, typer.Argument(help="A lab, such as 18.", show_default="all")] = None,
) -> None:
    """Copy lessons and labs into work/, where they are yours. What is there already is kept."""
    with plain_errors(WorkspaceError):
        root = workspace.find_root()
        only = None if lab is None else [workspace.lab_name(root, lab)]
        started = workspace.start(root, only)
    for path in started.copied:
        typer.echo(f"copied  {path}")
    if started.kept:
        typer.echo(f"kept    {len(started.kept)} files that were there already")
    if only:
        typer.echo(f"Now open {workspace.lab_notebook(only[0])}: `lastgood lab`.")


@app.command()
def check(lab: Annotated[str, typer.Argument(help="A lab, such as 18.")]) -> None:
    """Run your copy of a lab in a fresh kernel and say which checks fail, as the Validate button does."""
    import asyncio

    from lastgood.server.points import record
    from lastgood.server.validation import ValidationError, validate

    with plain_errors(WorkspaceError, ValidationError):
        root = workspace.find_root()
        name = workspace.lab_name(root, lab)
        notebook = workspace.lab_notebook(name)
        if not (root / notebook).is_file():
            raise WorkspaceError(f"{notebook} is not there yet. `lastgood start {lab}` puts it there.")
        typer.echo(f"Running {notebook} in a fresh kernel …")
        result = asyncio.run(validate(root / notebook, root))
    _report(result)
    for note in record(result, root / notebook, root):
        typer.echo(f"\n{note}")
    if not result.passed:
        raise typer.Exit(1)


def _report(result: "Result") -> None:
    """Print what validating found."""
    for cell in result.type_changed:
        typer.echo(f"\nThis {cell['old_type']} cell was made a {cell['new_type']} cell; change it back:")
        typer.echo(_indented(cell["source"]))
    for source in result.changed:
        typer.echo("\nThis cell belongs to the lab and was changed; undo that, or `lastgood reset` it:")
        typer.echo(_indented(source))
    for failed in result.failed:
        typer.secho(f"\n✗ {_title(failed.source)}", fg=typer.colors.RED)
        typer.echo(_indented(failed.text))
    if result.passed:
        typer.secho("✓ Every check passes.", fg=typer.colors.GREEN)
    elif result.failed:
        typer.echo(f"\n{len(result.failed)} to go.")


def _title(source: str) -> str:
    """Return the line that names a cell: a graded cell's one call, a written answer's first line."""
    lines = [line for line in source.splitlines() if line.strip() and not line.startswith("#!")]
    return lines[-1] if lines and lines[-1].startswith("check") else (lines or ["(an empty cell)"])[0]


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


app.command()(run)
app.command()(plan)
app.command()(progress)
app.command()(hint)
app.command()(solution)
app.command()(reset)
app.command()(review)
app.command()(term)
app.command()(anki)
app.command()(inspect)
app.command()(audit)
