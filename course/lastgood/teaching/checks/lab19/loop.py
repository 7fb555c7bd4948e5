"""Lab 19, part D: the learner's supervisor, on real processes that fail as it was drawn."""

from __future__ import annotations

import random
import signal
from dataclasses import asdict
from typing import Any

from lastgood.recovery.components import COMPONENTS, TITLES
from lastgood.recovery.job import LIMIT, Job, Plan, SupervisorStopped, drawn, poisoned, undisturbed
from lastgood.teaching.checks.core import NOT_WRITTEN, Check, Data, borrowed
from lastgood.teaching.checks.lab19.passages import FOR_EVER, ONE_PROCESS
from lastgood.teaching.checks.lab19.reference import last_good, no_progress, what_happened
from lastgood.teaching.checks.report import Part, Report, part, untested
from lastgood.teaching.checks.words import sentence

ARRIVES, ONCE, GIVES_UP = "gets the run to its end", "each sample once", "stops at a poison step"
POINTS = {ARRIVES: 4.0, ONCE: 2.0, GIVES_UP: 3.0}


def _draw(seed: int) -> Data:
    return {"seed": seed}


def plans(inputs: Data) -> tuple[Plan, Plan]:
    """A job that can be completed, and one that cannot."""
    source = random.Random(inputs["seed"])
    return drawn(source.randrange(2**31)), poisoned(source.randrange(2**31))


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    if refused := borrowed(names["0"]):
        return {"error": refused}
    failing, hopeless = plans(inputs)
    told = _supervised(names["0"], failing)
    return told if "error" in told else {"failing": told, "hopeless": _supervised(names["0"], hopeless)}


def _supervised(supervise: Any, plan: Plan) -> Data:
    """What the learner's supervisor made of a job, as plain data."""
    told: Data = {}
    with Job(plan) as job:
        try:
            told["value"] = repr(supervise(job, what_happened, last_good, no_progress))
        except NotImplementedError:
            return {"error": NOT_WRITTEN}
        except SupervisorStopped as stop:
            told["stopped"] = str(stop)
        except Exception as error:
            return {"error": f"Your function raised {type(error).__name__}: {str(error)[:300]}{_when(job)}"}
    return told | {
        "starts": [asdict(start) for start in job.starts],
        "record": [list(entry) for entry in (job.record if job.at_the_end is None else job.at_the_end)],
        "digests": job.digests,
    }


def _when(job: Job) -> str:
    """How far the supervisor was when it raised."""
    found, _ = last_good(job.folder, job.run)
    at = f" (Processes started: {len(job.starts)}."
    return f"{at})" if found else f"{at} There was no good checkpoint then: the path from last_good is None.)"


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return LOOP.failed(data["error"], ONE_PROCESS)
    failing, _ = plans(inputs)
    told = data["failing"]
    right = undisturbed(failing)
    gives_up = part(GIVES_UP, POINTS[GIVES_UP], _wrong_at_poison(data["hopeless"]), FOR_EVER)
    arrives = part(ARRIVES, POINTS[ARRIVES], _misled(told, failing.steps, right.digests), ONE_PROCESS)
    if told["digests"] is None:
        once = untested(ONCE, POINTS[ONCE], "First the run has to reach its end.")
    else:
        once = part(ONCE, POINTS[ONCE], _not_once(told, right.samples), ONE_PROCESS)
    return Report(LOOP.exercise, (arrives, once, gives_up), _note(told, (arrives, once, gives_up)))


def _note(told: Data, parts: tuple[Part, ...]) -> str:
    if not all(p.passed for p in parts):
        return ""
    lived = len(told["starts"])
    return (
        f"{lived} processes, {lived - 1} failures, and the run is bit-identical to one that nothing befell."
    )


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


def _wrong_at_poison(told: Data) -> str:
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
    return ""


def _stopped(told: Data) -> str:
    return sentence(f"Your supervisor did not come to an end: {told['stopped']}")


LOOP = Check("supervise", "D The supervisor", sum(POINTS.values()), _draw, _measure, _judge)
