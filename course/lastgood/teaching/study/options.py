"""Options of a card as buttons, of which one is taken.

Not as radio buttons: those are chosen with the arrow keys, which JupyterLab keeps for its cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import ipywidgets as widgets

LETTERS: Final = "ABCDEF"
STYLE: Final = (
    ".lastgood-option {height:auto; max-width:640px; padding:6px 10px; white-space:normal; overflow:visible;"
    " text-align:left; line-height:1.45}"
)
_TAKEN: Final = "✓ "


class Options:
    """A button for each letter. They stay in the page, and those that a card does not have are hidden.

    Attributes:
        buttons: by letter.
        widget: all of them.
    """

    def __init__(self) -> None:
        self.buttons = {letter: self._button(letter) for letter in LETTERS}
        self.widget = widgets.VBox([widgets.HTML("Your answer"), *self.buttons.values()])
        self.layout = self.widget.layout
        self._texts: Mapping[str, str] = {}
        self._taken: str | None = None

    def ask(self, texts: Mapping[str, str]) -> None:
        """Show these, by letter, none of them taken."""
        self._texts = texts
        for letter, button in self.buttons.items():
            button.layout.display = None if letter in texts else "none"
        self.value = None

    @property
    def value(self) -> str | None:
        """The letter that is taken."""
        return self._taken

    @value.setter
    def value(self, letter: str | None) -> None:
        self._taken = letter
        for name, text in self._texts.items():
            self.buttons[name].description = f"{_TAKEN if name == letter else ''}{name}. {text}"
            self.buttons[name].button_style = "info" if name == letter else ""

    @property
    def disabled(self) -> bool:
        return all(button.disabled for button in self.buttons.values())

    @disabled.setter
    def disabled(self, disabled: bool) -> None:
        for button in self.buttons.values():
            button.disabled = disabled

    def focus(self) -> None:
        """Give the first of them the focus."""
        self.buttons[LETTERS[0]].focus()

    def _take(self, letter: str, _: Any) -> None:
        self.value = letter

    def _button(self, letter: str) -> Any:
        button = widgets.Button(layout=widgets.Layout(width="auto"))
        button.add_class("lastgood-option")
        button.on_click(partial(self._take, letter))
        return button
