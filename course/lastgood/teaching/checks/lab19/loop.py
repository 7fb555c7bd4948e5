"""Lab 19, part D: the learner's supervisor, on real processes that fail as it was drawn."""

from __future__ import annotations

import random
import signal
from typing import Any

from lastgood.recovery.components import COMPONENTS, TITLES
from lastgood.recovery.job import LIMIT, Plan, drawn, poisoned, undisturbed
from lastgood.recovery.job.serve import supervised
from lastgood.recovery.learner import bundle
from lastgood.recovery.learner.processes import Processes
from lastgood.teaching.checks import exact
from lastgood.teaching.checks.core import NOT_WRITTEN, Check, Data, borrowed
from lastgood.teaching.checks.lab19.passages import FOR_EVER, ONE_PROCESS
from lastgood.teaching.checks.lab19.reference import no_progress
from lastgood.teaching.checks.report import Report, part, untested
from lastgood.teaching.checks.words import sentence

ARRIVES, ONCE, GIVES_UP = "gets the run to its end", "each sample once", "stops at a poison step"
POINTS = {ARRIVES: 4.0, ONCE: 2.0, GIVES_UP: 3.0}
PRINTED = 10  # lines


def _draw(seed: int) -> Data:
    return {"seed": seed}


def plans(inputs: Data) -> tuple[Plan, Plan]:
    """A job that can be completed, and one that cannot."""
    source = random.Random(inputs["seed"])
    return drawn(source.randrange(2**31)), poisoned(source.randrange(2**31))


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    if refused := borrowed(names["0"]):
        return {"error": refused}
    functions = {"supervise": names["0"]}
    try:
        return {"blob": bundle.dumps(functions), "texts": bundle.texts(functions)}
    except bundle.BundleError as error:
        return {"error": str(error)}


def _try_out(inputs: Data, data: Data, processes: Processes) -> Data:
    if "error" in data:
        return {"error": data["error"]}
    failing, hopeless = plans(inputs)
    told = _supervised(data, failing, processes)
    return told if "error" in told else {"failing": told, "hopeless": _supervised(data, hopeless, processes)}


def _supervised(data: Data, plan: Plan, processes: Processes) -> Data:
    """What the learner's supervisor made of a job, as plain data."""
    told = supervised(data["blob"], plan, processes, exact.texts(data["texts"]))
    if "error" not in told:
        return told
    died = "file" not in told["error"]  # nothing that it raised, but how its process ended
    return {"error": _raised(told), "printed": "" if died else told["printed"]}


def _raised(told: Data) -> str:
    """What the supervisor raised, and how far it was then."""
    error = told["error"]
    if error["blank"]:
        return NOT_WRITTEN
    if "file" not in error:
        return sentence(f"{error['stage']}: {error['message']}")
    none = "" if told["some_good"] else " There was no good checkpoint then: the path from last_good is None."
    at = f" (Processes started: {len(told['starts'])}.{none})"
    line = f"\nin the line: {error['line']}" if error["line"] else ""
    return f"Your function raised {error['kind']}: {error['message'][:300]}{at}{line}"


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        report = LOOP.failed(data["error"], ONE_PROCESS)
        return Report(report.exercise, report.parts, _printed(data))
    failing, hopeless = plans(inputs)
    told = data["failing"]
    right = undisturbed(failing)
    gives_up = part(GIVES_UP, POINTS[GIVES_UP], _wrong_at_poison(data["hopeless"], hopeless), FOR_EVER)
    arrives = part(ARRIVES, POINTS[ARRIVES], _misled(told, failing.steps, right.digests), ONE_PROCESS)
    if told["digests"] is None:
        once = untested(ONCE, POINTS[ONCE], "First the run has to reach its end.")
    else:
        once = part(ONCE, POINTS[ONCE], _not_once(told, right.samples), ONE_PROCESS)
    parts = arrives, once, gives_up
    note = _well_done(told) if all(p.passed for p in parts) else ""
    return Report(LOOP.exercise, parts, "\n".join(filter(None, (note, _printed(told, data["hopeless"])))))


def _well_done(told: Data) -> str:
    lived = len(told["starts"])
    return (
        f"{lived} processes, {lived - 1} failures, and the run is bit-identical to one that nothing befell."
    )


def _printed(*told: Data) -> str:
    """The end of what the supervisor printed: its process had no cell to print it in."""
    lines = [line for each in told for line in each.get("printed", "").splitlines()]
    return "\n".join(["The last that your supervisor printed:", *lines[-PRINTED:]]) if lines else ""


def _misled(told: Data, steps: int, digests: dict[str, str]) -> str:
    """The first thing that went wrong in a job that can be completed."""
    starts = told["starts"]
    for number, start in enumerate(starts, start=1):
        fault = _wrong_start(number, start) or _wrong_kill(number, start)
        if fault:
            return fault
    if "stopped" in told:
        return _stopped(told)
    if told["digests"] is None:
        return _left_early(told, steps)
    if told["value"] != repr("finished"):
        return f"The job was complete, and your supervisor returned {told['value']}; 'finished' is wanted."
    differing = [TITLES[name] for name in COMPONENTS if told["digests"][name] != digests[name]]
    return f"The run that came out is another one. What differs: {', '.join(differing)}." if differing else ""


