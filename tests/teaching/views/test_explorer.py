"""Ticks are answered once, and an error is seen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from lastgood.recovery.components import LOADER, PARAMETERS, RNG, STEP
from lastgood.teaching.views.explorer import ResumeExplorer, call_later, resume_explorer
from lastgood.teaching.views.resume import (
    Curve,
    ResumeExperiment,
)


class Later:
    """Stands in for the event loop: nothing happens until `pass_time`."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def __call__(self, seconds: float, action: Callable[[], None]) -> Later:
        self.waiting.append(action)
        return self

    def cancel(self) -> None:
        self.waiting.pop()

    def pass_time(self) -> None:
        for action in self.waiting:
            action()
        self.waiting.clear()


def test_at_first_everything_is_ticked_and_nothing_is_missing(experiment: ResumeExperiment) -> None:
    box = resume_explorer(experiment)
    values = [child.value for child in box.children if hasattr(child, "value")]
    assert any("Nothing missing" in value for value in values)
    assert any("<svg" in value for value in values)
    assert any("run this cell again" in value for value in values)


def test_several_quick_ticks_are_answered_once(experiment: ResumeExperiment) -> None:
    later = Later()
    explorer = ResumeExplorer(experiment, later=later)
    explorer.redraw()
    first = explorer.picture.value
    explorer.set_ticked(PARAMETERS, STEP, LOADER)  # two ticks move
    assert (len(later.waiting), explorer.status.value, explorer.picture.value) == (1, "Computing…", first)
    later.pass_time()
    assert explorer.status.value == ""
    assert explorer.picture.value != first
    assert "Missing: optimizer state, RNG state." in explorer.words.value
    assert "uninterrupted" in explorer.words.value  # the held-out losses


def test_an_error_is_shown_and_not_the_old_picture(
    experiment: ResumeExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = Later()
    explorer = ResumeExplorer(experiment, later=later)
    explorer.redraw()

    def fail(components: object) -> Curve:
        raise MemoryError("no <room>")

    monkeypatch.setattr(experiment, "resume", fail)
    explorer.set_ticked(RNG)
    later.pass_time()
    assert "MemoryError: no &lt;room&gt;" in explorer.words.value
    assert (explorer.picture.value, explorer.status.value) == ("", "")


def test_a_redraw_waits_on_the_event_loop_where_there_is_one_and_else_does_not() -> None:
    done: list[str] = []
    assert call_later(60, lambda: done.append("at once")) is None

    async def in_a_kernel() -> None:
        passed = asyncio.Event()
        call_later(0, passed.set)
        waiting = call_later(60, lambda: done.append("too early"))
        assert waiting is not None
        await passed.wait()
        waiting.cancel()

    asyncio.run(in_a_kernel())
    assert done == ["at once"]
