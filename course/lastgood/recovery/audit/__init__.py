"""Which part of a run's state does a checkpoint scheme miss? Found by killing the run and resuming it.

The audit never looks at what a state is called or how it is laid out. A fresh process restores what another
one captured before it was killed, and the run is looked at before its first step: that is where each
component is judged. What differs is then put, alone, into an undisturbed run: only if that run changes does
the component count as lost. `measure` runs the learner's functions and returns plain data; `judge` computes
what should have come out, and compares. Equality is exact.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from lastgood.recovery.audit.plan import AUDIT_CONFIG, BATCHES_PER_EPOCH, Plan, draw_plan
from lastgood.recovery.audit.verdict import WORKER, Audit, Finding, judge
from lastgood.recovery.learner import bundle
from lastgood.recovery.learner.answers import ask, plain
from lastgood.recovery.learner.processes import Processes, Trusting
from lastgood.recovery.warm import WarmServer, Worker, shared_server
from lastgood.recovery.wire import pack

__all__ = [
    "AUDIT_CONFIG",
    "BATCHES_PER_EPOCH",
    "WORKER",
    "Audit",
    "Finding",
    "Plan",
    "ask",
    "draw_plan",
    "follow",
    "judge",
    "measure",
    "plain",
]


def measure(
    functions: dict[str, Callable[..., Any]], plan: Plan, server: WarmServer | None = None
) -> dict[str, Any]:
    """Capture, kill, restore in a fresh process, run on, and once more. Plain data: what each process saw.

    Raises BundleError where the functions cannot travel to another process.
    """
    return follow(bundle.dumps(functions), plan, Trusting(server or shared_server()))


def follow(
    blob: bytes, plan: Plan, processes: Processes, texts: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """`measure` of functions that are bytes already, in processes of the caller's choice.

    `texts`: as `ask` takes them.
    """
    data: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="lastgood-audit-") as folder:
        begun, first, second = (Path(folder, name, "state.pt") for name in ("begun", "first", "second"))
        for file in (begun, first, second):
            file.parent.mkdir()
        with _spawned(processes, "begin", plan.orders(begun=str(begun)), writes=begun) as worker:
            ask(worker)
        # What these are told does not lead to the run that they are to bring back.
        told = plan.orders_to_resume(begun=str(begun), file=str(first))
        with _spawned(processes, "write", told, reads=begun, writes=first) as worker:
            worker.channel.send(blob)
            data["writer"] = ask(worker, texts=texts)
            worker.kill()  # SIGKILL, and only now is it told to anybody how far the run goes on
        if "error" in data["writer"]:
            return data
        if first.is_file():  # by the file itself: its writer may say of it what it likes
            data["writer"]["bytes"] = first.lstat().st_size
        told = plan.orders_to_resume(file=str(first))
        with _spawned(processes, "resume", told, reads=first, writes=second) as worker:
            worker.channel.send(blob)
            data["reader"] = ask(worker, texts=texts)
            if "error" in data["reader"]:
                return data
            worker.channel.send(pack([plan.after, str(second)]))
            data["resumed"] = ask(worker, texts=texts)
            worker.kill()
        if "error" in data["resumed"]:
            return data
        told = plan.orders_to_resume(file=str(second))
        with _spawned(processes, "resume", told, reads=second) as worker:
            worker.channel.send(blob)
            data["again"] = ask(worker, texts=texts)
    return data


def _spawned(
    processes: Processes,
    target: str,
    orders: dict[str, Any],
    *,
    reads: Path | None = None,
    writes: Path | None = None,
) -> AbstractContextManager[Worker]:
    """A process that may see the folder of the one file, and change that of the other."""
    seen, changed = ([] if file is None else [str(file.parent)] for file in (reads, writes))
    return processes.spawn(WORKER + target, pack(orders), reads=seen, writes=changed)
