"""Which part of a run's state does a checkpoint scheme miss? Found by killing the run and resuming it.

The audit never looks at what a state is called or how it is laid out. A fresh process restores what another
one captured before it was killed, and the run is looked at before its first step: that is where each
component is judged. What differs is then put, alone, into an undisturbed run: only if that run changes does
the component count as lost. `measure` runs the learner's functions and returns plain data; `judge` computes
what should have come out, and compares. Equality is exact.
"""

from __future__ import annotations

import linecache
import random
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lastgood.recovery import bundle
from lastgood.recovery.components import (
    COMPONENTS,
    OPTIMIZER,
    PARAMETERS,
    differences,
)
from lastgood.recovery.learner import STAGE_MARK
from lastgood.recovery.state import state_bytes
from lastgood.recovery.warm import WarmServer, Worker, shared_server
from lastgood.recovery.wire import pack, same, unpack
from lastgood.training.logbook import CHARACTERS
from lastgood.training.model import GPTConfig
from lastgood.training.run import RunConfig
from lastgood.training.schedule import Schedule

WORKER = "lastgood.recovery.audit_worker:"
STAGE_SECONDS = 20.0
DATA_BYTES = {"too_large": 3.0, "too_small": 0.9}  # of parameters and moments together

AUDIT_CONFIG = RunConfig(
    # Small enough for seven processes a second, and everything in it matters: dropout is on, warm-up ends
    # after the capture, an epoch is six batches of which the last is smaller, half of the windows are
    # disturbed.
    model=GPTConfig(len(CHARACTERS), block_size=32, n_layer=1, n_head=2, n_embd=32, dropout=0.2),
    schedule=Schedule(peak=5e-3, warmup=14, horizon=60, floor=5e-4),
    batch_size=4,
    augment=0.5,
    train_chars=22 * 32,
    heldout_chars=64,
)
BATCHES_PER_EPOCH = 6


@dataclass(frozen=True)
class Plan:
    """What is drawn for one audit, after the learner's functions can no longer change."""

    seed: int
    secret: int
    other_seed: int
    before: int  # steps until the capture: strictly inside an epoch, and inside the warm-up
    extra: int  # steps trained on between the capture and the save
    after: int  # steps of the resumed run: past an epoch's end and past the warm-up
    config: RunConfig = AUDIT_CONFIG
    taught: tuple[str, ...] = ()

    def orders(self, **more: Any) -> dict[str, Any]:
        return {
            "config": self.config.to_dict(),
            "seed": self.seed,
            "secret": self.secret,
            "other_seed": self.other_seed,
            "before": self.before,
            "extra": self.extra,
            "taught": list(self.taught),
            **more,
        }


def draw_plan(taught: Sequence[str] = (), seed: int | None = None) -> Plan:
    """A fresh plan; the same one for the same seed, and from the system's entropy where there is none."""
    source: random.Random = random.SystemRandom() if seed is None else random.Random(seed)
    return Plan(
        seed=source.randrange(2**31),
        secret=source.randrange(2**31),
        other_seed=source.randrange(2**31),
        before=BATCHES_PER_EPOCH + source.randrange(1, BATCHES_PER_EPOCH),
        extra=source.randrange(2, 5),
        after=source.randrange(BATCHES_PER_EPOCH + 2, BATCHES_PER_EPOCH + 6),
        taught=tuple(taught),
    )


def ask(worker: Worker, *, timeout: float = STAGE_SECONDS) -> dict[str, Any]:
    """A worker's next answer, or an `error` in plain data where it died or took too long."""
    try:
        answer: dict[str, Any] = unpack(worker.channel.recv(timeout))
        if "error" in answer:
            error = answer["error"]
            error["line"] = linecache.getline(error["file"], error["number"]).strip()[:200]
        return answer
    except TimeoutError:
        worker.kill()
        return {"error": _gone(worker, "TimeoutError", f"it had not finished after {timeout:.0f} seconds")}
    except EOFError:
        status = worker.wait(STAGE_SECONDS)
        return {"error": _gone(worker, "ProcessDied", f"its process ended with status {status}")}


def _gone(worker: Worker, kind: str, message: str) -> dict[str, Any]:
    *_, stage = ["the process", *STAGE_MARK.findall(worker.output())]
    return {"stage": stage, "kind": kind, "message": message, "line": "", "blank": False}


def plain(error: dict[str, Any]) -> str:
    """The message of a learner's exception, without colours, and without the advice that libraries add."""
    message = re.sub(r"\x1b\[[0-9;]*m", "", error["message"]).strip()
    if "weights_only" in message:
        return "torch.load refuses objects such as NumPy's by default; see weights_only in its documentation"
    first = next(iter(message.splitlines()), "no message")
    return first if len(first) < 160 else first[:160].rsplit(". ", 1)[0] + " …"


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


@dataclass(frozen=True)
class Finding:
    """The verdict on one component."""

    component: str
    kept: bool
    why: str = ""
    first_step: int | None = None  # the first step of an otherwise undisturbed run that it changes
    gap: float | None = None  # by how much it moves the loss there, at most, in nats


