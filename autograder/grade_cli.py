"""`autograder grade`: the command line of the class runner."""

from __future__ import annotations

import os
from contextlib import closing
from typing import Annotated

import typer

from autograder.report_cli import Lab, Root, Students


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(grade)


def grade(
    lab: Lab,
    students: Students = "",
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="How many are graded at once; by default as many as there are cores."),
    ] = None,
    scheduler: Annotated[
        str, typer.Option(metavar="URL", help="Grade on the workers of this Dask scheduler.")
    ] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Grade again who was graded from the same files.")
    ] = False,
    feedback: Annotated[bool, typer.Option("--feedback", help="Write each student's feedback too.")] = False,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="Run the notebooks without the sandbox; each report says so.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what happens as JSON, a line each.")] = False,
    root: Root = None,
) -> None:
    """Grade a class. Stopped or killed, the same command goes on from there."""
    from autograder.cli import console, course_root, fail
    from autograder.course import LOGS, Course, CourseError
    from autograder.runner import screen
    from autograder.runner.blank import BlankError
    from autograder.runner.ledger import LedgerError
    from autograder.runner.places import PlaceError, place
    from autograder.runner.run import RunError, Wish
    from autograder.runner.run import grade as graded
    from autograder.sandbox.ready import SandboxError
    from autograder.sandbox.settings import UNSAFE

    if unsafe:
        os.environ[UNSAFE] = "1"  # which a setting in nbgrader_config.py would overrule
    course = Course(course_root(root))
    wish = Wish(tuple(filter(None, students.split(","))), again=force, feedback=feedback)
    try:
        with (
            place(course, lab, workers, scheduler) as workers_there,
            closing(graded(course, lab, workers_there, wish)) as events,
        ):
            done = screen.print_lines(events) if as_json else screen.show(events, console)
    except (BlankError, CourseError, LedgerError, PlaceError, RunError, SandboxError) as error:
        fail(lab, str(error).splitlines())
    except KeyboardInterrupt:
        fail("stopped", ["what was recorded stays; the same command goes on from there"])
    failed = [each.student for each in done if each.fault]
    if as_json:
        raise typer.Exit(bool(failed))
    if failed:
        fail(f"{len(failed)} not graded", [f"{', '.join(failed)}: see {LOGS}/STUDENT.log"])
    console.print(f"[green]✓[/] {len(done)} graded. What was hard: autograder report {lab}")
