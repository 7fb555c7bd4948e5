"""What a process of a job is told when it starts."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from lastgood.recovery.job.plan import Plan


def orders(
    plan: Plan,
    number: int | None = None,
    run: str | None = None,
    folder: Path | None = None,
    checkpoint: str | None = None,
) -> str:
    """What process `number` of a run is told; without a number, one that nothing befalls and never saves.

    `checkpoint` is the name of the one in `folder` to start from, None for step 0.
    """
    fate = plan.fates[number] if number is not None and number < len(plan.fates) else None
    return json.dumps(
        {
            "seed": plan.seed,
            "steps": plan.steps,
            "save_every": plan.save_every,
            "poison": None if number is None else plan.poison,
            "fate": asdict(fate) if fate else None,
            "run": run,
            "folder": str(folder) if folder else None,
            "checkpoint": str(folder / checkpoint) if folder and checkpoint else None,
        }
    )
