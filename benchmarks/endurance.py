"""`python -m benchmarks.endurance`: OPT-175B's failures, of all kinds, and a proof that nothing came of them.

The proof does not take the supervisor's word: it reads the last checkpoint and the log of events, and
compares both with a run that is trained here, in one go.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from lastgood.commands.run_screen import Plan, Screen, console, progress_bar
from lastgood.recovery import checkpoint, state
from lastgood.recovery.components import COMPONENTS, TITLES, digests
from lastgood.recovery.faults import OPT_175B, Fault, mixed_schedule
from lastgood.recovery.supervise import Event, Outcome, Patience, supervise
from lastgood.recovery.warm import WarmServer
from lastgood.training.run import Run, RunConfig
from lastgood.training.schedule import Schedule

STEPS_A_FAILURE, SAVE_EVERY = 16, 6
FULL_HOURS = 8.0  # some nine steps: saves are refused
SPARES = 3  # of 124 hosts, with a day for a repair, so that they run out now and then


def schedule(failures: int, seed: int) -> list[Fault]:
    """So many failures of mixed kinds, most of them kills, at OPT-175B's rate."""
    return mixed_schedule(OPT_175B, failures=failures, seed=seed, full_hours=FULL_HOURS)


def steps_for(failures: int) -> int:
    """16 steps a failure, and then to the next save: what it holds is the end of the run."""
    return -(-failures * STEPS_A_FAILURE // SAVE_EVERY) * SAVE_EVERY


def endure(
    config: RunConfig,
    faults: Sequence[Fault],
    folder: Path,
    *,
    seed: int,
    server: WarmServer | None = None,
    on_event: Callable[[Event], None] | None = None,
) -> Outcome:
    """Supervise a run of 16 steps a failure through all of them."""
    return supervise(
        config,
        seed=seed,
        steps=steps_for(len(faults)),
        faults=faults,
        folder=folder,
        save_every=SAVE_EVERY,
        hours_per_step=OPT_175B.mtbf_hours / STEPS_A_FAILURE,
        spares=SPARES,
        patience=Patience(silence_s=0.5),
        server=server,
        on_event=on_event,
    )


def objections(outcome: Outcome, config: RunConfig, folder: Path, *, seed: int) -> list[str]:
    """All that speaks against the run in `folder` being the undisturbed one, in words; empty where it is."""
    found = [] if outcome.identical else [f"the supervisor says: {outcome.error or outcome.first_mismatch}"]
    found += [
        f"a restart lost {failure.lost} steps, its bound is {failure.bound}: {failure}"
        for failure in outcome.failures
        if not failure.within_bound
    ]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as the workers do: two give other bits
    try:
        run = Run(config, seed=seed)
        samples = [list(run.advance().indices) for _ in range(outcome.steps)]
        expected = digests(run)
        resumed = Run(config, seed=seed + 1)
        last = checkpoint.latest_good(folder / "checkpoints").checkpoint
        if last is not None:
            state.restore(resumed, last.state)
        there = digests(resumed)
    finally:
        torch.set_num_threads(threads)
    if _samples(folder / "events.jsonl") != samples:
        found.append("the log of events tells of other samples")
    if last is None or last.step != outcome.steps:
        return [*found, f"the last checkpoint is of step {last and last.step}, not of {outcome.steps}"]
    return found + [f"the {TITLES[name]} differ" for name in COMPONENTS if there[name] != expected[name]]


def _samples(log: Path) -> list[list[int]]:
    """The samples of each step that counts: a restart takes back what came after the step it resumed at."""
    samples: list[list[int]] = []
    for line in log.read_text().splitlines():
        event = json.loads(line)
        if event["kind"] == "step":
            samples.append(event["indices"])
        elif event["kind"] == "restarted":
            del samples[event["step"] :]
    return samples


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.endurance", description=__doc__)
    parser.add_argument("--failures", type=int, default=OPT_175B.restarts)
    parser.add_argument("--seed", type=int, default=175)
    asked = parser.parse_args()
    faults = schedule(asked.failures, asked.seed)
    steps = steps_for(asked.failures)
    config = replace(RunConfig(), schedule=Schedule(peak=3e-3, warmup=30, horizon=steps, floor=3e-4))
    days = asked.failures * OPT_175B.mtbf_hours / 24
    plan = Plan(OPT_175B, days, steps, SAVE_EVERY, asked.seed, SPARES, faults)
    screen = console()
    kinds = Counter(fault.kind for fault in faults)
    screen.print(
        f"{steps} steps, saved every {SAVE_EVERY}: " + ", ".join(f"{n} {k}" for k, n in kinds.items())
    )
    with tempfile.TemporaryDirectory(prefix="lastgood-endurance-") as place:
        folder = Path(place) / "run"
        with progress_bar(screen) as progress:
            outcome = endure(config, faults, folder, seed=asked.seed, on_event=Screen(progress, plan).take)
        against = objections(outcome, config, folder, seed=asked.seed)
    worst = {
        cause: max(failure.lost for failure in outcome.failures if failure.cause == cause)
        for cause in sorted({failure.cause for failure in outcome.failures})
    }
    screen.print(
        f"{outcome.restarts} restarts, {outcome.refused_saves} refused saves, "
        f"{sum(outcome.lost_steps)} steps lost, ETTR {outcome.ettr:.3f}, {outcome.wall_seconds:.0f} s."
    )
    screen.print("Most steps lost at once: " + ", ".join(f"{cause} {lost}" for cause, lost in worst.items()))
    for objection in against:
        screen.print(f"✗ {objection}", style="red", markup=False)
    if against:
        sys.exit(1)
    screen.print("✓ Parameters, moments, step, generators and all samples are the undisturbed run's.")


if __name__ == "__main__":
    main()
