"""`lastgood hint`: the hints that a lab folds away, one at a time."""

from __future__ import annotations

from typing import Annotated

import typer

from lastgood.commands.choosing import NAMED, chosen


def hint(
    lab: Annotated[str, typer.Argument(help="A lab, such as 18.")],
    exercise: Annotated[str | None, typer.Argument(help=NAMED, show_default=False)] = None,
    everything: Annotated[bool, typer.Option("--all", help="Show all hints of the exercise.")] = False,
) -> None:
    """Show the next hint of an exercise, one more each time you ask."""
    from rich.console import Console

    from lastgood import asked
    from lastgood.commands.showing import say, show_markdown
    from lastgood.teaching.study.store import StoreError

    choice = chosen("hint", lab, exercise)
    console, hints = Console(highlight=False), choice.exercise.hints
    ways = f"`lastgood solution {choice.typed}` shows how the course solves it."
    if not hints:
        say(console, f"{choice.exercise.name} has no hints. Read once more what is asked:\n")
        show_markdown(console, choice.exercise.task)
        if choice.exercise.functions:
            ways = f"`lastgood check {choice.number}` says what is wrong with what you have. {ways}"
        say(console, f"\n{ways}")
        return
    seen = asked.so_far(choice.lab, choice.exercise).hints
    first, now = (0, len(hints)) if everything or seen >= len(hints) else (seen, seen + 1)
    for one in hints[first:now]:
        show_markdown(console, f"**{one.title}**\n\n{one.text}")
        console.print()
    more = f"`lastgood hint {choice.typed}` shows the next one." if now < len(hints) else ways
    say(console, f"{now} of {len(hints)} hints. {more}")
    try:
        asked.keep_hints(choice.lab, choice.exercise, now)
    except StoreError as error:
        say(console, f"\n{error} `--all` shows all hints at once.")
