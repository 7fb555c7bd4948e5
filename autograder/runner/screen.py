"""What an instructor sees of a class being graded, and what a program reads of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from autograder.runner.run import Begun, Done


class _Rate(ProgressColumn):
    """Submissions a minute."""

    def render(self, task: Task) -> Text:
        elapsed = task.finished_time or task.elapsed
        return Text(f"{60 * task.completed / elapsed:.1f}/min" if task.completed and elapsed else "-/min")


def show(events: Iterable[Begun | Done], console: Console) -> list[Done]:
    """Follow a class being graded, with a bar where the console is a terminal; returns who is done."""
    columns = (
        TextColumn("grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("·"),
        _Rate(),
        TextColumn("·"),
        TimeElapsedColumn(),
        TextColumn("· left"),
        TimeRemainingColumn(),
    )
    done = []
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("grading", total=None)
        for event in events:
            if isinstance(event, Begun):
                progress.update(task, total=len(event.students))
                lines = _begun(event)
            else:
                done.append(event)
                progress.advance(task)
                lines = _done(event)
            for line in lines:
                console.print(escape(line), highlight=False)
    return done


def print_lines(events: Iterable[Begun | Done]) -> list[Done]:
    """The same as JSON on stdout, an object a line, the last with how many were graded and how many not."""
    done = []
    for event in events:
        if isinstance(event, Begun):
            _print({"begun": {"students": len(event.students), "before": len(event.before)}})
            continue
        done.append(event)
        about = {"student": event.student, "seconds": round(event.seconds, 3)}
        _print({**about, "fault": event.fault, "notes": list(event.notes)})
    failed = sum(bool(each.fault) for each in done)
    _print({"done": {"graded": len(done) - failed, "failed": failed}})
    return done


def _print(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def _begun(event: Begun) -> Iterator[str]:
    if event.before:
        yield f"{len(event.before)} graded before, from the same files. `--force` grades them again."
    if event.moved:
        yield f"The late penalty has changed for {', '.join(event.moved)}."


def _done(event: Done) -> Iterator[str]:
    if event.fault:
        yield f"✗ {event.student}: not graded. {event.fault}"
    else:
        yield f"✓ {event.student} {event.seconds:.1f} s"
    for note in event.notes:
        yield f"    {note}"
