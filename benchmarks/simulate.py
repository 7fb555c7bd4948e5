"""Thousands of runs in simulated time, against the same model in SimPy."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np

from benchmarks.benchmark import Benchmark, Setting
from benchmarks.harness import Row, Side, alternate, compare
from benchmarks.simpy_life import SimpyLife
from lastgood.recovery.faults import HOURS_A_DAY, OPT_175B
from lastgood.recovery.simulate import Life, simulate

RUNS, RUNS_IN_SIMPY = 10_000, 20

LIFE = Life(
    work_hours=OPT_175B.days * HOURS_A_DAY,
    interval_hours=3.0,
    save_hours=0.1,
    restart_hours=0.25,
    detection_hours=0.1,
    diagnosis_hours=0.15,
    spares=12,
    repair_hours=24.0,
)


def in_simpy(seed: int) -> list[SimpyLife]:
    """Some runs in SimPy, each under failures of its own."""
    hours = 1.5 * LIFE.hours_without_failures
    times = OPT_175B.process().times(hours, RUNS_IN_SIMPY, np.random.default_rng(seed))
    return [SimpyLife(LIFE, row[np.isfinite(row)].tolist()).lived() for row in times]


def run(setting: Setting) -> list[Row]:
    process, seeds = OPT_175B.process(), itertools.count()
    sides = {
        "ours": Side(lambda: simulate(LIFE, process, RUNS, seed=next(seeds))),
        "SimPy": Side(partial(in_simpy, seed=175)),
    }
    seconds = alternate(sides, setting.turns(9))
    scaled = [turn * RUNS / RUNS_IN_SIMPY for turn in seconds["SimPy"]]
    what = f"{RUNS:,} runs of OPT-175B's 60 days"
    return [compare(what, seconds["ours"], scaled, most_ratio=0.01)]


BENCHMARK = Benchmark(
    "simulate",
    "Simulated time",
    "`simulate` against the same model in SimPy ([`simpy_life.py`](simpy_life.py)): 60 days of work, "
    "failures at OPT-175B's rate, a save of 6 minutes every 3 hours, 12 spares. Both draw their failures. A "
    f"test holds both to the same answers. A turn of SimPy is {RUNS_IN_SIMPY} runs, scaled to {RUNS:,}.",
    run,
)
