"""Real processes killed on schedule and restarted from the last good checkpoint.

The supervisor starts a process that trains and saves, and SIGKILLs it when the schedule says so: in the
middle of a step, of a save, of whatever it is at. A fresh process then loads what was saved last, into a run
built with *another* seed, so that what the checkpoint lacks shows. It is compared with a run that nothing
happened to, which the library computes beside it: component by component at each restart, and at the end.

The clock is compressed: it counts steps executed, redone ones included, each `hours_per_step` long.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from lastgood.recovery.faults import Fault
from lastgood.recovery.outcome import Event, Mismatch, Outcome, SupervisorError
from lastgood.recovery.supervised import UNDISTURBED, Clock, Supervised, Undisturbed
from lastgood.recovery.warm import WarmServer, shared_server
from lastgood.training.run import RunConfig

__all__ = ["Event", "Mismatch", "Outcome", "SupervisorError", "supervise"]

CHECKPOINTS, EVENTS = "checkpoints", "events.jsonl"  # what `supervise` makes in its folder
_OTHER_SEED = 1_000_003  # added to the seed; any other number would do


def supervise(
    config: RunConfig,
    *,
    seed: int,
    steps: int,
    faults: Iterable[Fault],
    folder: str | Path,
    save_every: int,
    hours_per_step: float = 1.0,
    functions: bytes | None = None,
    on_event: Callable[[Event], None] | None = None,
    server: WarmServer | None = None,
) -> Outcome:
    """Run `steps` steps under `faults`, saving every `save_every` steps; say what became of the run.

    `functions` is `bundle.dumps` of capture(run) -> state; restore(run, state) -> None, or the Run to go on
    with; save(state, folder), again and again into one folder; load(folder) -> the newest complete state.
    None stands for the library's. As long as no save is complete, a restart begins at the start, with `seed`.

    It stops at the first mismatch, when one of these functions raises, and after 3 deaths in a row that were
    not scheduled and had no new step between them. A fault whose time the clock does not reach never happens.

    `folder` must be new or empty. It gets `checkpoints/` and `events.jsonl`, a line an event. `on_event` is
    called in this process. Raises SupervisorError, before anything is touched unless the undisturbed run
    fails; WarmServerError.
    """
    _check(steps, save_every, hours_per_step)
    home = _claimed(Path(folder).resolve())  # the worker may be at home elsewhere
    server = server or shared_server()
    began = time.monotonic()
    job = {
        "config": config.to_dict(),
        "seed": seed,
        "other_seed": seed + _OTHER_SEED,
        "steps": steps,
        "save_every": save_every,
        "folder": str(home / CHECKPOINTS),
    }
    with ExitStack() as stack:
        log = stack.enter_context((home / EVENTS).open("w", buffering=1))
        beside = stack.enter_context(server.spawn(UNDISTURBED, json.dumps(job)))

        def record(event: Event) -> None:
            log.write(json.dumps(asdict(event)) + "\n")
            if on_event is not None:
                on_event(event)

        clock = Clock(sorted(faults, key=lambda fault: fault.time_hours), hours_per_step)
        run = Supervised(job, functions, server, clock, Undisturbed(beside), record)
        run.go()
    return Outcome(
        identical=run.mismatch is None and run.error is None,
        steps=steps,
        reached=len(run.history),
        executed_steps=clock.executed,
        kills=clock.kills,
        restarts=run.processes - 1,
        lost_steps=tuple(run.lost),
        first_mismatch=run.mismatch,
        error=run.error,
        wall_seconds=time.monotonic() - began,
    )


def _check(steps: int, save_every: int, hours_per_step: float) -> None:
    if steps < 1:
        raise SupervisorError(f"a run of {steps} steps is none: give 1 or more")
    if not 1 <= save_every <= steps:
        raise SupervisorError(f"saving every {save_every} steps: give 1 to {steps}, the steps of the run")
    if not hours_per_step > 0:
        raise SupervisorError(f"a step of {hours_per_step} hours stops the clock: give a positive number")


def _claimed(folder: Path) -> Path:
    """`folder`, with a new checkpoint folder in it. Touches nothing where anything is there already."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise FileExistsError
        (folder / CHECKPOINTS).mkdir()  # of two that come at once, one makes it
    except FileExistsError:
        raise SupervisorError(
            f"{folder} is not an empty folder; it may hold another run. Name a new one, or remove it first."
        ) from None
    except OSError as error:
        raise SupervisorError(f"{folder} cannot be made ({error}). Name another folder.") from error
    return folder
