"""The events of a supervised run, read for a picture: where the line goes, and what each failure cost.

Nothing here imports torch: a lesson that only shows a recorded run opens at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

RECORDED: Final = Path(__file__).with_name("saw_tooth.jsonl")
STEP, SAVED, REFUSED, FULL, FREE = "step", "saved", "refused", "full", "free"
FAILED, DIED, WAITING, RESTARTED = "failed", "died", "waiting", "restarted"
ENDS: Final = ("finished", "mismatch", "error")


class SawToothError(ValueError):
    """Events from which no picture follows: none, or not those of `supervise`."""


@dataclass(frozen=True)
class Moment:
    """One event of the run; `lastgood.recovery.supervise.Event` says what the fields mean."""

    kind: str
    step: int
    hours: float
    text: str
    host: int | None = None
    cause: str | None = None
    lost: int | None = None
    bound: int | None = None
    wait: float | None = None


@dataclass(frozen=True)
class Fall:
    """An end of a process, and where the next one went on; `resumed` is None as long as none has."""

    at: int  # index of the moment at which it ended
    cause: str
    host: int | None
    hours: float
    step: int
    resumed: int | None = None
    bound: int | None = None
    wait: float = 0.0

    @property
    def lost(self) -> int | None:
        """Steps to do again."""
        return None if self.resumed is None else self.step - self.resumed


@dataclass(frozen=True)
class SawTooth:
    """A run up to its last moment, or to an earlier one: `until` gives the run as it was then."""

    moments: tuple[Moment, ...]

    @cached_property
    def stops(self) -> tuple[int, ...]:
        """Indices of the moments to stop at: all but the steps between them."""
        last = len(self.moments) - 1
        return tuple(i for i, moment in enumerate(self.moments) if moment.kind != STEP or i == last)

    @property
    def steps(self) -> int:
        """The furthest step that the run reached."""
        return max(moment.step for moment in self.moments)

    @property
    def hours(self) -> float:
        return self.moments[-1].hours

    @property
    def now(self) -> Moment:
        return self.moments[-1]

    def until(self, index: int) -> SawTooth:
        """The run as it was at this moment, the moment included."""
        return SawTooth(self.moments[: index + 1])

    @cached_property
    def line(self) -> list[tuple[float, int]]:
        """Corners (hours, step): up with the steps, level while nothing is done, down at a restart."""
        corners = [(0.0, 0)]
        for moment in self.moments:
            if moment.step < corners[-1][1]:
                corners.append((moment.hours, corners[-1][1]))
            corners.append((moment.hours, moment.step))
        return corners

    @cached_property
    def saves(self) -> list[tuple[float, int]]:
        """(hours, step) of each checkpoint that is complete."""
        return [(moment.hours, moment.step) for moment in self.moments if moment.kind == SAVED]

    @cached_property
    def falls(self) -> list[Fall]:
        """Each end of a process, in turn."""
        falls: list[Fall] = []
        for index, moment in enumerate(self.moments):
            if moment.kind in (FAILED, DIED):
                cause = moment.cause or DIED
                falls.append(Fall(index, cause, moment.host, moment.hours, moment.step, bound=moment.bound))
            elif moment.kind == RESTARTED and falls and falls[-1].resumed is None:
                known = {**vars(falls[-1]), "resumed": moment.step, "wait": moment.wait or 0.0}
                falls[-1] = Fall(**known)
        return falls

    @cached_property
    def outages(self) -> list[tuple[float, float]]:
        """(from, to) hours during which storage was full; one that goes on ends now."""
        spans: list[tuple[float, float]] = []
        since: float | None = None
        for moment in self.moments:
            if moment.kind == FULL and since is None:
                since = moment.hours
            elif moment.kind == FREE and since is not None:
                spans.append((since, moment.hours))
                since = None
        return spans if since is None else [*spans, (since, self.hours)]


Events = str | Path | Iterable[Any]


def read(events: Events = RECORDED) -> SawTooth:
    """The run that these events tell of: a file of them, the folder of a run, or events themselves.

    Raises SawToothError where there are none, or where they are something else; OSError.
    """
    if isinstance(events, (str, Path)):
        path = Path(events)
        path = path / "events.jsonl" if path.is_dir() else path
        where = path.name
        found: list[Any] = list(_parsed(path))
    else:
        where, found = "events", list(events)
    if not found:
        raise SawToothError(f"{where}: no events. Has the run begun?")
    return SawTooth(tuple(_moment(event, f"{where}, event {i}") for i, event in enumerate(found, 1)))


def _parsed(path: Path) -> Iterable[Any]:
    if not path.is_file():
        raise SawToothError(
            f"{path}: no such file. Give the folder that `lastgood run --folder` wrote, or its events.jsonl"
        )
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        try:
            yield json.loads(line)
        except json.JSONDecodeError as error:
            if number == len(lines) and not line.endswith("\n"):
                return  # cut short: the run goes on, or its supervisor was killed
            raise SawToothError(f"{path.name}, line {number}: no JSON ({error.msg})") from None


def _moment(event: Any, where: str) -> Moment:
    fields = event if isinstance(event, Mapping) else getattr(event, "__dict__", {})
    if missing := [name for name in ("kind", "step", "hours", "text") if name not in fields]:
        raise SawToothError(f"{where}: no {missing[0]!r} in it. Give events as `supervise` tells them")
    try:
        kind, step, hours = str(fields["kind"]), int(fields["step"]), float(fields["hours"])
    except (TypeError, ValueError) as error:
        raise SawToothError(f"{where}: {error}") from None
    rest = {name: fields.get(name) for name in ("host", "cause", "lost", "bound", "wait")}
    return Moment(kind, step, hours, str(fields["text"]), **rest)
