"""What a supervisor asks itself of each process, answered as lab 19 wants it."""

from __future__ import annotations

import signal

from lastgood.recovery.job.checkpoints import last_good
from lastgood.recovery.job.handle import START_PATIENCE
from lastgood.recovery.job.plan import PATIENCE

__all__ = ["last_good", "no_progress", "what_happened"]


def what_happened(status: int | None, silence: float, beats: int) -> str:
    """What became of a process, from its exit status, its silence in seconds and its count of heartbeats."""
    if status is None:
        return "hung" if silence > (PATIENCE if beats else START_PATIENCE) else "running"
    if status == 0:
        return "finished"
    if status == -signal.SIGTERM:
        return "left"
    return f"killed by {signal.Signals(-status).name}" if status < 0 else "failed"


def no_progress(reached: list[int]) -> int:
    """How many of the last deaths, in a row, came before a step that no process before had reached."""
    furthest = deaths = 0
    for step in reached:
        furthest, deaths = max(furthest, step), 0 if step > furthest else deaths + 1
    return deaths
