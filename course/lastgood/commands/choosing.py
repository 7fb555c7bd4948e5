"""From what a learner typed, a lab and an exercise: for the commands that take both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import typer

from lastgood.commands.errors import plain_errors
from lastgood.exercises import Exercise, ExerciseError, exercises, find, listed
from lastgood.workspace import WorkspaceError, find_root, lab_name

NAMED = "An exercise: its function, its part such as C2, or its grade_id."


@dataclass(frozen=True)
class Chosen:
    """An exercise of a lab, and what to type for the two: `18 save`."""

    root: Path
    lab: str
    exercise: Exercise

    @property
    def number(self) -> str:
        return self.lab.removeprefix("lab")

    @property
    def typed(self) -> str:
        return f"{self.number} {self.exercise.name}"


def chosen(command: str, lab: str, exercise: str | None) -> Chosen:
    """The exercise that is meant. Where none is named, list them, say how to name one, and exit with 1."""
    with plain_errors(WorkspaceError, ExerciseError):
        root = find_root()
        name = lab_name(root, lab)
        found = exercises(root, name)
        if exercise is not None:
            return Chosen(root, name, find(found, exercise, name))
    number = name.removeprefix("lab")
    typer.echo(f"The exercises of lab {number}:\n{listed(found)}")
    if found:
        typer.echo(f"Name one by its part or by its function: `lastgood {command} {number} {found[0].name}`.")
    raise typer.Exit(1)
