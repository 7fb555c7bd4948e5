"""A learner's supervisor and a job, each out of the other's reach.

The job stays here. The supervisor runs in a process that the caller chooses, with a stand-in for the job;
here its questions are answered, and what became of the job is written down. It may lie in whatever it sends:
that is then what it did.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lastgood.recovery.job.checkpoints import last_good
from lastgood.recovery.job.handle import Job, JobError, Process, SupervisorStopped
from lastgood.recovery.job.plan import Plan
from lastgood.recovery.job.stand_in import SUPERVISE
from lastgood.recovery.learner import STAGE_MARK
from lastgood.recovery.learner.answers import STAGE_SECONDS, ask
from lastgood.recovery.learner.processes import Processes
from lastgood.recovery.warm import Worker
from lastgood.recovery.wire import pack

_LARGEST = 1 << 20  # bytes of a question: a record of samples is some thousands
_QUESTIONS = 20_000


class ServeError(Exception):
    """What came is no question that a stand-in asks."""


def supervised(
    blob: bytes,
    plan: Plan,
    processes: Processes,
    texts: Mapping[str, str] | None = None,
    patience: float = STAGE_SECONDS,
) -> dict[str, Any]:
    """What a supervisor made of a job, as plain data. `blob` is `bundle.dumps({"supervise": function})`.

    `value` is the repr of what it returned; or else there is `stopped`, at what it would have gone on for
    ever, or `error`, as `ask` gives it. It is stopped after `patience` seconds without a question.
    Raises ServeError, WireError or ChannelError for what no stand-in sends.
    """
    with Job(plan) as job:
        folder = str(job.folder)
        orders = pack({"taught": [], "folder": folder, "run": job.run, "steps": job.steps})
        with processes.spawn(SUPERVISE, orders, reads=[folder]) as worker:
            worker.channel.send(blob)
            worker.channel.max_frame = _LARGEST
            told = _served(job, worker, texts, patience)
        good, _ = last_good(job.folder, job.run)
    return told | {
        "starts": [asdict(start) for start in job.starts],
        "record": job.record if job.at_the_end is None else job.at_the_end,
        "digests": job.digests,
        "some_good": good is not None,
        "printed": STAGE_MARK.sub("", worker.output()).strip(),
    }


def _served(job: Job, worker: Worker, texts: Mapping[str, str] | None, patience: float) -> dict[str, Any]:
    """Answer questions until the supervisor has come to an end, or has to be brought to one."""
    desk = _Desk(job)
    try:
        for _ in range(_QUESTIONS):
            asked = ask(worker, timeout=patience, texts=texts)
            if "error" in asked:
                return _ended(asked["error"], patience)
            reply = desk.answer(asked)
            if "value" in reply:
                return {"value": reply["value"]}
            worker.channel.send(pack(reply), patience)
    except SupervisorStopped as stop:
        return {"stopped": str(stop)}
    except TimeoutError:  # nobody reads the answers
        return {"stopped": _idle(patience)}
    return {"stopped": f"it was still asking after {_QUESTIONS:,} questions"}


def _ended(error: dict[str, Any], patience: float) -> dict[str, Any]:
    if error["kind"] == "TimeoutError" and "file" not in error:  # not raised there: it is what `ask` found
        return {"stopped": _idle(patience)}
    if error["kind"] == SupervisorStopped.__name__:
        return {"stopped": error["message"]}
    return {"error": error}


def _idle(patience: float) -> str:
    return f"for {patience:g} s it neither polled nor started a process"


class _Desk:
    """Answers what a stand-in asks, on the job that it stands for."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._processes: list[Process] = []

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The reply. Raises SupervisorStopped, ServeError."""
        if asked["record"] is not None:  # the supervisor has changed it
            self._job.record = _entries(asked["record"])
        known = len(self._job.record)
        try:
            reply = self._done(asked)
        except JobError as error:
            return {"refused": str(error)}
        return reply | {"new": self._job.record[known:]}

    def _done(self, asked: dict[str, Any]) -> dict[str, Any]:
        do = asked["do"]
        if do == "return":
            if not isinstance(asked["value"], str):
                raise ServeError("a supervisor's value is told as text")
            return {"value": asked["value"]}
        if do == "start":
            self._processes.append(self._job.start(asked["checkpoint"]))
            return {"process": len(self._processes) - 1, **_seen(self._processes[-1])}
        process = self._processes[asked["process"]]
        if do == "poll":
            return {"status": process.poll(), **_seen(process)}
        if do == "kill":
            process.kill()
            return _seen(process)
        if do == "alive":
            return {"alive": process.alive}
        if do == "output":
            return {"output": process.output()}
        raise ServeError(f"nobody can ask a job to {do!r}")


def _seen(process: Process) -> dict[str, Any]:
    return {"step": process.step, "beats": process.beats, "silence": process.silence}


def _entries(record: Any) -> list[list[int]]:
    whole = isinstance(record, list) and all(isinstance(entry, list) for entry in record)
    if not whole or any(type(index) is not int for entry in record for index in entry):
        raise ServeError("a record of samples is a list with a list of numbers for each step")
    return list(record)
