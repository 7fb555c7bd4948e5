"""What a supervisor holds in its hands: a job, and one process of it after the other.

    process = job.start(None)           # from step 0; or from a checkpoint's path
    while process.poll() is None:       # the exit status, once there is one
        print(process.step, process.silence)

A supervisor can do everything here that it likes, only not for ever: where it waits for what cannot come any
more, the next call raises SupervisorStopped, which no `except Exception` swallows.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
import weakref
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from lastgood.recovery.job import checkpoints, worker
from lastgood.recovery.job.orders import orders
from lastgood.recovery.job.plan import PATIENCE, Plan
from lastgood.recovery.supervise.heartbeat import has_run, signs_of_life
from lastgood.recovery.warm import Worker, shared_server

START_PATIENCE = 5.0  # seconds until the first heartbeat, at most
LIMIT = 3  # deaths in a row without a new step, after which to give up

_POLL_S = 0.01  # that a poll waits for something to happen
_GRACE_S = 1.0  # beyond PATIENCE, until it is certain that a supervisor will not notice a hang
_POLLS_AFTER_THE_END = 200
LOOKS_WITHOUT_A_POLL = 1_000
_STARTS_TOO_MANY = 4  # beyond LIMIT
_END_S = 10.0  # until a process that was killed is gone
NEVER_POLLED = "it looked at process.silence on and on, and never polled in between"


class JobError(ValueError):
    """A process was to be started from what is no checkpoint of the job."""


class SupervisorStopped(BaseException):
    """The supervisor would go on for ever. `str()` says at what."""


@dataclass
class Start:
    """What there is to know of one process: how it was started, and what became of it."""

    checkpoint: str | None  # name of the checkpoint that it was started from; None: from step 0
    last_good: str | None  # what it should have been started from
    fault: str  # what is wrong with `checkpoint`
    step: int  # of `checkpoint`
    recorded: int  # entries in the record of samples
    beside: bool  # the process before was still there
    reached: int = 0
    status: int | None = None
    hung: bool = False  # it gave no heartbeat for longer than PATIENCE
    killed_at_work: bool = False  # the supervisor killed it, and it was neither hung nor over


class Job:
    """A training job and its folder of checkpoints; a context manager that ends whatever it started.

    `run` is its name, `steps` its length. `record` is the record of samples: entry k lists what step k was
    trained on. Each step that a process takes appends an entry; nothing takes one away but the supervisor.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.run = f"run-{plan.seed % 0xFFFF:04x}"
        self.steps = plan.steps
        self.folder = Path(tempfile.mkdtemp(prefix="lastgood-job-")).resolve()
        self.record: list[list[int]] = []
        self.starts: list[Start] = []
        self.digests: dict[str, str] | None = None  # of the complete run
        self.at_the_end: list[list[int]] | None = None  # the record as it then was
        self.executed = 0  # steps, those done again included
        self._workers: list[tuple[Worker, Start]] = []
        self._stack = ExitStack()
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def start(self, checkpoint: Path | str | None) -> Process:
        """Start the next process: from a checkpoint, or from step 0 where there is None.

        Raises JobError where `checkpoint` is none of the job's folder.
        """
        name = self._name(checkpoint)
        self._stop_a_supervisor_that_only_starts()
        best, _ = checkpoints.last_good(self.folder, self.run)
        self.starts.append(
            Start(
                checkpoint=name,
                last_good=best.name if best else None,
                fault=checkpoints.fault(self.folder / name, self.run) if name else "",
                step=(checkpoints.step_of(name) or 0) if name else 0,
                recorded=len(self.record),
                beside=any(each.alive for each, _ in self._workers),
            )
        )
        told = orders(self.plan, len(self.starts) - 1, self.run, self.folder, name)
        spawned = shared_server().spawn(worker.TRAIN, told)
        self._stack.enter_context(spawned)
        self._workers.append((spawned, self.starts[-1]))
        return Process(self, self.starts[-1], spawned)

    @property
    def lost(self) -> int:
        """Steps that were done and are not part of the run: done again, or never."""
        return self.executed - max((start.reached for start in self.starts), default=0)

    def close(self) -> None:
        """End every process that still is, and note how each one ended."""
        self._stack.close()
        for each, start in self._workers:
            start.status = each.wait(0)

    def _name(self, checkpoint: Path | str | None) -> str | None:
        if checkpoint is None:
            return None
        if not isinstance(checkpoint, Path | str):
            raise JobError(f"start was given {checkpoint!r}: give it the path of a checkpoint, or None")
        path = self.folder / checkpoint
        # By the folder's own list: `..` is a name there too, and some names no system can look up.
        if path.parent != self.folder or path.name not in os.listdir(self.folder) or not path.is_dir():
            raise JobError(f"start was given {path.name!r}, which is no checkpoint in the job's folder")
        return path.name

    def _stop_a_supervisor_that_only_starts(self) -> None:
        if self.digests is not None:
            raise SupervisorStopped("it started one more process, though the job was complete")
        furthest = futile = 0
        for start in self.starts:
            furthest, futile = max(furthest, start.reached), 0 if start.reached > furthest else futile + 1
        if futile > LIMIT + _STARTS_TOO_MANY:
            raise SupervisorStopped(
                f"after {futile} processes that did not get past step {furthest}, it started one more"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Process:
    """One process of a job. `step` is the step that it is at, `beats` counts its heartbeats: one a step."""

    def __init__(self, job: Job, start: Start, spawned: Worker) -> None:
        self.step = start.step
        self.beats = 0
        self._silence, self._looks = 0.0, 0
        self._job, self._start, self._worker = job, start, spawned
        self._alive_at = time.monotonic()
        self._life = signs_of_life(self._worker.pid)
        self._hung_up = False
        self._polls_after_the_end = 0
        start.reached = start.step

    @property
    def alive(self) -> bool:
        return self._worker.alive

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
        status = self._exit_status()
        self._listen(_POLL_S if status is None else 0.0)  # what it said before its end counts
        self._start.status = status
        if status is not None:
            self._silence = time.monotonic() - self._alive_at
            self._stop_a_supervisor_that_waits_for_the_dead(status)
        elif self._silence > self._patience + _GRACE_S:
            raise SupervisorStopped(
                f"it waited for ever for a process that hung at step {self.step}, and was still polling "
                f"after {self._silence:.1f} s without a heartbeat"
            )
        return status

    def kill(self) -> None:
        """SIGKILL, and wait until the process is gone. Changes nothing where it is gone already."""
        self._start.killed_at_work = self.alive and self._silence <= self._patience
        self._worker.kill()
        self._start.status = self._worker.wait(_END_S)
        self._listen(0.0)

    def output(self) -> str:
        """What the process has printed."""
        return self._worker.output()

    @property
    def _patience(self) -> float:
        return PATIENCE if self.beats else START_PATIENCE

    def _exit_status(self) -> int | None:
        try:
            return self._worker.wait(_POLL_S if self._hung_up else 0)  # its status is on its way
        except TimeoutError:
            return None

    def _listen(self, seconds: float) -> None:
        """Take every heartbeat that is there; wait up to `seconds` for the first."""
        heard = False
        try:
            while True:
                self._take(json.loads(self._worker.channel.recv(0.0 if heard else seconds)))
                heard = True
        except EOFError:
            self._hung_up = True
        except TimeoutError:
            self._note_life(heard)

    def _take(self, message: dict[str, Any]) -> None:
        self.step = self._start.reached = message["step"]
        self.beats += 1
        if "samples" in message:
            self._job.record.append(message["samples"])
            self._job.executed += 1
        if "digests" in message:
            self._job.digests = message["digests"]
            self._job.at_the_end = [list(entry) for entry in self._job.record]

    def _note_life(self, heard: bool) -> None:
        """On a busy machine a process may wait long for a core: that is no silence."""
        now, life = time.monotonic(), signs_of_life(self._worker.pid)
        if heard or has_run(self._life, life):
            self._alive_at = now
        self._life = life
        self._silence = now - self._alive_at
        self._start.hung |= self.beats > 0 and self._silence > PATIENCE and self.alive

    def _stop_a_supervisor_that_waits_for_the_dead(self, status: int) -> None:
        self._polls_after_the_end += 1
        if self._polls_after_the_end > _POLLS_AFTER_THE_END:
            raise SupervisorStopped(
                f"it polled on and on a process that had ended, with exit status {status}"
            )
