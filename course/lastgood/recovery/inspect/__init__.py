"""What does a checkpoint hold? Any framework's file or folder, described without running a line of it.

    inspect(path)   the one function; a Report, or an InspectError

In reading order:

    opening     regular files only; InspectError
    values      inert stand-ins
    machine     a pickle's stack machine, which leaves a stand-in wherever pickle would act
    opcodes     which opcode does what on it
    walker      opcodes, one by one, within limits
    tensors     what torch and NumPy put into pickles
    torchfile   torch.save's two formats; safetensors, dcp, ours, shards: the others
    files       which format is this file?
    folders     which files belong to a checkpoint?
    survey      what they hold, sorted by component (`words`, `recognise`, `tally`)
    writers     what wrote it?
    findings    held, missing, or not to be told; `effects`: and so a resume …
    report      all of that, as data

torch is imported only to verify a checkpoint of this course. No tensor is read, whatever the format.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lastgood.recovery.inspect.findings import findings
from lastgood.recovery.inspect.folders import Gathered, gather
from lastgood.recovery.inspect.opening import InspectError, plain
from lastgood.recovery.inspect.report import File, Finding, Report
from lastgood.recovery.inspect.survey import LEVELS, survey
from lastgood.recovery.inspect.tally import Survey
from lastgood.recovery.inspect.writers import writer_of

__all__ = ["File", "Finding", "InspectError", "Report", "inspect"]

_NAMED = 12  # classes, faults and notes of each kind that are reported


def inspect(path: str | os.PathLike[str]) -> Report:
    """Describe the checkpoint at `path`: a file, a folder, or the newest of a folder of checkpoints.

    Executes and imports nothing that the files ask for. Raises InspectError for what is no checkpoint, is
    damaged beyond description, or is beyond the limits of what is read.
    """
    with _no_collection():
        found = gather(Path(path))
        sorted_out = survey(found.parts)
        return _report(found, sorted_out)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Spare the search for cycles: among very many new stand-ins it takes most of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _report(found: Gathered, sorted_out: Survey) -> Report:
    writer = writer_of(found)
    return Report(
        path=plain(str(found.path), 1000),
        writer=writer.name,
        because=[writer.because],
        bytes=sum(part.size for part in found.parts),
        files=[File(part.name, part.size, part.format) for part in found.parts],
        findings=findings(sorted_out, writer.name, found.ranks),
        faults=_faults(found),
        notes=[*found.notes, *_notes(found, sorted_out)],
        classes=_unique(name for part in found.parts for name in part.classes),
        dangers=_unique(name for part in found.parts for name in part.dangers),
    )


def _faults(found: Gathered) -> list[str]:
    alone = len(found.parts) == 1 and len(found.names) == 1
    inner = [fault if alone else f"{part.name}: {fault}" for part in found.parts for fault in part.faults]
    return (found.faults + inner)[:_NAMED]


def _notes(found: Gathered, sorted_out: Survey) -> list[str]:
    notes = [note for part in found.parts for note in part.notes]
    if any(part.script for part in found.parts):
        notes.append("TorchScript: the file brings code of its own, which loading it runs.")
    if sorted_out.cut:
        notes.append(f"It nests deeper than {LEVELS} levels, or is very large: not all was looked at.")
    if sorted_out.unsorted:
        notes.append(f"{sorted_out.unsorted} tensors could not be assigned to a component.")
    return notes[:_NAMED]


def _unique(names: object) -> list[str]:
    return list(dict.fromkeys(names))[:_NAMED]  # type: ignore[call-overload]
