"""One life of a run, lived by somebody who believes something wrong: what names a mistake in C2.

The right life is the library's `event_loop`. This loop lives it too, and says what each failure struck; with
a belief, it lives the life as that belief has it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

WORK, SAVE, RESTART = "work", "save", "restart"


@dataclass(frozen=True)
class Numbers:
    """A run: hours of work, of work between saves, of a save, of a restart."""

    work: float
    interval: float
    save: float
    restart: float


@dataclass(frozen=True)
class Belief:
    """What somebody takes a failure for. The defaults are right."""

    keeps: str = "saved"  # what is left after a failure: "saved", "all" that was done, or "nothing"
    noticed_at_the_end: bool = False  # the stretch is finished, and then thrown away
    saves_exposed: bool = True
    restarts_exposed: bool = True
    clock_restarts: bool = False  # failure times count from the last failure
    save_is_work: bool = False
    save_comes_first: bool = False  # what was done counts as saved when its save begins
    last_is_whole: bool = False  # the last stretch is as long as the others
    restart_is_free: bool = False
    last_save: bool = True


BELIEFS = {
    "What was done since the last save is kept. A failure takes it: go back to what was saved.": Belief(
        keeps="all"
    ),
    "A failure sends the run back to its very beginning. It loses only what was done since the last save.": (
        Belief(keeps="nothing")
    ),
    "Each failure costs a whole interval. It strikes in the middle of one: the run stops there and then.": (
        Belief(noticed_at_the_end=True)
    ),
    "A save cannot be struck. It can: then it is torn, and the work before it is lost.": Belief(
        saves_exposed=False
    ),
    "A save that is struck counts as saved. It is torn: the work before it is lost.": Belief(
        save_comes_first=True
    ),
    "A restart cannot be struck. It can: then it begins anew.": Belief(restarts_exposed=False),
    "Neither saves nor restarts can be struck. Both can.": Belief(
        saves_exposed=False, restarts_exposed=False
    ),
    "The clock of the failures begins anew after each of them. Their times count from the run's beginning.": (
        Belief(clock_restarts=True)
    ),
    "The time of a save counts as work done. It takes time and does none.": Belief(save_is_work=True),
    "The last stretch may be shorter than the interval: it ends with the work.": Belief(last_is_whole=True),
    "A restart takes no time in yours.": Belief(restart_is_free=True),
    "The last stretch ends in a save too.": Belief(last_save=False),
}


def live(run: Numbers, failures: Iterable[float], belief: Belief = Belief()) -> tuple[float, list[str]]:
    """Hours by the clock until all work is saved, and what each failure struck: WORK, SAVE or RESTART."""
    upcoming = deque([*failures, math.inf])
    now = saved = origin = 0.0
    restarting, struck = False, list[str]()
    while saved < run.work:
        stretch, length, exposed = _ahead(run, belief, saved, restarting)
        failure = origin + upcoming[0]
        if failure < now + exposed:
            struck.append(RESTART if restarting else WORK if failure < now + stretch else SAVE)
            if not restarting:
                saved = _left(belief, saved, stretch, failure - now)
            now = now + length if belief.noticed_at_the_end else failure
            upcoming.popleft()
            origin = now if belief.clock_restarts else 0.0
            restarting = True
        else:
            now += length
            if not restarting:
                saved += stretch + (run.save if belief.save_is_work else 0.0)
            restarting = False
        while origin + upcoming[0] < now:  # it struck where this belief has nothing to strike
            upcoming.popleft()
    return now, struck


def _ahead(run: Numbers, belief: Belief, saved: float, restarting: bool) -> tuple[float, float, float]:
    """What comes next: its work, its length, and how much of that can be struck. Hours."""
    if restarting:
        length = 0.0 if belief.restart_is_free else run.restart
        return 0.0, length, length if belief.restarts_exposed else 0.0
    stretch = run.interval if belief.last_is_whole else min(run.interval, run.work - saved)
    last = saved + stretch >= run.work
    length = stretch + (run.save if belief.last_save or not last else 0.0)
    return stretch, length, length if belief.saves_exposed else stretch


def _left(belief: Belief, saved: float, stretch: float, passed: float) -> float:
    """Hours of work that a failure leaves, so long into a stretch and its save."""
    if belief.keeps == "nothing":
        return 0.0
    if belief.keeps == "all":
        return saved + min(stretch, passed)
    return saved + stretch if belief.save_comes_first and passed >= stretch else saved
