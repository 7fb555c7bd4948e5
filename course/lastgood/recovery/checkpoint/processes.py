"""Which process is this, and does it still live?

A process is known by its id and its start time, in ticks since boot, which no one can set back: ids are used
again, in a container often the very same one by the restarted trainer.
"""

from __future__ import annotations

import os
from pathlib import Path


def started(pid: int) -> int | None:
    """Return when `pid` started, in ticks since boot: -1 for a zombie, None where /proc does not say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return -1 if fields[0] in "ZX" else int(fields[19])


def alive(pid: int, start: int) -> bool:
    """Does the process `pid` that started at `start` live on this host? Where one cannot tell, yes."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # it exists, and is another user's
    now = started(pid)
    return not (start and now is not None and now != start)
