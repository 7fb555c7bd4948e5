"""Ctrl-C ends a class, whoever was at work when it came."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from autograder.runner.interrupt import heeding


def events(*, swallowing: bool) -> Iterator[int]:
    yield 1
    with suppress(KeyboardInterrupt if swallowing else ()):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1_000):  # Python looks for signals between two lines
            pass
    yield 2


@pytest.mark.parametrize("swallowing", [False, True])
def test_an_interrupt_ends_it_even_where_a_library_swallows_it(swallowing: bool) -> None:
    seen, before = [], signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        seen.extend(heeding(events(swallowing=swallowing)))
    seen += heeding([3])
    assert seen[-1] == 3
    assert 2 not in seen
    assert signal.getsignal(signal.SIGINT) is before


def test_away_from_the_main_thread_the_events_come_as_they_are() -> None:
    seen: list[int] = []
    thread = threading.Thread(target=lambda: seen.extend(heeding([1, 2])))
    thread.start()
    thread.join()
    assert seen == [1, 2]
