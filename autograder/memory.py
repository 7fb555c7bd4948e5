"""Where files go that live in memory: what is written there counts as its writer's, and so has a limit."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Final

VARIABLE: Final = "LASTGOOD_IN_MEMORY"  # in the environment: another folder in memory, which somebody removes
_SHARED: Final = "/dev/shm"
_REMOVE_S: Final = 5.0


def in_memory() -> Path | None:
    """A folder that lies in memory; None where this machine has none."""
    folder = Path(os.environ.get(VARIABLE, _SHARED))
    return folder if folder.is_dir() else None


def remove(folder: Path) -> None:
    """Remove what learners' processes have left, some of which may be dying only now.

    Not by shutil: they may have made folders deeper than Python goes.
    """
    give_up = time.monotonic() + _REMOVE_S
    while folder.exists() and time.monotonic() < give_up:
        subprocess.run(["rm", "-rf", "--one-file-system", "--", str(folder)], stderr=subprocess.DEVNULL)
