"""Where files go that live in memory: what is written there counts as its writer's, and so has a limit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

VARIABLE: Final = "LASTGOOD_IN_MEMORY"  # in the environment: another folder in memory, which somebody removes
_SHARED: Final = "/dev/shm"


def in_memory() -> Path | None:
    """A folder that lies in memory; None where this machine has none."""
    folder = Path(os.environ.get(VARIABLE, _SHARED))
    return folder if folder.is_dir() else None
