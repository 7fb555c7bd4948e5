"""How each kind of fault is brought about, with what the system has: signals, a limit, a byte on the disk."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from lastgood.recovery import checkpoint
from lastgood.recovery.checkpoint import names
from lastgood.recovery.checkpoint.manifest import STATE_FILE, CheckpointError
from lastgood.recovery.faults import CORRUPTED, HUNG, STORAGE_FULL, TOLD_TO_LEAVE, Fault
from lastgood.recovery.supervise.outcome import SupervisorError
from lastgood.recovery.warm import Worker

_ROOM = 4096  # bytes a file while storage is full: enough for a lock, too few for a state
_LIBRARY_ONLY = (CORRUPTED, STORAGE_FULL)


def check_kinds(faults: Iterable[Fault], *, library: bool) -> None:
    """Raise SupervisorError where one of the faults could not be brought about here."""
    kinds = {fault.kind for fault in faults}
    foreign = [kind for kind in _LIBRARY_ONLY if kind in kinds]
    if foreign and not library:
        raise SupervisorError(
            f"faults of the kind {foreign[0]!r} need the library's own functions: of others it is not known "
            "what their files hold, nor what a failed save leaves. Leave those faults out."
        )
    if STORAGE_FULL in kinds and sys.platform != "linux":
        raise SupervisorError(
            f"faults of the kind {STORAGE_FULL!r} need Linux, which can limit what a process writes. "
            "Leave those faults out."
        )


def strike(worker: Worker, fault: Fault, *, notice_suffices: bool) -> None:
    """End the process as `fault` does, or begin to."""
    if fault.kind == HUNG:
        _signal(worker, signal.SIGSTOP)
    elif fault.kind == TOLD_TO_LEAVE:
        _signal(worker, signal.SIGTERM)
        if not notice_suffices:
            worker.kill()
    else:
        worker.kill()


def limit_files(worker: Worker, *, full: bool) -> None:
    """From now on the process can write no file of more than a few bytes, or can again."""
    if sys.platform == "linux":
        with suppress(ProcessLookupError):
            _, hard = resource.prlimit(worker.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (_ROOM if full else hard, hard))


def damage_newest(folder: Path) -> int | None:
    """Flip a byte in the newest checkpoint, and return its step; None where there is none that is whole.

    The step written most often is the highest. One that is damaged already stays as it is: nothing is lost
    that was not lost before.
    """
    paths = checkpoint.list_checkpoints(folder)
    if not paths:
        return None
    try:
        checkpoint.verify(paths[-1])
    except CheckpointError:
        return None
    with (paths[-1] / STATE_FILE).open("r+b") as file:
        middle = os.fstat(file.fileno()).st_size // 2
        file.seek(middle)
        (byte,) = file.read(1)
        file.seek(middle)
        file.write(bytes([byte ^ 0xFF]))
    return names.step_of(paths[-1])


def _signal(worker: Worker, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        if worker.alive:
            os.kill(worker.pid, number)
