"""`lastgood solution`: how the course solves an exercise, once you have, or when you ask twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lastgood.commands.choosing import NAMED, Chosen, chosen
from lastgood.commands.errors import plain_errors

if TYPE_CHECKING:
    from rich.console import Console

    from lastgood.asked import Asked
    from lastgood.exercises import Solution


def solution(
    lab: Annotated[str, typer.Argument(help="A lab, such as 18.")],
    exercise: Annotated[str | None, typer.Argument(help=NAMED, show_default=False)] = None,
) -> None:
    """Show how the course solves an exercise: once you have its points, or when you ask twice."""
    from rich.console import Console

    from lastgood import asked, exercises
    from lastgood.commands.showing import say
    from lastgood.teaching.study.store import StoreError

    choice = chosen("solution", lab, exercise)
    with plain_errors(exercises.ExerciseError):
        found = exercises.solution(choice.root, choice.lab, choice.exercise)
    before = asked.so_far(choice.lab, choice.exercise)
    console = Console(highlight=False)
    if not (before.solved or before.solution):
        try:
            asked.keep_solution(choice.lab, choice.exercise)
        except StoreError as error:
            # Who cannot be remembered would never have asked twice.
            say(console, f"{error}\n")
        else:
            _first_try(console, choice, before)
            return
    _show(console, choice, found)


def _first_try(console: Console, choice: Chosen, before: Asked) -> None:
    """Say what to try, and how to see it all the same."""
    from lastgood.commands.showing import say

    hints = len(choice.exercise.hints)
    if choice.exercise.functions:
        why = f"The points of {choice.exercise.name} were not earned at the last check. Try this first:"
        ways = [f"`lastgood check {choice.number}` says what is wrong with what you have."]
        if hints:
            ways.append(
                f"`lastgood hint {choice.typed}` shows hints. You have seen {before.hints} of {hints}."
            )
    else:
        why = "A person reads this answer, or you do. Try this first:"
        ways = ["Write yours, in your own words. Two sentences are enough to compare."]
    say(console, "\n".join([why, *(f"  - {way}" for way in ways)]))
    say(console, f"To see the course's own now, type it once more: `lastgood solution {choice.typed}`")


def _show(console: Console, choice: Chosen, found: Solution) -> None:
    """Print the solution, and how one gets there."""
    from lastgood.commands.showing import say, show_code, show_markdown

    say(console, f"{choice.exercise.part}  {choice.exercise.title}\n", style="bold")
    for kind, text in found.cells:
        (show_code if kind == "code" else show_markdown)(console, text)
        console.print()
    if choice.exercise.hints:
        say(console, "How one gets there", style="bold")
    for one in choice.exercise.hints:
        console.print()
        show_markdown(console, one.text)
    if found.marking:
        show_markdown(console, found.marking)
