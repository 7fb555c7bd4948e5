"""The run under its faults: which process does what, and what is known of it. `supervise` is the way in.

up ──(message)──▶ up ──(fault, hang, death)──▶ down ──(a host, a back-off)──▶ up ──▶ … ──▶ finished
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lastgood.recovery.components import COMPONENTS, LOADER
from lastgood.recovery.faults import CORRUPTED, HUNG, STORAGE_FULL, Fault
from lastgood.recovery.supervise.clock import Pace, Patience
from lastgood.recovery.supervise.heartbeat import Heartbeat
from lastgood.recovery.supervise.outcome import DIED, SUPERVISOR_GONE, Event, Mismatch
from lastgood.recovery.supervise.progress import Progress
from lastgood.recovery.supervise.reference import Reference
from lastgood.recovery.supervise.strikes import damage_newest, limit_files, strike
from lastgood.recovery.supervise.words import failure_text, last_words, raised_text, restart_text
from lastgood.recovery.warm import WarmServer, Worker

TRAIN = "lastgood.recovery.supervise.worker:train"


class _Stopped(Exception):
    """The run cannot go on: for the cause it says, in words or as a mismatch."""

    def __init__(self, cause: str | Mismatch) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass
class _Process:
    """One process of the run."""

    worker: Worker
    heartbeat: Heartbeat
    planned: tuple[Fault, float] | None = None  # the fault that comes next, and when, by time.monotonic()
    struck: Fault | None = None  # the one that is about to end it
    hung: bool = False  # it was killed because it gave no sign of life
    left: bool = False  # it was told to leave, saved, and says that it goes

    def wait_s(self) -> float:
        """For how long to wait for a message now."""
        due = [] if self.planned is None else [max(0.0, self.planned[1] - time.monotonic())]
        return min([self.heartbeat.interval_s, *due])

    def due(self) -> Fault | None:
        """The fault whose time has come."""
        if self.planned is None or self.planned[1] > time.monotonic():
            return None
        fault, self.planned = self.planned[0], None
        return fault


@dataclass
class Supervised:
    """The run under its faults, through all of its processes."""

    job: dict[str, Any]
    functions: bytes | None
    server: WarmServer
    progress: Progress
    patience: Patience
    reference: Reference
    record: Callable[[Event], None]
    resumed_log: bool = False  # by `take_over`; cleared once a process is up
    mismatch: Mismatch | None = None
    error: str | None = None
    _saving: int | None = None  # the step of a save that was begun: complete or not, nobody knows
    _pace: Pace = field(default_factory=Pace)

    def go(self) -> None:
        """One process after the other, until the run is complete or cannot go on."""
        try:
            while True:
                with self._spawned() as worker:
                    process = _Process(worker, self._heartbeat(worker))
                    for message in self._messages(process):
                        self._take(message, process)
                        if message["kind"] == "finished":
                            return
                    how = last_words(worker, self.patience.stuck_s)
                self._ended(process, how)
        except _Stopped as stop:
            if isinstance(stop.cause, Mismatch):
                self.mismatch = stop.cause
            else:
                self.error = stop.cause
            self._tell("error" if self.error else "mismatch", str(stop.cause))

    def take_over(self) -> None:
        """Go on where another supervisor was killed: its process may have done more than its log says."""
        self.resumed_log = True
        more = {"cause": SUPERVISOR_GONE, "bound": self.progress.bound(SUPERVISOR_GONE)}
        self._tell("continued", f"a new supervisor goes on from step {self.progress.step}", **more)

    def _tell(self, kind: str, text: str, **more: Any) -> None:
        self.progress.apply(kind, **more)
        step, clock = self.progress.step, self.progress.clock
        more.pop("step", None)
        self.record(Event(kind, step, clock.executed, clock.hours, text, **more))

    def _spawned(self) -> Worker:
        saved = bool(self.progress.saved)
        load = {
            "must_load": saved and self.progress.whole,
            "may_load": saved or self._saving is not None or self.resumed_log,
        }
        worker = self.server.spawn(TRAIN, json.dumps(self.job | load), self.functions)
        if self.progress.storage_full:
            limit_files(worker, full=True)
        return worker

    def _heartbeat(self, worker: Worker) -> Heartbeat:
        return Heartbeat(worker.pid, self.patience.silence_s, self.patience.stuck_s)

    def _messages(self, process: _Process) -> Iterator[dict[str, Any]]:
        """What the process says until it ends; meanwhile, whatever is to befall it does."""
        while True:
            if (fault := process.due()) is not None:
                self._befall(process, fault)
            try:
                message = process.worker.channel.recv(process.wait_s())
            except EOFError:
                return
            except TimeoutError:
                if not process.hung and process.heartbeat.hung():
                    process.hung = True
                    process.worker.kill()
                continue
            process.heartbeat.heard()
            yield json.loads(message)

    def _plan(self, process: _Process) -> None:
        """A step begins: is there a fault in the midst of it?"""
        upcoming = self.progress.clock.upcoming()
        if process.struck or process.planned or upcoming is None:
            return
        fault, fraction = upcoming
        with_save = self.progress.step % self.job["save_every"] == 0
        process.planned = fault, time.monotonic() + fraction * self._pace.seconds(with_save=with_save)

    def _befall(self, process: _Process, fault: Fault) -> None:
        if fault.kind == STORAGE_FULL:
            limit_files(process.worker, full=True)
            words = f"storage is full for {fault.lasts_hours:g} h (hour {fault.time_hours:.1f})"
            self._tell("full", words, cause=fault.kind, host=fault.host)
            self._plan(process)
            return
        process.struck = fault
        strike(process.worker, fault, notice_suffices=self._suffices(fault))

    def _suffices(self, fault: Fault) -> bool:
        return fault.lasts_hours > self.progress.costs.save_hours

    def _take(self, message: dict[str, Any], process: _Process) -> None:
        match message["kind"]:
            case "started":
                self._started(message)
                self._pace.begun()
            case "step":
                step = self.progress.step + 1
                self._tell("step", f"step {step}, loss {message['loss']:.3f}", indices=message["indices"])
                self._pace.stepped()
            case "saving":
                if message["step"] != self.progress.step:
                    raise _Stopped(f"capture trained the run: it is at step {message['step']}")
                self._saving = message["step"]
                self.reference.expect(message["step"])
            case "saved" | "refused" as kind:
                self._saving = None
                self._pace.saved()
                why = f" not saved: {message['error']}" if kind == "refused" else " saved"
                self._tell(kind, f"step {message['step']}{why}")
            case "left":
                process.left = True
            case "raised":
                raise _Stopped(raised_text(message, self._saving))
            case "finished":
                self._finished(message["digests"])
        if message["kind"] in ("started", "step"):
            self._storage_again(process)
            self._plan(process)

    def _storage_again(self, process: _Process) -> None:
        if self.progress.storage_full and not self.progress.clock.storage_full:
            limit_files(process.worker, full=False)
            self._tell("free", "storage is free again")

    def _started(self, message: dict[str, Any]) -> None:
        """Tell by what the run is, not by what it says, from which save it resumed."""
        progress, found = self.progress, message["digests"]
        places = set(progress.saved) if progress.whole else {0, *progress.saved}
        places |= {message["step"]} if self.resumed_log else set()
        places |= set() if self._saving is None else {self._saving}
        differing = {place: self.reference.differing(found, place) for place in places}
        step = min(places, key=lambda place: (len(differing[place]), -place))
        if differing[step]:
            raise _Stopped(Mismatch(progress.kills, step, differing[step]))
        if step == self._saving or (self.resumed_log and step):
            progress.apply("saved late", step=step)
        self._saving, self.resumed_log = None, False
        if progress.down is None:
            return self._tell("started", "started")
        down, lost = progress.down, max(0, progress.step - step)
        text = restart_text(step, lost, max(progress.saved, default=0), message["skipped"])
        more = {"host": down.host, "cause": down.cause, "bound": down.bound, "wait": down.wait}
        self._tell("restarted", text, step=step, lost=lost, **more)

    def _finished(self, found: dict[str, str]) -> None:
        progress = self.progress
        differing = self.reference.differing(found, self.job["steps"])
        seen = zip(progress.history, self.reference.indices, strict=True)
        if LOADER not in differing and any(ours not in (None, theirs) for ours, theirs in seen):
            differing = tuple(name for name in COMPONENTS if name in differing or name == LOADER)
        if differing:
            raise _Stopped(Mismatch(progress.kills, progress.step, differing, at_end=True))
        self._tell("finished", f"step {progress.step}: bit-identical to the undisturbed run")

    def _ended(self, process: _Process, how: str) -> None:
        """The process is gone: because it was hit, or for no reason that is known here."""
        progress, fault = self.progress, process.struck
        if fault is None:
            died = (HUNG, "silent, and killed for it") if process.hung else (DIED, how)
            return self._died(*died)
        on_notice = process.left and progress.step in progress.saved and not progress.refused
        bound = progress.bound(fault.kind, saved_on_notice=on_notice)
        if fault.kind == CORRUPTED:
            damage_newest(Path(self.job["folder"]))
        text = failure_text(fault, progress.kills + 1, progress.step, self._saving, on_notice)
        self._tell("failed", text, host=fault.host, cause=fault.kind, bound=bound)
        if progress.down and progress.down.wait:
            wait = progress.down.wait
            self._tell("waiting", f"no spare host for {wait:.1f} h", host=fault.host, wait=wait)

    def _died(self, cause: str, how: str) -> None:
        progress = self.progress
        text = f"a process ended unasked after step {progress.step}: {how}"
        self._tell("died", text, cause=cause, bound=progress.bound(cause))
        if progress.futile == self.patience.deaths:
            raise _Stopped(
                f"{progress.futile} processes in a row ended unasked, and none got past step "
                f"{progress.furthest}: to start a further one would not help. The last: {how}"
            )
        self.patience.sleep(self.patience.backoff_s * 2 ** (progress.futile - 1))
