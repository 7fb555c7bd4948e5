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
        with processes.spawn(
            WORKER + "begin", pack(plan.orders(begun=str(begun))), writes=[str(begun.parent)]
        ) as worker:
            ask(worker)
        with _spawned("write", plan, processes, begun, first, writes=first) as worker:
            worker.channel.send(blob)
            data["writer"] = ask(worker, texts=texts)
            worker.kill()  # SIGKILL, and only now is it told to anybody how far the run goes on
        if "error" in data["writer"]:
            return data
        if first.is_file():  # by the file itself: its writer may say of it what it likes
            data["writer"]["bytes"] = first.lstat().st_size
        with _spawned("resume", plan, processes, first, writes=second) as worker:
            worker.channel.send(blob)
            data["reader"] = ask(worker, texts=texts)
            if "error" in data["reader"]:
                return data
            worker.channel.send(pack([plan.after, str(second)]))
            data["resumed"] = ask(worker, texts=texts)
            worker.kill()
        if "error" in data["resumed"]:
            return data
        with _spawned("resume", plan, processes, second) as worker:
            worker.channel.send(blob)
            data["again"] = ask(worker, texts=texts)
    return data


def _spawned(
    target: str, plan: Plan, processes: Processes, *files: Path, writes: Path | None = None
) -> AbstractContextManager[Worker]:
    """A process that may read the files, and change the folder of the one that it writes.

    What it is told does not lead to the run that it is to bring back.
    """
    named = {"begun": str(files[0])} if target == "write" else {}
    orders = pack(plan.orders_to_resume(file=str(files[-1]), **named))
    may_change = [] if writes is None else [str(writes.parent)]
    return processes.spawn(WORKER + target, orders, reads=[str(f.parent) for f in files], writes=may_change)
