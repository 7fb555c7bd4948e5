"""Schedules on disk: saved, printed, read with care, and replayed."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lastgood.recovery.faults.kinds import STORAGE_FULL, TOLD_TO_LEAVE, Fault, FaultError, positive

COLUMNS = tuple(field.name for field in fields(Fault))


@dataclass(frozen=True)
class Trace:
    """A recorded schedule as a process: every run meets the same failures, and none after the last.

    Raises FaultError where the faults are out of order, or one host fails twice at once.
    """

    faults: tuple[Fault, ...]

    def __post_init__(self) -> None:
        _check_order(self.faults, "fault")

    @classmethod
    def read(cls, path: Path) -> Trace:
        """The trace in a CSV file. Raises FaultError, as `load_schedule` does."""
        return cls(tuple(load_schedule(path)))

    def schedule(self, hours: float, seed: int = 0) -> list[Fault]:
        """The faults of the first `hours`. The seed is not used: a recording is what it is."""
        positive(hours=hours)
        return [fault for fault in self.faults if fault.time_hours < hours]

    def times(self, hours: float, runs: int, generator: np.random.Generator) -> NDArray[np.float64]:
        """The same hours for each run, (runs, k)."""
        row = np.array([fault.time_hours for fault in self.schedule(hours)], dtype=np.float64)
        return np.tile(row, (runs, 1))


def save_schedule(faults: Sequence[Fault], path: Path) -> None:
    """Write a schedule as CSV with a header; `load_schedule` reads the same back.

    Raises FaultError for a schedule that `load_schedule` would refuse.
    """
    _check_order(faults, "fault")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(astuple(fault) for fault in faults)


def load_schedule(path: Path) -> list[Fault]:
    """Read a schedule that `save_schedule` wrote, or another program with the same columns.

    Raises FaultError, naming the line and what is wrong with it: rows unsorted, duplicated or missing,
    times that are no times, a kind there is not.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FaultError(f"{path} cannot be read as a schedule: {error}") from None
    header = tuple(lines[0].split(",")) if lines else ()
    if header != COLUMNS:
        raise FaultError(f"{path}, line 1: a schedule begins with the header {','.join(COLUMNS)}")
    try:
        faults = list(_parsed(lines[1:]))
        _check_order(faults, "line", first=2)
    except FaultError as error:
        raise FaultError(f"{path}, {error}") from None
    return faults


def describe(faults: Iterable[Fault]) -> str:
    """A schedule for people: a line a fault."""
    return "\n".join(f"{fault.time_hours:10.2f} h  host {fault.host:5d}  {_what(fault)}" for fault in faults)


def _what(fault: Fault) -> str:
    match fault.kind:
        case k if k == STORAGE_FULL:
            return f"{fault.kind} for {fault.lasts_hours:g} h"
        case k if k == TOLD_TO_LEAVE:
            return f"{fault.kind} within {fault.lasts_hours:g} h"
    return fault.kind


def _parsed(lines: Sequence[str]) -> Iterator[Fault]:
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            raise FaultError(f"line {number} is empty: a row is missing")
        row = next(csv.reader([line]))
        if len(row) != len(COLUMNS):
            raise FaultError(f"line {number} has {len(row)} values for {len(COLUMNS)} columns: {line!r}")
        time, host, kind, lasts = row
        try:
            yield Fault(_number(time, COLUMNS[0]), _host(host), kind, _number(lasts, COLUMNS[3]))
        except FaultError as error:
            raise FaultError(f"line {number}: {error}") from None


def _number(text: str, column: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise FaultError(f"{column} is {text!r}: give a number of hours") from None


def _host(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise FaultError(f"host is {text!r}: give a whole number") from None


def _check_order(faults: Sequence[Fault], what: str, first: int = 1) -> None:
    if not faults:
        raise FaultError("there is no fault: a schedule without rows is no schedule")
    last: dict[int, float] = {}
    previous = -math.inf
    for number, fault in zip(itertools.count(first), faults, strict=False):
        if fault.time_hours < previous:
            raise FaultError(
                f"{what} {number}: {fault.time_hours:g} h comes after {previous:g} h; sort the rows by time"
            )
        if last.get(fault.host) == fault.time_hours:
            raise FaultError(
                f"{what} {number}: host {fault.host} fails twice at {fault.time_hours:g} h; drop one"
            )
        previous = last[fault.host] = fault.time_hours
