"""`lastgood inspect`: what a checkpoint holds, whatever framework wrote it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from lastgood.recovery.inspect import Finding, Report

UNREADABLE = 2  # exit status; 0 is complete, 1 is something missing
_TITLES = {
    "moments": "optimizer moments",
    "counts": "per-parameter steps",
    "position": "schedule position",
    "horizon": "schedule horizon",
    "loader": "data-loader position",
}
_MARKS = {"held": "✓", "missing": "✗", "cannot be told": "?"}
_STYLES = {"held": "", "missing": "red", "cannot be told": "dim"}
_FILES = 8  # that are listed
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def inspect(
    path: Annotated[Path, typer.Argument(help="A checkpoint's file or folder, or a folder of checkpoints.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the same as JSON, for programs.")] = False,
) -> None:
    """Say what a checkpoint holds, what is missing, and what that does to a resume. Nothing of it is run.

    Exits with 0 if it is complete, with 1 if something is missing, and with 2 if it cannot be read or is not
    to be trusted.
    """
    from lastgood.recovery.inspect import InspectError
    from lastgood.recovery.inspect import inspect as described

    try:
        report = described(path)
    except InspectError as error:
        if as_json:
            typer.echo(json.dumps({"status": UNREADABLE, "error": str(error)}, indent=2, ensure_ascii=False))
        else:
            typer.secho(str(error), fg=typer.colors.RED, err=True)
        raise typer.Exit(UNREADABLE) from None
    if as_json:
        typer.echo(json.dumps(report.as_data(), indent=2, ensure_ascii=False))
    else:
        _print(report)
    raise typer.Exit(report.status)


def _print(report: Report) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    _say(console, report.path, "bold")
    _say(console, f"Written by {report.writer}: {'; '.join(report.because)}. {_size(report.bytes)}.")
    for file in report.files[:_FILES] if len(report.files) > 1 else []:
        _say(console, f"  {file.name}  {_size(file.bytes)}, {file.format}")
    if len(report.files) > _FILES:
        _say(console, f"  … and {len(report.files) - _FILES} more files")
    _danger(console, report)
    console.print()
    console.print(_table(report.findings))
    _list(console, "Without what is missing", [_effect(finding) for finding in report.missing])
    _list(console, "Read", [f"Lesson {number}: {path}" for number, path in sorted(_lessons(report).items())])
    _list(console, "Not whole", report.faults)
    _list(console, "Also", [*report.notes, *_classes(report)])
    console.print()
    _say(console, _verdict(report), "bold")


def _danger(console: Console, report: Report) -> None:
    if report.dangers:
        console.print()
        named = ", ".join(report.dangers)
        said = f"Do not load this file: its pickle can call {named}. Nothing of it was run here."
        _say(console, said, "bold red")


def _table(found: list[Finding]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in found:
        title = _TITLES.get(finding.component, finding.component)
        cells = [Text(cell) for cell in (_MARKS[finding.status], title, _detail(finding))]
        table.add_row(*cells, style=_STYLES[finding.status])
    return table


def _detail(finding: Finding) -> str:
    """How much there is, of which kinds, and where."""
    parts = []
    if finding.tensors:
        dtypes = ", ".join(finding.dtypes)
        tensors = f"{finding.tensors:,} tensor{'s' * (finding.tensors != 1)}"
        parts.append(f"{tensors}, {_size(finding.bytes)}, {dtypes}.")
    if finding.detail:
        parts.append(finding.detail)
    if finding.where:
        more = ", …" if len(finding.where) > 2 else ""
        parts.append(f"In {', '.join(finding.where[:2])}{more}")
    return " ".join(parts) or finding.status


def _effect(finding: Finding) -> str:
    title = _TITLES.get(finding.component, finding.component)
    return f"{title}: {finding.effect} (Lesson {finding.lesson})"


def _lessons(report: Report) -> dict[str, str]:
    from lastgood.recovery.inspect.effects import LESSONS

    return {finding.lesson: LESSONS[finding.lesson] for finding in report.missing}


def _classes(report: Report) -> list[str]:
    if not report.classes:
        return []
    named = ", ".join(report.classes[:4]) + (", …" if len(report.classes) > 4 else "")
    refused = "torch.load(weights_only=True) refuses classes that it does not know."
    return [f"It holds objects of {named}. {refused}"]


def _list(console: Console, title: str, lines: list[str]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    if lines:
        console.print()
        _say(console, f"{title}:")
        for line in lines:
            console.print(Padding(Text(f"- {line}"), (0, 0, 0, 2)))


def _verdict(report: Report) -> str:
    if report.dangers:
        return "Not to be loaded."
    if report.status == 0:
        return "Complete: what a run needs to go on as before is here, as far as a file can show."
    lacks = [_TITLES.get(finding.component, finding.component) for finding in report.missing]
    said = [f"missing: {', '.join(lacks)}"] if lacks else []
    return f"Incomplete: {'; '.join([*said, *(['not whole'] if report.faults else [])])}."


def _say(console: Console, text: str, style: str = "") -> None:
    """Print words that may come from a file: they are never taken for markup."""
    console.print(text, style=style, markup=False)


def _size(count: int) -> str:
    """Bytes in the unit that a reader can compare: powers of ten, as disks have them."""
    if count < 1000:
        return f"{count} bytes"
    power = min(4, (len(str(count)) - 1) // 3)
    return f"{count / 1000**power:,.1f} {_UNITS[power]}"
