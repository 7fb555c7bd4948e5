"""How long the audits of lab 18 take, and what in them takes it."""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import jupytext

from autograder.mutants import master_text, patched, variants
from benchmarks.benchmark import ROOT, Benchmark, Setting
from benchmarks.harness import Row, alone
from lastgood.recovery import audit, durability
from lastgood.recovery.audit import verdict as audit_verdict
from lastgood.recovery.learner import answers, bundle
from lastgood.recovery.warm import WarmServer, Worker, shared_server

LAB = "lab18"
WRONG = "no-optimizer-state"
PACK, START, REST = "packing the functions", "starting processes", "the rest: judging, killing, files"


class Tracer:
    """Seconds that the parts of an audit take, seen from the process that orders them.

    A worker's part lasts from the moment it is asked until it answers. It is named as the function that
    the worker runs.
    """

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._lock = threading.Lock()  # the audit of a save has two workers at a time
        self._targets: dict[int, str] = {}

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        begun = time.perf_counter()
        try:
            yield
        finally:
            with self._lock:
                self.seconds[name] += time.perf_counter() - begun

    @contextlib.contextmanager
    def tracing(self) -> Iterator[None]:
        """Within the block, the library reports to this tracer."""
        dumps, spawn, ask = bundle.dumps, WarmServer.spawn, answers.ask

        def traced_dumps(functions: dict[str, Callable[..., Any]]) -> bytes:
            with self.part(PACK):
                return dumps(functions)

        def traced_spawn(server: WarmServer, target: str, *args: Any, **named: Any) -> Worker:
            with self.part(START):
                worker = spawn(server, target, *args, **named)
            self._targets[id(worker)] = target.rpartition("recovery.")[2].replace(".worker:", ": ")
            return worker

        def traced_ask(worker: Worker, **named: Any) -> dict[str, Any]:
            with self.part(self._targets[id(worker)]):
                return ask(worker, **named)

        with contextlib.ExitStack() as patches:
            patches.enter_context(mock.patch.object(bundle, "dumps", traced_dumps))
            patches.enter_context(mock.patch.object(WarmServer, "spawn", traced_spawn))
            for module in (audit, audit_verdict, durability):
                patches.enter_context(mock.patch.object(module, "ask", traced_ask))
            yield


def lab_functions(text: str) -> dict[str, Any]:
    """What the solution cells of a master define."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(jupytext.reads(text, fmt="py:percent").cells):
        if cell.cell_type == "code" and (cell.metadata.get("nbgrader", {}).get("solution") or number <= 2):
            exec(compile(cell.source, f"<cell {number}>", "exec"), namespace)
    return namespace


def contents(names: dict[str, Any], seed: int) -> bool:
    """The audit of capture and restore; whether it was passed."""
    plan = audit.draw_plan(seed=seed)
    functions = {name: names[name] for name in ("capture", "restore")}
    return audit.judge(plan, audit.measure(functions, plan)).passed


def disk(names: dict[str, Any], seed: int) -> bool:
    """The audit of save and load; whether it was passed."""
    functions = {name: names[name] for name in ("save", "load", "capture", "restore")}
    return durability.judge(durability.measure(functions, audit.draw_plan(seed=seed))).passed


def timed(what: str, work: Callable[[int], bool], passes: bool, repeats: int) -> list[Row]:
    """A row for the whole and for each part, the longest first. Raises RuntimeError on a wrong verdict."""
    whole: list[float] = []
    parts: list[dict[str, float]] = []
    for seed in range(repeats + 1):
        tracer = Tracer()
        begun = time.perf_counter()
        with tracer.tracing():
            if work(seed) != passes:
                raise RuntimeError(f"{what}: the audit came to another verdict than it should")
        if seed:  # the first is the warm-up
            whole.append(time.perf_counter() - begun)
            parts.append(tracer.seconds)
    names = sorted({name for turn in parts for name in turn})
    medians = {name: [turn[name] for turn in parts] for name in names}
    rows = [alone(f"→ {name}", seconds) for name, seconds in medians.items()]
    rest = [total - sum(turn.values()) for total, turn in zip(whole, parts, strict=True)]
    if statistics.median(rest) > 0:  # with two workers at a time, the parts add up to more than the whole
        rows.append(alone(f"→ {REST}", rest))
    return [alone(what, whole), *sorted(rows, key=lambda row: -row.ours)]


def run(setting: Setting) -> list[Row]:
    shared_server().wait_ready()
    master = master_text(ROOT, LAB)
    right = lab_functions(master)
    wrong = lab_functions(patched(master, next(v for v in variants(LAB) if v.name == WRONG)))
    turns = setting.turns(10)
    return [
        *timed("**capture and restore, right**", lambda seed: contents(right, seed), True, turns),
        *timed("**capture and restore, optimizer lost**", lambda seed: contents(wrong, seed), False, turns),
        *timed("**save and load, right**", lambda seed: disk(right, seed), True, turns),
    ]


BENCHMARK = Benchmark(
    "audit",
    "Audit and its parts",
    "Lab 18's two audits, on the functions of the lab's master and on those of one mutant; the fork server "
    "has started. Parts are seen from the process that orders them: a worker's lasts from the question to "
    "its answer. `spoil` is the transplant into an undisturbed run, which only a wrong solution needs. In "
    "the audit of save and load two workers run at a time, so its parts add up to more than the whole.",
    run,
)
