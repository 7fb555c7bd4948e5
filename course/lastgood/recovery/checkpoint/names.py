"""The names of checkpoints: `step-00000120`, and `step-00000120.r2` for the same step written again."""

from __future__ import annotations

import re
from pathlib import Path

from lastgood.recovery.checkpoint.manifest import CheckpointError

_NAME = re.compile(r"step-([0-9]{8,})(?:\.r([0-9]+))?")
_MOST = 2**63 - 1


def target(folder: Path, step: int) -> Path:
    """Return where the checkpoint of `step` belongs. Raises CheckpointError if `step` is no step."""
    if type(step) is not int or not 0 <= step <= _MOST:
        said = repr(step) if type(step) is not int or step.bit_length() < 64 else "beyond 64 bits"
        raise CheckpointError(folder, f"step is {said}", "Pass a whole number, 0 or more.")
    return folder / name(step)


def name(step: int, revision: int = 1) -> str:
    """Return the name of the checkpoint of `step`, written for the `revision`-th time."""
    return f"step-{step:08d}" + (f".r{revision}" if revision > 1 else "")


def order(path: Path) -> tuple[int, ...]:
    """Return (step, revision) of a checkpoint's path, () for a name that `name` does not make.

    Order comes from names alone: a clock that is set back changes nothing.
    """
    if match := _NAME.fullmatch(path.name):
        found = int(match[1]), int(match[2] or 1)
        if path.name == name(*found):
            return found
    return ()


def step_of(path: Path) -> int:
    """Return the step of a checkpoint's path."""
    return order(path)[0]
