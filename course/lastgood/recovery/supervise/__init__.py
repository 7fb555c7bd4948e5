"""Real processes, hit on schedule and restarted from the last good checkpoint.

The supervisor starts a process that trains and saves, and lets the faults of a schedule befall it: in the
middle of a step, of a save, of whatever it is at. A fresh process then loads what was saved last, into a run
built with *another* seed, so that what the checkpoint lacks shows. It is compared with a run that nothing
happened to, which the library computes beside it: component by component at each restart, and at the end.

The clock is compressed: it counts steps executed, redone ones included, each `hours_per_step` long, and what
else `Costs` gives a length. How each kind of fault is brought about is in `strikes`; what may be
lost to it, in `outcome.lost_bound`.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lastgood.recovery.faults import Fault
from lastgood.recovery.supervise.clock import Clock, Costs, Patience, Spares
from lastgood.recovery.supervise.folder import CHECKPOINTS, GIVEN, Log, claimed
from lastgood.recovery.supervise.outcome import Event, Failure, Mismatch, Outcome, SupervisorError
from lastgood.recovery.supervise.progress import Progress
from lastgood.recovery.supervise.reference import UNDISTURBED, Reference
from lastgood.recovery.supervise.strikes import check_kinds
from lastgood.recovery.supervise.supervised import Supervised
from lastgood.recovery.warm import WarmServer, shared_server
from lastgood.training.run import RunConfig

__all__ = ["Costs", "Event", "Failure", "Mismatch", "Outcome", "Patience", "SupervisorError", "supervise"]

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
    spares: int | None = None,
    costs: Costs | None = None,
    patience: Patience | None = None,
) -> Outcome:
    """Run `steps` steps under `faults`, saving every `save_every` steps; say what became of the run.

    `functions` is `bundle.dumps` of capture(run) -> state; restore(run, state) -> None, or the Run to go on
    with; save(state, folder), again and again into one folder; load(folder) -> the newest complete state.
    None stands for the library's. As long as no save is complete, a restart begins at the start, with `seed`.

    `spares` hosts stand in reserve, None for as many as it takes. A host that failed is one of them again
    after `costs.repair_hours`; while there is none, the clock goes on and the run does not.

    It stops at the first mismatch, when one of these functions raises, and after `patience.deaths` ends in a
    row that were not scheduled and had no new step between them. A fault whose time the clock does not reach
    never happens; one that falls into a wait strikes as soon as the next process is up.

    `folder` must be new or empty, or hold this very run, begun by a supervisor that was killed: it then goes
    on. See `folder.py` for what it gets. `on_event` is called in this process.

    Raises SupervisorError, before anything is touched unless the undisturbed run fails; WarmServerError.
    """
    _check(steps, save_every, hours_per_step)
    due = sorted(faults, key=lambda fault: fault.time_hours)
    check_kinds(due, library=functions is None)
    costs, patience = costs or Costs(), patience or Patience()
    progress = Progress(Clock(due, hours_per_step), costs, Spares(spares, costs.repair_hours), save_every)
    home = Path(folder).resolve()  # the worker may be at home elsewhere
    job = {
        "config": config.to_dict(),
        "seed": seed,
        "other_seed": seed + _OTHER_SEED,
        "steps": steps,
        "save_every": save_every,
        "folder": str(home / CHECKPOINTS),
    }
    description = {
        **{name: job[name] for name in ("config", "seed", "steps", "save_every")},
        "hours_per_step": hours_per_step,
        "faults": [asdict(fault) for fault in due],
        "spares": spares,
        "costs": asdict(costs),
        "functions": "library" if functions is None else GIVEN,
    }
    began = time.monotonic()
    with claimed(home, description) as log:
        run = _carried_out(job, functions, server or shared_server(), progress, patience, log, on_event)
    return Outcome(
        identical=run.mismatch is None and run.error is None,
        steps=steps,
        reached=progress.step,
        executed_steps=progress.clock.executed,
        kills=progress.kills,
        failures=tuple(progress.failures),
        first_mismatch=run.mismatch,
        error=run.error,
        wall_seconds=time.monotonic() - began,
        hours=progress.clock.where_it_went(progress.step),
        refused_saves=progress.refused_in_all,
    )


def _carried_out(
    job: dict[str, Any],
    functions: bytes | None,
    server: WarmServer,
    progress: Progress,
    patience: Patience,
    log: Log,
    on_event: Callable[[Event], None] | None,
) -> Supervised:
    """The run, when it is over."""

    def record(event: Event) -> None:
        log.write(event)
        if on_event is not None:
            on_event(event)

    progress.replay(log.before)
    with ExitStack() as stack:
        beside = stack.enter_context(server.spawn(UNDISTURBED, json.dumps(job)))
        reference = Reference(beside, job["steps"], job["save_every"])
        run = Supervised(job, functions, server, progress, patience, reference, record)
        if log.before:
            run.take_over()
        run.go()
    return run


def _check(steps: int, save_every: int, hours_per_step: float) -> None:
    if steps < 1:
        raise SupervisorError(f"a run of {steps} steps is none: give 1 or more")
    if not 1 <= save_every <= steps:
        raise SupervisorError(f"saving every {save_every} steps: give 1 to {steps}, the steps of the run")
    if not 0 < hours_per_step < math.inf:
        raise SupervisorError(f"a step of {hours_per_step} hours stops the clock: give a positive number")
