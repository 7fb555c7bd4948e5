"""Which part of a run's state does a checkpoint scheme miss? Found by killing the run and resuming it.

The audit never looks at what a state is called or how it is laid out. A fresh process restores what another
one captured before it was killed, and the run is looked at before its first step: that is where each
component is judged. What differs is then put, alone, into an undisturbed run: only if that run changes does
the component count as lost. `measure` runs the learner's functions and returns plain data; `judge` computes
what should have come out, and compares. Equality is exact.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lastgood.recovery.audit.plan import AUDIT_CONFIG, BATCHES_PER_EPOCH, Plan, draw_plan
from lastgood.recovery.audit.verdict import WORKER, Audit, Finding, judge
from lastgood.recovery.learner import bundle
from lastgood.recovery.learner.answers import ask, plain
from lastgood.recovery.warm import WarmServer, shared_server
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
    server = server or shared_server()
    blob = bundle.dumps(functions)
    data: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="lastgood-audit-") as folder:
        first, second = str(Path(folder, "first.pt")), str(Path(folder, "second.pt"))
        with server.spawn(WORKER + "write", pack(plan.orders(file=first))) as worker:
            worker.channel.send(blob)
            data["writer"] = ask(worker)
            worker.kill()  # SIGKILL, and only now is it told to anybody how far the run goes on
        if "error" in data["writer"]:
            return data
        with server.spawn(WORKER + "resume", pack(plan.orders(file=first))) as worker:
            worker.channel.send(blob)
            data["reader"] = ask(worker)
            if "error" in data["reader"]:
                return data
            worker.channel.send(pack([plan.after, second]))
            data["resumed"] = ask(worker)
            worker.kill()
        if "error" in data["resumed"]:
            return data
        with server.spawn(WORKER + "resume", pack(plan.orders(file=second))) as worker:
            worker.channel.send(blob)
            data["again"] = ask(worker)
    return data
