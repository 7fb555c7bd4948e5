"""Ctrl-C that is not lost: an interrupt is an exception, and who clears errors can clear it too."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import TypeVar

T = TypeVar("T")


def heeding(events: Iterable[T]) -> Iterator[T]:
    """The same events. Raises KeyboardInterrupt before the next one where it was raised once and vanished."""
    told: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        told.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # only that one is told of signals
        yield from events
        return
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        for event in events:
            if told:
                raise KeyboardInterrupt
            yield event
    finally:
        signal.signal(signal.SIGINT, before)
