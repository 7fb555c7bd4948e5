"""A job as a supervisor sees it that is tried out in a process of its own.

To use, it is like the job in `handle`. But there is nothing in it that could be rewritten: the job itself,
and what became of its processes, are with whoever serves it. Each question goes there as plain data, and with
it the record of samples, which is the supervisor's to keep.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, NoReturn

from lastgood.recovery import learner
from lastgood.recovery.durability import crash
from lastgood.recovery.job.answers import last_good, no_progress, what_happened
from lastgood.recovery.job.handle import LOOKS_WITHOUT_A_POLL, NEVER_POLLED, JobError, SupervisorStopped
from lastgood.recovery.warm.channel import Channel
from lastgood.recovery.wire import pack, unpack

SUPERVISE = "lastgood.recovery.job.stand_in:supervise"
_LONGEST = 500  # characters of what a supervisor returned


class Job:
    """As `handle.Job`, where a supervisor uses it."""

    def __init__(self, channel: Channel, about: dict[str, Any]) -> None:
        self.folder = Path(about["folder"])
        self.run: str = about["run"]
        self.steps: int = about["steps"]
        self.record: list[list[int]] = []
        self._known: list[list[int]] = []  # the record as it is there
        self._channel = channel

    def start(self, checkpoint: Path | str | None) -> Process:
        """Start the next process: from a checkpoint, or from step 0 where there is None. Raises JobError."""
        if not isinstance(checkpoint, Path | str | None):
            raise JobError(f"start was given {checkpoint!r}: give it the path of a checkpoint, or None")
        told = self._ask("start", checkpoint=None if checkpoint is None else str(checkpoint))
        return Process(self, told)

    def _ask(self, do: str, **about: Any) -> dict[str, Any]:
        record = None if self.record == self._known else self.record
        self._channel.send(pack({"do": do, "record": record, **about}))
        told: dict[str, Any] = unpack(self._channel.recv())
        if "refused" in told:
            raise JobError(told["refused"])
        self.record.extend(told["new"])  # the steps that were taken since
        if record is not None or told["new"]:
            self._known = copy.deepcopy(self.record)  # whoever holds an entry may change it
        return told


class Process:
    """As `handle.Process`."""

    def __init__(self, job: Job, told: dict[str, Any]) -> None:
        self._job, self._number = job, told["process"]
        self._looks = 0
        self._learn(told)

    @property
    def alive(self) -> bool:
        return bool(self._ask("alive")["alive"])

    @property
    def silence(self) -> float:
        """Seconds since the last heartbeat, or since the start where there was none; as of the last poll."""
        self._looks += 1
        if self._looks > LOOKS_WITHOUT_A_POLL:
            raise SupervisorStopped(NEVER_POLLED)
        return self._silence

    def poll(self) -> int | None:
        """The exit status as `subprocess` gives it, None while the process is there. Waits for some 10 ms."""
        self._looks = 0
        told = self._ask("poll")
        self._learn(told)
        status: int | None = told["status"]
        return status

    def kill(self) -> None:
        """SIGKILL, and wait until the process is gone. Changes nothing where it is gone already."""
        self._learn(self._ask("kill"))

    def output(self) -> str:
        """What the process has printed."""
        return str(self._ask("output")["output"])

    def _ask(self, do: str) -> dict[str, Any]:
        return self._job._ask(do, process=self._number)

    def _learn(self, told: dict[str, Any]) -> None:
        self.step: int = told["step"]
        self.beats: int = told["beats"]
        self._silence: float = told["silence"]


@learner.answering
def supervise(channel: Channel, orders: dict[str, Any]) -> None:
    """Let the learner's supervisor have the job, and say what it returned."""
    functions = learner.load_functions(orders, channel.recv(learner.PATIENCE))
    job = Job(channel, orders)
    crash.watch(job.folder, _refuse)
    given = job, what_happened, last_good, no_progress
    value = learner.call("supervise", lambda: repr(functions["supervise"](*given)))
    learner.call("supervise", lambda: job._ask("return", value=value[:_LONGEST]))


def _refuse(change: str) -> NoReturn:
    """Behind walls the folder cannot be changed; so it must not be elsewhere either."""
    raise PermissionError(f"the job's folder is the job's own, and can only be read: {change}")
