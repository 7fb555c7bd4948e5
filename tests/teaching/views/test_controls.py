"""A picture follows its controls: once for several moves, and never an old one beside an error."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

from lastgood.teaching.views.controls import Redrawn, slider, spoken


class Clock:
    """Stands in for the event loop: what is scheduled waits for `strike`."""

    def __init__(self) -> None:
        self.scheduled: list[tuple[float, Callable[[], None]]] = []

    def __call__(self, seconds: float, action: Callable[[], None]) -> Clock:
        self.scheduled.append((seconds, action))
        return self

    def cancel(self) -> None:
        self.scheduled.pop()

    def strike(self) -> None:
        while self.scheduled:
            self.scheduled.pop()[1]()


def test_several_quick_moves_are_answered_once_after_a_pause() -> None:
    clock, drawn = Clock(), []
    control = slider(widgets.IntSlider, "steps")

    def draw() -> tuple[str, str]:
        drawn.append(control.value)
        return f"picture of {control.value}", "words"

    view = Redrawn(draw, later=clock, pause=0.2)
    control.observe(view.soon, names="value")
    for control.value in (1, 2, 3):
        assert drawn == []
    assert [seconds for seconds, _ in clock.scheduled] == [0.2]
    clock.strike()
    assert (drawn, view.picture.value, view.words.value) == ([3], "picture of 3", "words")


def test_an_error_stands_where_the_old_picture_was_and_a_later_picture_replaces_it() -> None:
    answers: list[object] = [("one", "words"), MemoryError("no <room>"), ("two", "words")]

    def draw() -> tuple[str, str]:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[return-value]

    view = Redrawn(draw)
    view.now()
    view.now()
    assert view.picture.value == ""
    assert "MemoryError: no &lt;room&gt;" in view.words.value
    view.now()
    assert (view.picture.value, view.words.value) == ("two", "words")


def test_what_a_view_says_is_escaped_and_told_to_screen_readers() -> None:
    said = spoken("1 < 2", "a & b")
    assert "<b>1 &lt; 2</b><br>a &amp; b" in said
    assert "role='status'" in said