def _wrong_start(number: int, start: Data) -> str:
    if start["beside"]:
        return (
            f"Process {number} was started while process {number - 1} was still there. It hung, but whoever "
            "hangs may wake up: then two processes write into one folder. Kill it first."
        )
    good = start["last_good"]
    if start["checkpoint"] == good:
        return ""
    if start["checkpoint"] is None:
        return f"It restarted from step 0: process {number} began anew, though {good} was good."
    if start["fault"]:
        rather = f"The last good one was {good}." if good else "There was no good one yet: begin at step 0."
        return (
            f"It trusted a damaged checkpoint: process {number} was started from {start['checkpoint']}, "
            f"which is {start['fault']}. {rather}"
        )
    return f"Process {number} was started from {start['checkpoint']}, though {good} was good and newer."


def _wrong_kill(number: int, start: Data) -> str:
    if not start["killed_at_work"]:
        return ""
    if start["reached"] == start["step"]:
        return f"It killed process {number} while that was still starting: a start takes longer than a step."
    return f"It killed process {number} at step {start['reached']}, though that was at work."


def _left_early(told: Data, steps: int) -> str:
    """What to say of a supervisor that returned before the job was complete."""
    last = told["starts"][-1] if told["starts"] else None
    if last is None:
        return f"It returned {told['value']} and has started no process."
    reached = [start["reached"] for start in told["starts"]]
    futile = no_progress(reached)
    ended = "hung" if last["hung"] else _ended(last["status"])
    said = (
        f"It returned {told['value']} after process {len(reached)} {ended} at step {reached[-1]} of {steps}."
    )
    if told["value"] == repr("finished"):
        return f"{said} The job is not complete: start the next process."
    since = "there was progress" if not futile else f"only {futile} in a row had brought no new step"
    return f"It gave up too early, for {since}; the limit is {LIMIT}. {said}"


def _ended(status: int) -> str:
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return f"ended with status {status}"


def _not_once(told: Data, samples: list[list[int]]) -> str:
    """What is wrong with the record of samples, told by the first restart that made it so."""
    for number, start in enumerate(told["starts"], start=1):
        step, recorded = start["step"], start["recorded"]
        resumed = f"Process {number} resumed at step {step}, with {recorded} entries in the record"
        if recorded > step:
            return (
                f"{resumed}. So the samples of {_steps(step, recorded)} stand there twice. "
                f"Before the start, cut the record to {step} entries."
            )
        if recorded < step:
            gone = _steps(recorded, step)
            return f"{resumed}. The samples of {gone} are lost. Cut the record to {step} entries, no further."
    if told["record"] != samples:
        entries = f"{len(told['record'])} entries for {len(samples)} steps"
        return f"The record has {entries}, and they are not the samples of those steps."
    return ""


def _steps(first: int, end: int) -> str:
    return f"step {first}" if end == first + 1 else f"steps {first} to {end - 1}"


def _wrong_at_poison(told: Data, job: Plan) -> str:
    """What went wrong in a job with a step that no process survives."""
    if "error" in told:
        return str(told["error"])
    reached = [start["reached"] for start in told["starts"]]
    if "stopped" in told:
        return _stopped(told)
    if len(reached) > LIMIT + 1:
        return (
            f"Every process died at step {reached[-1]}, and it started {len(reached)} of them. With a limit "
            f"of {LIMIT} deaths without a new step, {LIMIT + 1} are enough: one that got there, {LIMIT} more."
        )
    if len(reached) < LIMIT:
        deaths = f"{len(reached)} death{'s' * (len(reached) != 1)}"
        return f"It gave up after {deaths}; the limit is {LIMIT} in a row without a new step."
    if not told["value"].lower().startswith("'gave up"):
        return (
            f"It stopped in time, and returned {told['value']}. 'gave up' is wanted, so that somebody looks."
        )
    return _unseen(told["starts"], job)


def _unseen(starts: list[Data], job: Plan) -> str:
    """Whether a supervisor gave up that has not seen its processes die."""
    for number, start in enumerate(starts, start=1):
        if start["beside"]:
            return (
                f"Process {number} was started while process {number - 1} was still there: nobody had seen "
                "yet how that would end."
            )
    furthest = max(start["reached"] for start in starts)
    if furthest != job.poison:
        return f"It gave up when the furthest process was at step {furthest}, and none had died there."
    return ""


def _stopped(told: Data) -> str:
    return sentence(f"Your supervisor did not come to an end: {told['stopped']}")


LOOP = Check("supervise", "D The supervisor", sum(POINTS.values()), _draw, _measure, _judge, _try_out)
