"""The folder of a supervised run: claimed for one supervisor, described, and its events written down.

folder/
run.json        what the run is: a later supervisor may go on with the very same one only
events.jsonl    what has happened, a line an event
checkpoints/    see `checkpoint`
.lock           while a supervisor is at work (see `lock`)
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from lastgood.recovery.checkpoint import lock
from lastgood.recovery.checkpoint.manifest import CheckpointError
from lastgood.recovery.supervise.outcome import Event, SupervisorError

CHECKPOINTS, EVENTS, RUN = "checkpoints", "events.jsonl", "run.json"
_NEW = "run.json.new"
ENDS = ("mismatch", "error", "finished")  # the kinds of a last event
GIVEN = "given"  # run.json's word for functions that are not the library's: they cannot be told apart


class Log:
    """`events.jsonl`, open at its end, and what stood in it."""

    def __init__(self, file: IO[str], before: list[Event]) -> None:
        self._file = file
        self.before = before

    def write(self, event: Event) -> None:
        self._file.write(json.dumps(asdict(event)) + "\n")


@contextmanager
def claimed(folder: Path, run: dict[str, Any]) -> Iterator[Log]:
    """Hold `folder` for the run that `run` describes, new or begun by a supervisor that is gone.

    Raises SupervisorError where another supervisor holds it, or it holds anything else; nothing there is
    touched then.
    """
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / RUN).exists() and _foreign(folder):
                raise FileExistsError
            _hold(stack, folder)
            _describe(folder, run)
            (folder / CHECKPOINTS).mkdir(exist_ok=True)
            before, length = _read(folder / EVENTS)
            file = stack.enter_context((folder / EVENTS).open("a", buffering=1))
            file.truncate(length)  # of a line that a kill cut short
        except FileExistsError:
            raise SupervisorError(
                f"{folder} is not an empty folder; it may hold another run. "
                "Name a new one, or remove it first."
            ) from None
        except OSError as error:
            raise SupervisorError(f"{folder} cannot be used ({error}). Name another folder.") from error
        if before and before[-1].kind in ENDS:
            raise SupervisorError(
                f"the run in {folder} has ended: {before[-1].text}. Name a new folder for another one."
            )
        yield Log(file, before)


def _foreign(folder: Path) -> bool:
    """Does it hold anything that a supervisor which came no further than this did not leave there?"""
    return any(path.name not in (lock.LOCK_FILE, _NEW) for path in folder.iterdir())


def _hold(stack: ExitStack, folder: Path) -> None:
    try:
        stack.enter_context(lock.hold(folder))
    except CheckpointError as error:
        raise SupervisorError(
            f"{folder} is in use by another supervisor: {error.cause}. Wait until it is done, end it, "
            "or name another folder."
        ) from error


def _describe(folder: Path, run: dict[str, Any]) -> None:
    """Write down what the run is, or make sure that it is the one that was begun. Raises SupervisorError."""
    path = folder / RUN
    if not path.exists():
        new = folder / _NEW
        new.write_text(json.dumps(run, indent=1) + "\n")
        os.replace(new, path)
        return
    try:
        begun = json.loads(path.read_text())
    except ValueError as error:
        raise SupervisorError(f"{path} is no description of a run ({error}). Name a new folder.") from error
    parts = [name for name in run if not isinstance(begun, dict) or begun.get(name) != _as_json(run[name])]
    if parts:
        raise SupervisorError(
            f"{folder} holds another run: it differs in its {', '.join(parts)}. Name a new folder for this "
            "one, or ask for that one."
        )
    if run["functions"] == GIVEN:
        raise SupervisorError(
            f"{folder} holds a run with functions of its own, which cannot be gone on with. "
            "Name a new folder."
        )


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _read(path: Path) -> tuple[list[Event], int]:
    """The whole events of a log, and how many bytes they take."""
    if not path.exists():
        return [], 0
    events, length = [], 0
    for line in path.read_bytes().splitlines(keepends=True):
        try:
            event = Event(**json.loads(line))
        except (ValueError, TypeError):
            break
        if not line.endswith(b"\n"):
            break
        events.append(event)
        length += len(line)
    return events, length
