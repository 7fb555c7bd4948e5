"""The run that the saw-tooth shows: real processes, hit by every kind of failure, and how it is recorded.

`python -m lastgood.teaching.views.saw_tooth_recording` runs it anew and writes what happened beside this
file, as `supervise` logged it. The failures come at the same hours each time. But a process that is killed in
the midst of a step may just have finished it: another recording can differ by a step there.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from lastgood.recovery.faults import CORRUPTED, HUNG, KILLED, STORAGE_FULL, TOLD_TO_LEAVE, Fault
from lastgood.recovery.supervise import Costs, supervise
from lastgood.recovery.supervise.folder import EVENTS
from lastgood.recovery.supervise.outcome import Outcome
from lastgood.teaching.views.saw_tooth_events import RECORDED
from lastgood.training.logbook import CHARACTERS
from lastgood.training.model import GPTConfig
from lastgood.training.run import RunConfig
from lastgood.training.schedule import Schedule

STEPS: Final = 120
SAVE_EVERY: Final = 10
HOURS_PER_STEP: Final = 0.5
SEED: Final = 19
SPARES: Final = 3
COSTS: Final = Costs(save_hours=0.1, restart_hours=0.4, detect_hours=2.0, repair_hours=31.0)
# Each comes just after a step, lest a recording on a slower machine tell of another step.
FAULTS: Final = (
    Fault(14.22, host=3, kind=KILLED),
    Fault(23.22, host=7, kind=HUNG),
    Fault(32.22, host=1, kind=TOLD_TO_LEAVE, lasts_hours=0.5),
    Fault(39.32, host=5, kind=CORRUPTED),
    Fault(51.22, host=0, kind=STORAGE_FULL, lasts_hours=7.0),
    Fault(56.72, host=2, kind=KILLED),
    Fault(70.82, host=6, kind=TOLD_TO_LEAVE, lasts_hours=0.05),  # too short a notice to save in
    Fault(84.42, host=4, kind=KILLED),
)


def record(folder: Path) -> Outcome:
    """Run it in this new folder, where `events.jsonl` then lies."""
    return supervise(
        RunConfig(
            model=GPTConfig(len(CHARACTERS), block_size=32, n_layer=1, n_head=4, n_embd=32),
            schedule=Schedule(peak=3e-3, warmup=20, horizon=STEPS, floor=3e-4),
            batch_size=4,
            train_chars=32 * (4 * 24 - 2),
            heldout_chars=320,
        ),
        seed=SEED,
        steps=STEPS,
        faults=FAULTS,
        folder=folder,
        save_every=SAVE_EVERY,
        hours_per_step=HOURS_PER_STEP,
        spares=SPARES,
        costs=COSTS,
    )


def main(arguments: list[str] | None = None) -> None:
    """Record into the package, or into the file that is named."""
    given = sys.argv[1:] if arguments is None else arguments
    with tempfile.TemporaryDirectory(prefix="lastgood-saw-tooth-") as folder:
        outcome = record(Path(folder) / "run")
        if not outcome.identical:
            raise SystemExit(f"not the undisturbed run: {outcome.error or outcome.first_mismatch}")
        shutil.copyfile(Path(folder) / "run" / EVENTS, given[0] if given else RECORDED)


if __name__ == "__main__":
    main()