@dataclass(frozen=True)
class Audit:
    """What came out: a finding for each component, and what concerns them all."""

    findings: tuple[Finding, ...]
    stopped: dict[str, Any] | None = None  # a learner's exception that ended the audit
    refused: str = ""  # why a scheme that resumes well is none all the same
    captured_at: int = 0
    expected: list[float] = field(default_factory=list)  # losses of the undisturbed run after the capture
    found: list[float] = field(default_factory=list)  # losses of the resumed run
    first_step: int | None = None  # the first step of the resumed run that differs

    @property
    def passed(self) -> bool:
        return not self.refused and self.stopped is None and all(f.kept for f in self.findings)


def judge(plan: Plan, data: dict[str, Any], server: WarmServer | None = None) -> Audit:
    """The verdict, from what the processes saw and from the library's own undisturbed run."""
    server = server or shared_server()
    for stage in ("writer", "reader"):
        error = data.get(stage, {}).get("error")
        if error:
            return Audit(tuple(Finding(c, False) for c in COMPONENTS), stopped=error, captured_at=plan.before)
    with server.spawn(WORKER + "reference", pack(plan.orders(after=plan.after))) as worker:
        truth = ask(worker)
    restored = differences(data["reader"]["restored"], truth["captured"])
    moved = differences(data["writer"]["after"], data["writer"]["before"])
    spoilt = _spoilt(plan, data["reader"]["restored"], sorted(restored), truth, server)
    later = data["resumed"].get("error") or data["again"].get("error")  # a step, or the second resume, raised
    again = {} if restored or later else differences(data["again"]["restored"], truth["end"])
    findings = []
    for name in COMPONENTS:
        why = ""
        if name in moved:
            why = f"capture changed the run itself: {moved[name]}"
        elif name in spoilt:
            why = _lost(name, data["reader"], truth, restored[name])
        elif name in again and name not in restored:
            why = f"right after the first resume, wrong after a second one: {again[name]}"
        step, gap = spoilt.get(name, (None, None))
        findings.append(Finding(name, not why, why, step, gap))
    audit = Audit(
        tuple(findings),
        captured_at=plan.before,
        stopped=later if all(f.kept for f in findings) else None,
        expected=truth["losses"],
        found=data["resumed"].get("losses", []),
        first_step=plan.before if later else _first_difference(plan, data["resumed"], truth),
    )
    return replace(audit, refused=_refusal(data, truth, audit))


def _lost(name: str, reader: dict[str, Any], truth: dict[str, Any], difference: str) -> str:
    found = reader["restored"]
    if same(found[name], reader["built"][name]):
        return f"restore left it as the new run had it: {difference}"
    if same(found[name], truth["later"][name]):
        return (
            "what was captured changed while the run trained on: it holds the values of a later step, "
            "so capture handed out references to live objects and not copies"
        )
    return difference


def _spoilt(
    plan: Plan, observed: dict[str, Any], names: list[str], truth: dict[str, Any], server: WarmServer
) -> dict[str, tuple[int | None, float | None]]:
    """Components that, put alone into the undisturbed run, change it: first step, largest gap of the loss."""
    if not names:
        return {}
    with server.spawn(WORKER + "spoil", pack(plan.orders(after=plan.after))) as worker:
        worker.channel.send(pack([observed, names]))
        curves = ask(worker)
    if "error" in curves:
        return dict.fromkeys(names, (None, None))
    result: dict[str, tuple[int | None, float | None]] = {}
    for name in names:
        if "exception" in curves[name]:
            result[name] = (plan.before, None)
            continue
        first = _first_difference(plan, curves[name], truth)
        if first is not None:
            gaps = [abs(a - b) for a, b in zip(curves[name]["losses"], truth["losses"], strict=True)]
            result[name] = (first, max(gaps))
    return result


def _first_difference(plan: Plan, curve: dict[str, Any], truth: dict[str, Any]) -> int | None:
    for i in range(plan.after):
        if any(curve[key][i] != truth[key][i] for key in ("losses", "lrs", "indices")):
            return plan.before + i
    return None


def _refusal(data: dict[str, Any], truth: dict[str, Any], audit: Audit) -> str:
    """Why no component counts, whatever it looks like. Empty where there is no such reason."""
    if data["writer"]["steps"]:
        return f"capture took {data['writer']['steps']} optimizer steps: it may look at the run, not train it"
    if data["reader"]["steps"]:
        return (
            f"restore took {data['reader']['steps']} optimizer steps: that is a replay, which costs "
            "as much as the training it was meant to save"
        )
    moments = [truth["captured"][PARAMETERS]["values"], truth["captured"][OPTIMIZER]["moments"]]
    share = data["writer"]["bytes"] / state_bytes(moments)
    if share > DATA_BYTES["too_large"]:
        return (
            f"the file is {share:.1f} times as large as parameters and moments: it holds more than one state"
        )
    if same(data["reader"]["restored"], data["reader"]["built"]):
        return (
            "after restore, the run is exactly as it was built: nothing was put into it. To assign to the "
            "name `run` inside the function does not change the run that was handed to it"
        )
    if audit.stopped or not all(f.kept for f in audit.findings):
        return ""
    if share < DATA_BYTES["too_small"]:
        return f"the file holds {share:.0%} of the bytes of parameters and moments: they came from elsewhere"
    if audit.first_step is not None or differences(data["resumed"]["end"], truth["end"]):
        return (
            "every component came back right, yet the resumed run went another way: something is wired "
            "wrongly, such as an optimizer that steps a model which the run no longer uses"
        )
    return ""
