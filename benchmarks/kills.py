"""A thousand SIGKILLs at random moments, saves included, all recovered from: the end is the same run."""

from __future__ import annotations

import time

from benchmarks.benchmark import Benchmark, Setting
from benchmarks.harness import Row, alone
from lastgood.recovery.faults import OPT_175B, schedule_of
from lastgood.recovery.supervise import Event, supervise
from lastgood.training.logbook import CHARACTERS
from lastgood.training.model import GPTConfig
from lastgood.training.run import RunConfig
from lastgood.training.schedule import Schedule

KILLS, STEPS_A_KILL, SAVE_EVERY = 1000, 6, 2  # half of the time goes into saves


class Watch:
    """Seconds from the end of a process to the end of the next one's first step, and where kills came."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.in_saves = 0
        self._since: float | None = None

    def take(self, event: Event) -> None:
        now = time.perf_counter()
        if event.kind == "failed":
            self.in_saves += "as it saved" in event.text
            self._since = now
        elif event.kind == "step" and self._since is not None:
            self.seconds.append(now - self._since)
            self._since = None


def run(setting: Setting) -> list[Row]:
    kills = setting.turns(KILLS)
    steps = kills * STEPS_A_KILL
    config = RunConfig(
        model=GPTConfig(len(CHARACTERS), block_size=16, n_layer=1, n_head=2, n_embd=16),
        schedule=Schedule(peak=3e-3, warmup=2, horizon=max(4, steps), floor=3e-4),
        batch_size=4,
        train_chars=16 * (4 * 16 - 2),
        heldout_chars=64,
    )
    watch = Watch()
    outcome = supervise(
        config,
        seed=1,
        steps=steps,
        faults=schedule_of(OPT_175B, kills, seed=1),
        folder=setting.folder / "run",
        save_every=SAVE_EVERY,
        hours_per_step=OPT_175B.mtbf_hours / STEPS_A_KILL,
        on_event=watch.take,
    )
    if not outcome.identical or not all(failure.within_bound for failure in outcome.failures):
        raise RuntimeError(f"the run is not the undisturbed one: {outcome}")
    what = (
        f"{outcome.kills} kills, {watch.in_saves} of them in a save: all survived, bit-identical at the end"
    )
    return [alone(what, watch.seconds)]


BENCHMARK = Benchmark(
    "kills",
    "A thousand kills",
    "A small run that saves every second step is killed by SIGKILL 1,000 times, at moments drawn at random. "
    "Each time a fresh process resumes from the last good checkpoint; the end is compared with that of a run "
    "that nothing hit. The time is from the end of a process to the end of the first step of the next one.",
    run,
)
