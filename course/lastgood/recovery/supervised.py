"""The run under its faults: which process does what, and what is known of it. `supervise` is the way in."""

from __future__ import annotations

import json
import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lastgood.recovery.components import COMPONENTS, LOADER
from lastgood.recovery.faults import Fault
from lastgood.recovery.outcome import Event, Mismatch, SupervisorError
from lastgood.recovery.warm import WarmServer, Worker

TRAIN = "lastgood.recovery.supervise_worker:train"
UNDISTURBED = "lastgood.recovery.supervise_worker:undisturbed"
_SILENCE_S = 60.0  # a process that says nothing for so long has hung
_LAG_S = 300.0  # how long the undisturbed run may take to catch up
_FUTILE = 3  # unscheduled deaths in a row, without a new step


@dataclass
class Clock:
    """Compressed time: steps executed, and the faults that they bring about."""

    faults: list[Fault]
    hours_per_step: float
    executed: int = 0
    kills: int = 0  # so many of the faults have happened

    @property
    def hours(self) -> float:
        return self.executed * self.hours_per_step

    def due(self) -> bool:
        return self.kills < len(self.faults) and self.faults[self.kills].time_hours <= self.hours


class Undisturbed:
    """The run beside, read as far as it is asked for, and waited for where it lags."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._digests: dict[int, dict[str, str]] = {}
        self.indices: list[list[int]] = []

    def differing(self, found: dict[str, str], step: int) -> tuple[str, ...]:
        """The components of `found` that are not those of the undisturbed run at `step`."""
        while step not in self._digests:
            try:
                self._read(_LAG_S)
            except (EOFError, TimeoutError) as error:
                raise SupervisorError(
                    f"the undisturbed run did not get to step {step}. It printed:\n{self._worker.output()}"
                ) from error
        return tuple(name for name in COMPONENTS if found[name] != self._digests[step][name])

    def read_on(self) -> None:
        """Take what lies ready, so that it need not wait for a reader."""
        try:
            while True:
                self._read(0.0)
        except (EOFError, TimeoutError):
            return

    def _read(self, timeout: float) -> None:
        point = json.loads(self._worker.channel.recv(timeout))
        self._digests[point["step"]] = point["digests"]
        self.indices += point["indices"]


class _Stopped(Exception):
    """The run cannot go on: for the cause it says, in words or as a mismatch."""

    def __init__(self, cause: str | Mismatch) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass
class Supervised:
    """The run under its faults, through all of its processes."""

    job: dict[str, Any]
    functions: bytes | None
    server: WarmServer
    clock: Clock
    undisturbed: Undisturbed
    record: Callable[[Event], None]
    history: list[list[int]] = field(default_factory=list)  # sample indices, a list for each step
    lost: list[int] = field(default_factory=list)
    processes: int = 0
    mismatch: Mismatch | None = None
    error: str | None = None
    _saved: set[int] = field(default_factory=set)  # steps whose save was complete
    _saving: int | None = None  # the step of a save that was begun: complete or not, nobody knows
    _furthest: int = 0
    _futile: int = 0

    def go(self) -> None:
        """One process after the other, until the run is complete or cannot go on."""
        try:
            while not self._one_process():
                pass
        except _Stopped as stop:
            if isinstance(stop.cause, Mismatch):
                self.mismatch = stop.cause
            else:
                self.error = stop.cause
            self._tell("error" if self.error else "mismatch", str(stop.cause))

    def _tell(self, kind: str, text: str) -> None:
        self.record(Event(kind, len(self.history), self.clock.executed, self.clock.hours, text))

    def _one_process(self) -> bool:
        """Start a process and follow it to its end, whoever ends it. True where the run is complete."""
        load = {"must_load": bool(self._saved), "may_load": bool(self._saved) or self._saving is not None}
        killed = silent = False
        self.processes += 1
        with self.server.spawn(TRAIN, json.dumps(self.job | load), self.functions) as worker:
            while True:
                try:
                    message = json.loads(worker.channel.recv(_SILENCE_S))
                except EOFError:
                    break
                except TimeoutError:
                    silent = True
                    worker.kill()
                    continue
                self._take(message)
                if message["kind"] == "finished":
                    return True
                if not killed and self.clock.due():
                    worker.kill()  # what it did before this arrives is still read
                    killed = True
            if killed:
                self._was_killed()
            else:
                self._died(f"silent for {_SILENCE_S:.0f} s" if silent else _last_words(worker))
        return False

    def _take(self, message: dict[str, Any]) -> None:
        match message["kind"]:
            case "started":
                self._started(message["digests"])
            case "step":
                self.clock.executed += 1
                self.history.append(message["indices"])
                if len(self.history) > self._furthest:
                    self._furthest, self._futile = len(self.history), 0
                self._tell("step", f"step {len(self.history)}, loss {message['loss']:.3f}")
            case "saving":
                if message["step"] != len(self.history):
                    raise _Stopped(f"capture trained the run: it is at step {message['step']}")
                self._saving = message["step"]
            case "saved":
                self._saved.add(message["step"])
                self._saving = None
                self.undisturbed.read_on()
                self._tell("saved", f"step {message['step']} saved")
            case "raised":
                raise _Stopped(self._raised(message))
            case "finished":
                self._finished(message["digests"])

    def _started(self, found: dict[str, str]) -> None:
        """Tell by what the run is, not by what it says, from which save it resumed."""
        places = set(self._saved) or {0}
        if self._saving is not None:
            places.add(self._saving)
        differing = {place: self.undisturbed.differing(found, place) for place in places}
        step = min(places, key=lambda place: (len(differing[place]), -place))
        if differing[step]:
            raise _Stopped(Mismatch(self.clock.kills, step, differing[step]))
        if self._saving == step:
            self._saved.add(step)
        self._saving = None
        if self.processes == 1:
            return self._tell("started", "started")
        lost = len(self.history) - step
        self.lost.append(lost)
        del self.history[step:]
        newest = max(self._saved, default=0)
        late = f", though step {newest} was saved" if step < newest else ""
        again = f"{lost} step{'s' * (lost != 1)} to do again"
        self._tell("restarted", f"resumed at step {step}{late}: {again}")

    def _finished(self, found: dict[str, str]) -> None:
        differing = self.undisturbed.differing(found, self.job["steps"])
        if self.history != self.undisturbed.indices and LOADER not in differing:
            differing = tuple(name for name in COMPONENTS if name in differing or name == LOADER)
        if differing:
            raise _Stopped(Mismatch(self.clock.kills, len(self.history), differing, at_end=True))
        self._tell("finished", f"step {len(self.history)}: bit-identical to the undisturbed run")

    def _was_killed(self) -> None:
        fault = self.clock.faults[self.clock.kills]
        self.clock.kills += 1
        during = "" if self._saving is None else f", as it saved step {self._saving}"
        where = f"after step {len(self.history)}{during}"
        when = f"hour {fault.time_hours:.1f}, host {fault.host}"
        self._tell("killed", f"kill {self.clock.kills} {where} ({when})")

    def _died(self, how: str) -> None:
        self._futile += 1
        self._tell("died", f"a process ended unasked after step {len(self.history)}: {how}")
        if self._futile == _FUTILE:
            raise _Stopped(
                f"{_FUTILE} processes in a row ended unasked, and none got past step {self._furthest}: "
                f"to start a further one would not help. The last: {how}"
            )

    def _raised(self, message: dict[str, Any]) -> str:
        lines = [f"{message['function']} raised {message['error']}"]
        for file, number, name in message["frames"]:
            # A notebook's cells are known here, where they were typed, and not in the process that ran them.
            lines.append(f"  line {number} of {name}: {linecache.getline(file, number).strip()}".rstrip(": "))
        if message["function"] == "load" and self._saving is not None:
            lines.append(f"  The kill before had come in the middle of saving step {self._saving}.")
        return "\n".join(lines)


def _last_words(worker: Worker) -> str:
    said = worker.output().strip().splitlines()
    return f"exit status {worker.wait(_SILENCE_S)}" + (f", {said[-1]}" if said else "")
