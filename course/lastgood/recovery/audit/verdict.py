"""The audit's verdict: what should have come out, computed by the library alone, and where it did not."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from lastgood.recovery.audit import causes
from lastgood.recovery.audit.plan import Plan
from lastgood.recovery.components import COMPONENTS, OPTIMIZER, PARAMETERS, differences
from lastgood.recovery.learner.answers import ask
from lastgood.recovery.state import state_bytes
from lastgood.recovery.warm import WarmServer, shared_server
from lastgood.recovery.wire import pack, same

WORKER = "lastgood.recovery.audit.worker:"
DATA_BYTES = {"too_large": 3.0, "too_small": 0.9}  # of parameters and moments together


@dataclass(frozen=True)
class Finding:
    """The verdict on one component."""

    component: str
    kept: bool
    why: str = ""
    first_step: int | None = None  # the first step of an otherwise undisturbed run that it changes
    gap: float | None = None  # by how much it moves the loss there, at most, in nats
    live: bool = False  # capture handed out what training went on to change


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
    threads: tuple[int, int] = (1, 1)  # torch's, as restore left it and as it should be

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
    findings = _findings(plan, data, truth, server)
    later = _later_error(data)
    audit = Audit(
        findings,
        captured_at=plan.before,
        stopped=later if all(f.kept for f in findings) else None,
        expected=truth["losses"],
        found=data["resumed"].get("losses", []),
        first_step=plan.before if later else _first_difference(plan, data["resumed"], truth),
        threads=(data["reader"]["restored"][PARAMETERS]["threads"], truth["captured"][PARAMETERS]["threads"]),
    )
    return replace(audit, refused=_refusal(data, truth, audit))


def _later_error(data: dict[str, Any]) -> dict[str, Any] | None:
    """What a step of the resumed run raised, or the second resume."""
    error: dict[str, Any] | None = data["resumed"].get("error") or data["again"].get("error")
    return error


def _findings(
    plan: Plan, data: dict[str, Any], truth: dict[str, Any], server: WarmServer
) -> tuple[Finding, ...]:
    reader, writer = data["reader"], data["writer"]
    restored = differences(reader["restored"], truth["captured"])
    moved = differences(writer["after"], writer["before"])
    effects = {
        **_spoilt(plan, reader["restored"], sorted(restored), truth, server),
        **dict.fromkeys(moved, (None, None)),
        **_spoilt(plan, writer["after"], sorted(moved), truth, server),
    }
    again = {}
    if not restored and not _later_error(data):
        again = differences(data["again"]["restored"], truth["end"])
    found = []
    for name in COMPONENTS:
        step, gap = effects.get(name, (None, None))
        if name in moved:
            found.append(Finding(name, False, f"capture changed the run itself: {moved[name]}", step, gap))
        elif name in effects:
            cause, why = causes.told(name, restored[name], reader, truth)
            found.append(Finding(name, False, why, step, gap, live=cause == causes.LATER))
        elif name in again:
            why = f"correct after the first resume, wrong after a second one: {again[name]}"
            found.append(Finding(name, False, why, plan.before + plan.after))
        else:
            found.append(Finding(name, True))
    return tuple(found)


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
        return (
            f"what capture returned has {share:.0%} of the bytes of parameters and moments: the rest came "
            "from elsewhere, where a process on another machine would not find it. capture must hand over "
            "the state itself; a name or a link to it is not enough"
        )
    mine, right = audit.threads
    if mine != right:
        return (
            f"restore left torch with {mine} threads instead of {right}: sums come out in another order, and "
            "the last bits differ"
        )
    if audit.first_step is not None or differences(data["resumed"]["end"], truth["end"]):
        return (
            "every component came back right, yet the resumed run went another way: something is wired "
            "wrongly, such as an optimizer that steps a model which the run no longer uses"
        )
    return ""
