"""What is drawn for an audit, and the small run that it is drawn for."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lastgood.training.logbook import CHARACTERS
from lastgood.training.model import GPTConfig
from lastgood.training.run import RunConfig
from lastgood.training.schedule import Schedule

AUDIT_CONFIG = RunConfig(
    # Small enough for seven processes a second, and everything in it matters: dropout is on, warm-up ends
    # after the capture, an epoch is six batches of which the last is smaller, half of the windows are
    # disturbed.
    model=GPTConfig(len(CHARACTERS), block_size=32, n_layer=1, n_head=2, n_embd=32, dropout=0.2),
    schedule=Schedule(peak=5e-3, warmup=14, horizon=60, floor=5e-4),
    batch_size=4,
    augment=0.5,
    train_chars=22 * 32,
    heldout_chars=64,
)
BATCHES_PER_EPOCH = 6


@dataclass(frozen=True)
class Plan:
    """What is drawn for one audit, after the learner's functions can no longer change."""

    seed: int
    secret: int
    other_seed: int
    before: int  # steps until the capture: strictly inside an epoch, and inside the warm-up
    extra: int  # steps trained on between the capture and the save
    after: int  # steps of the resumed run: past an epoch's end and the peak after the warm-up
    config: RunConfig = AUDIT_CONFIG
    taught: tuple[str, ...] = ()

    def orders(self, **more: Any) -> dict[str, Any]:
        """For a process that starts the run: it has to know from what."""
        start = {"seed": self.seed, "secret": self.secret, "before": self.before}
        return self.orders_to_resume(**start, **more)

    def orders_to_resume(self, **more: Any) -> dict[str, Any]:
        """For a process that resumes it: with the seeds it could train the run again, and load nothing."""
        return {
            "config": self.config.to_dict(),
            "other_seed": self.other_seed,
            "extra": self.extra,
            "taught": list(self.taught),
            **more,
        }


def with_many_saves(plan: Plan) -> Plan:
    """The plan with its older save as the eleventh: names that are sorted as text are in the wrong order."""
    return replace(plan, before=2 * BATCHES_PER_EPOCH - 1)


def draw_plan(taught: Sequence[str] = (), seed: int | None = None) -> Plan:
    """A fresh plan; the same one for the same seed, and from the system's entropy where there is none."""
    source: random.Random = random.SystemRandom() if seed is None else random.Random(seed)
    seed, secret, other_seed = (source.randrange(2**31) for _ in range(3))
    before = BATCHES_PER_EPOCH + source.randrange(1, BATCHES_PER_EPOCH)
    # The peak is the same for every horizon: only the step after it, the second past the warm-up, tells.
    least = max(BATCHES_PER_EPOCH, AUDIT_CONFIG.schedule.warmup - before) + 2
    return Plan(
        seed=seed,
        secret=secret,
        other_seed=other_seed,
        before=before,
        extra=source.randrange(2, 5),
        after=source.randrange(least, BATCHES_PER_EPOCH + 6),
        taught=tuple(taught),
    )
