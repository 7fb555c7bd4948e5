"""Markdown and code of the labs, and words about them, as a terminal shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_THEME = "ansi_dark"  # the terminal's own colours, on its own background, be it light or dark


def show_markdown(console: Console, text: str) -> None:
    """Print a text of a lab. Where its links lead is not shown: from one notebook to another."""
    from rich.markdown import Markdown

    console.print(Markdown(text, code_theme=_THEME, inline_code_theme=_THEME, hyperlinks=True))


def show_code(console: Console, source: str) -> None:
    """Print Python to be copied, so that no line is broken."""
    from rich.syntax import Syntax

    highlighted = Syntax("", "python", theme=_THEME, background_color="default").highlight(source)
    highlighted.rstrip()
    console.print(highlighted, soft_wrap=True)


def say(console: Console, text: str, style: str = "") -> None:
    """Print words of our own: commands and paths in them are not taken for markup."""
    console.print(text, style=style, markup=False)
