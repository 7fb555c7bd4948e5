"""What the explorers share: controls that look alike, and a picture that follows them a moment later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from html import escape
from typing import Any, Final, Protocol

import ipywidgets as widgets

PAUSE: Final = 0.15  # seconds without another move before the picture is computed anew
LINE: Final = "margin:0 0 6px;line-height:1.45"
RESTARTED: Final = "If nothing moves, the kernel was restarted: run this cell again."


class Handle(Protocol):
    """Something scheduled that can still be called off."""

    def cancel(self) -> None: ...


Later = Callable[[float, Callable[[], None]], Handle | None]


def call_later(seconds: float, action: Callable[[], None]) -> Handle | None:
    """Run `action` on the kernel's event loop after a pause, or at once where no loop runs."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        action()
        return None
    return loop.call_later(seconds, action)


class Redrawn:
    """A picture and the words beneath it. `draw` gives both, as HTML.

    Whatever `draw` raises is shown, and no old picture beside it: a kernel would hide it.
    `later(seconds, action)` schedules a redraw and returns a handle with `cancel()`.
    """

    def __init__(
        self, draw: Callable[[], tuple[str, str]], *, later: Later = call_later, pause: float = PAUSE
    ) -> None:
        self._draw = draw
        self._later = later
        self._pause = pause
        self._waiting: Handle | None = None
        self.picture = widgets.HTML()
        self.words = widgets.HTML()

    def soon(self, change: Any = None) -> None:
        """A control moved: redraw after the pause, once for several quick moves."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = self._later(self._pause, self.now)

    def now(self) -> None:
        """Redraw."""
        self._waiting = None
        try:
            self.picture.value, self.words.value = self._draw()
        except Exception as error:  # whatever it is, the reader has to see it
            self.picture.value = ""
            self.words.value = paragraph(
                f"<b>This could not be computed.</b> {escape(f'{type(error).__name__}: {error}')}<br>"
                "Move a control back; if that does not help, run this cell again."
            )


class Presets:
    """A menu of known cases and one's own: a case sets the controls, a moved control makes it one's own.

    `show(title)` sets the controls to that case and tells about it; for the title `own` it tells only.
    `soon` redraws.
    """

    def __init__(
        self,
        menu: Any,
        own: str,
        controls: Sequence[Any],
        *,
        show: Callable[[str], None],
        soon: Callable[[], None],
    ) -> None:
        self._menu, self._own = menu, own
        self._show, self._soon = show, soon
        self._setting = False
        menu.observe(self._on_case, names="value")
        for control in controls:
            control.observe(self._on_own, names="value")
        self._set()

    def _on_case(self, change: Any) -> None:
        self._set()
        if self._menu.value != self._own:
            self._soon()

    def _set(self) -> None:
        self._setting = True
        try:
            self._show(self._menu.value)
        finally:
            self._setting = False

    def _on_own(self, change: Any) -> None:
        if self._setting:
            return
        self._menu.value = self._own
        self._soon()


def paragraph(html: str, *, quiet: bool = False) -> str:
    """Words of a view; `quiet` ones stand back."""
    return f"<p style='{LINE}{';opacity:.75' if quiet else ''}'>{html}</p>"


def spoken(sentence: str, more: str) -> str:
    """What a view says of itself, in plain text: what matters most first. Screen readers say it."""
    return f"<div role='status'>{paragraph(f'<b>{escape(sentence)}</b><br>{escape(more)}')}</div>"


def slider(kind: type[Any], description: str, **settings: Any) -> Any:
    """A slider of one width, its description in full."""
    return kind(
        description=description,
        style={"description_width": "182px"},
        layout=widgets.Layout(width="400px", max_width="100%"),
        **settings,
    )


def wrapped(controls: list[Any]) -> widgets.HBox:
    """Controls in a row that becomes several where it is narrow."""
    return widgets.HBox(controls, layout=widgets.Layout(flex_flow="row wrap", grid_gap="0 16px"))
