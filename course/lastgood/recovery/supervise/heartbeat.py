"""Has a process hung? Its silence says so, where it does not merely wait for a core."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

_WITHOUT_PROC = 10  # times as long is waited where nothing but silence can be known


class Heartbeat:
    """The signs of life of one process: its messages, and whether it runs.

    Silent for `silence_s` and not computing either, it has hung: stopped, or waiting for what never comes. On
    a loaded machine a healthy process is silent for long, but it is runnable, or waits for the disk. One that
    computes and says nothing for `stuck_s` goes round in circles.
    """

    def __init__(
        self, pid: int, silence_s: float, stuck_s: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._pid = pid
        self._silence_s, self._stuck_s = silence_s, stuck_s
        self._now = now
        self._heard = self._alive = now()
        self._seen = signs_of_life(pid)

    @property
    def interval_s(self) -> float:
        """How often to look, seconds."""
        return self._silence_s / 4

    def heard(self) -> None:
        """A message has come."""
        self._heard = self._alive = self._now()

    def hung(self) -> bool:
        """Look. True once the process has given no sign of life for too long."""
        now, seen = self._now(), signs_of_life(self._pid)
        if has_run(self._seen, seen):
            self._alive = now
        self._seen = seen
        silence_s = self._silence_s * (1 if seen else _WITHOUT_PROC)
        return now - self._alive >= silence_s or now - self._heard >= self._stuck_s


def signs_of_life(pid: int) -> tuple[str, int] | None:
    """State letter and CPU ticks used so far, as /proc has them; None where it does not say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], int(fields[11]) + int(fields[12])


def has_run(before: tuple[str, int] | None, now: tuple[str, int] | None) -> bool:
    """Whether two looks at `signs_of_life` show a process at work, or waiting for a core or the disk."""
    return now is not None and (now[0] in "RD" or now != before)
