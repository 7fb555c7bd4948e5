"""What is to befall a job's processes: one fate a process, in the order in which they are started."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from lastgood.recovery.job.checkpoints import CORRUPT, TORN

KILLED = "killed"  # SIGKILL between two steps
KILLED_SAVING = "killed while saving"  # SIGKILL with half of the checkpoint written
HUNG = "hung"  # SIGSTOP: the process stays, and does nothing
TOLD_TO_LEAVE = "told to leave"  # SIGTERM: it saves, and leaves
ERROR = "error"  # an exception of its own
# TORN, CORRUPT: the newest checkpoint is damaged so, and then comes SIGKILL
ENDS = (KILLED, KILLED_SAVING, HUNG, TOLD_TO_LEAVE, ERROR, TORN, CORRUPT)

# Without /proc, a process that waits for a core looks like one that hangs.
PATIENCE = 0.25 if Path("/proc/self/stat").exists() else 1.0  # seconds between two heartbeats, at most
SLOW_S = PATIENCE + 0.15  # seconds that a slow start takes
EVERY = 4  # steps between the saves of a drawn job


@dataclass(frozen=True)
class Fate:
    """What befalls one process once it is at step `at`; before that, it may be slow to start."""

    kind: str
    at: int
    slow: bool = False

    def __post_init__(self) -> None:
        if self.kind not in ENDS:
            raise ValueError(f"no fate {self.kind!r}; there are {', '.join(ENDS)}")


@dataclass(frozen=True)
class Plan:
    """A job: how long it is, what befalls its processes in turn, and the step that none survives, if any."""

    seed: int
    steps: int
    fates: tuple[Fate, ...] = ()
    poison: int | None = None
    save_every: int = 5


def drawn(seed: int, rounds: int = 1) -> Plan:
    """A job whose processes meet each kind of end, in drawn order, `rounds` times over.

    All but one of a round bring the run further, each past another checkpoint. The one dies before it has
    done a new step: no reason to give up yet. Another one is slow to start. The two are not neighbours, so
    that a supervisor without patience makes one mistake and not another.
    """
    source = random.Random(seed)
    fates: list[Fate] = []
    resume = reached = 0
    for _ in range(rounds):
        kinds = [source.choice((KILLED, KILLED_SAVING)), HUNG, TOLD_TO_LEAVE, CORRUPT]
        source.shuffle(kinds)
        futile_after = source.randrange(4)
        slow = source.choice([place for place in (1, 2, 3) if place not in (futile_after, futile_after + 1)])
        for place, kind in enumerate(kinds):
            boundary = (reached // EVERY + 1) * EVERY
            reached = boundary + (0 if kind == KILLED_SAVING else source.randrange(1, EVERY))
            fates.append(Fate(kind, reached, place == slow))
            resume = _resumes(kind, resume, reached)
            if place == futile_after:
                fates.append(Fate(source.choice((KILLED, ERROR)), source.randrange(resume, reached + 1)))
                resume = _resumes(fates[-1].kind, resume, fates[-1].at)
    return Plan(seed, reached + source.randrange(2, 5), tuple(fates), save_every=EVERY)


def poisoned(seed: int) -> Plan:
    """A job with a step that no process survives, between two checkpoints."""
    source = random.Random(seed)
    return Plan(seed, 3 * EVERY, poison=EVERY + source.randrange(1, EVERY), save_every=EVERY)


def _resumes(kind: str, resumed: int, reached: int) -> int:
    """Where the next process resumes, after one that resumed at `resumed` has ended so at `reached`."""
    saved = [resumed, *(step for step in range(resumed + 1, reached + 1) if step % EVERY == 0)]
    if kind == TOLD_TO_LEAVE:
        return reached
    return saved[-2] if kind in (KILLED_SAVING, TORN, CORRUPT) else saved[-1]
