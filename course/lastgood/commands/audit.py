"""`lastgood audit`: does your own training code resume as if it had not been killed?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from lastgood.recovery.resuming import Report

INTERRUPTED = 130  # as shells have it
NO_AUDIT = 2  # exit status; 0 resumes bit for bit, 1 does not
_MARKS = {"kept": "✓", "lost": "✗", "lost the second time": "✗", "not compared": "-"}
_FILE = {"held": "yes", "missing": "no", "cannot be told": "cannot tell", "": ""}
_DETAIL = 25  # lines


def audit(
    module: Annotated[
        str, typer.Argument(help="A file that ends in .py, or a module's name, with the five functions.")
    ],
    before: Annotated[int, typer.Option(min=1, help="Steps until the save: end inside an epoch.")] = 7,
    after: Annotated[int, typer.Option(min=1, help="Steps after each resume: go past an epoch's end.")] = 8,
    patience: Annotated[
        float, typer.Option(min=1.0, help="Seconds that one call of a function may take.")
    ] = 600.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the same as JSON, for programs.")] = False,
) -> None:
    """Kill and resume your own training code: what comes back, bit for bit, and what does not?

    The module defines make() -> run, advance(run, steps) -> losses, save(run, folder), resume(folder) -> run
    and, so that each component can be told, observe(run) -> tensors by component.
    lastgood.recovery.resuming.adapters has them for Hugging Face's Trainer, Accelerate and Lightning.
    The run is one process: what several ranks save together is not audited.

    Exits with 0 if the run resumes as if it had not been killed, with 1 if not, and with 2 if nothing can be
    said.
    """
    from rich.console import Console

    from lastgood.recovery.resuming import AuditError
    from lastgood.recovery.resuming import audit as audited

    console, aside = Console(highlight=False), Console(highlight=False, stderr=True)
    try:
        report = audited(
            module,
            before=before,
            after=after,
            patience=patience,
            on_stage=lambda words: aside.print(words, style="dim", markup=False),
        )
    except AuditError as error:
        if as_json:
            data = {"status": NO_AUDIT, "error": str(error), "detail": error.detail}
            typer.echo(json.dumps(data, indent=2, ensure_ascii=False))
        else:
            typer.secho(str(error), fg=typer.colors.RED, err=True)
            _detail(aside, error.detail)
        raise typer.Exit(NO_AUDIT) from None
    except KeyboardInterrupt:
        typer.echo("Stopped. Nothing was left behind.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        typer.echo(json.dumps(report.as_data(), indent=2, ensure_ascii=False))
    else:
        _print(console, report)
    raise typer.Exit(report.status)


def _print(console: Console, report: Report) -> None:
    console.print()
    saved = f"Saved after {report.before} steps, killed, resumed in a fresh process"
    size = f": {report.bytes:,} bytes" if report.bytes else ""
    by = f", written by {report.writer}" if report.writer else ""
    console.print(f"{saved}{size}{by}.", markup=False)
    if report.findings:
        console.print()
        console.print(_table(report))
    console.print()
    _detail(console, report.detail)
    for line in [*_stopped(report), *_effects(report), *_steps(report), *report.notes]:
        console.print(line, markup=False)
    console.print(_verdict(report), style="bold", markup=False)


def _table(report: Report) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(no_wrap=True)
    table.add_column("component", no_wrap=True)
    table.add_column("in the file", no_wrap=True)
    table.add_column("after the resume", overflow="fold")
    for finding in report.findings:
        again = "After a second resume: " if finding.status == "lost the second time" else ""
        said = f"{again}{finding.why}" or "came back"
        cells = (_MARKS[finding.status], finding.component, _FILE[finding.in_file], said)
        table.add_row(*map(Text, cells), style="red" if finding in report.lost else "")
    return table


def _stopped(report: Report) -> list[str]:
    return [f"It stopped. {report.stopped}"] if report.stopped else []


def _effects(report: Report) -> list[str]:
    """What the losses do to a run: once each, since several components may have the same effect."""
    told: dict[str, None] = {}
    for finding in report.lost:
        if finding.effect:
            told[f"- {finding.effect} (Lesson {finding.lesson})"] = None
    return ["So:", *told, ""] if told else []


def _steps(report: Report) -> list[str]:
    """Which step was the first to differ."""
    if report.first_step is not None:
        i = report.first_step - report.before
        return [
            f"The first step that differs is step {report.first_step}, the {_ordinal(i + 1)} after resuming. "
            f"Its loss is {report.found[i]!r}, not {report.expected[i]!r}."
        ]
    if report.second_step is not None:
        return [f"After a second resume the first step that differs is step {report.second_step}."]
    if report.found and report.lost:
        return [f"No loss of the {report.after} steps after the resume shows it."]
    return []


def _verdict(report: Report) -> str:
    if report.status == 0:
        return _whole(report)
    lost = ", ".join(finding.component for finding in report.lost)
    if lost:
        return f"It resumes into another run. Lost: {lost}."
    if report.stopped:
        return "It does not save." if report.stopped.startswith("save") else "It does not resume."
    # Every component that was looked at is right, or none was looked at.
    if not report.findings:
        return "It resumes into another run. With observe(run), the audit can tell what was lost."
    return (
        "It resumes into another run, though all that observe shows came back. What else decides that step? "
        "A schedule's settings, the next epoch's order, a data set's own state?"
    )


def _whole(report: Report) -> str:
    """That nothing was lost, and how far that was seen."""
    last = report.before + 2 * report.after
    steps = f"{report.after} steps after each of two resumes"
    compared = [finding for finding in report.findings if finding.status == "kept"]
    what = f", {len(compared)} components" if compared else ""
    said = [f"It resumes as if it had not been killed: {steps}{what}, bit for bit."]
    if not report.findings:
        unseen = "what they do not show, such as an average of the weights, may be lost all the same"
        said.append(f"Only losses were compared: {unseen}. observe(run) would tell.")
    if left := [finding.component for finding in report.findings if finding not in compared]:
        said.append(f"Not compared: {', '.join(left)}.")
    said.append(f"What comes after step {last}, such as the end of a longer epoch, was not seen.")
    return " ".join(said)


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _detail(console: Console, detail: str) -> None:
    if detail.strip():
        lines = detail.rstrip().splitlines()[-_DETAIL:]
        console.print("\n".join(f"    {line}" for line in lines), style="dim", markup=False)
