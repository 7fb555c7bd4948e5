"""The sandbox's limits, as traits: `c.Sandbox.memory_bytes = …` in nbgrader_config.py."""

import os

from traitlets import Bool, Float, Integer, default
from traitlets.config import Configurable

UNSAFE = "LASTGOOD_UNSAFE"  # in the environment: grade without the sandbox
MB = 10**6
GIB = 2**30


class Sandbox(Configurable):
    """What a notebook may use while it is graded. How long a cell may take is `Execute.timeout`."""

    memory_bytes = Integer(2 * GIB, min=256 * MB, help="Memory of a notebook, its processes and files.").tag(
        config=True
    )
    processes = Integer(128, min=16, help="Processes and threads of a notebook at once.").tag(config=True)
    disk_bytes = Integer(200 * MB, min=10 * MB, help="All that a notebook may have on disk.").tag(config=True)
    output_bytes = Integer(1 * MB, min=1000, help="Output of a cell; beyond, the cell is stopped.").tag(
        config=True
    )
    notebook_seconds = Float(600.0, min=1.0, help="Time of a whole notebook, from its first cell on.").tag(
        config=True
    )
    unsafe = Bool(
        help=f"Run notebooks without the sandbox, as the instructor. By default True where {UNSAFE}=1 is set."
    ).tag(config=True)

    @default("unsafe")
    def _unsafe_default(self) -> bool:
        return os.environ.get(UNSAFE, "") not in ("", "0")

    @property
    def shared_memory_bytes(self) -> int:
        """The part of `disk_bytes` that is /dev/shm; the rest is /tmp."""
        return self.disk_bytes // 8

    @property
    def scratch_bytes(self) -> int:
        """The part that is /tmp, with the submission in it."""
        return self.disk_bytes - self.shared_memory_bytes


def size(count: int) -> str:
    """Bytes as a person writes them: 2 GiB, 512 MiB, 200 MB."""
    for unit, name in ((GIB, "GiB"), (2**20, "MiB")):
        if count % unit == 0:
            return f"{count // unit} {name}"
    return f"{count / MB:g} MB" if count >= MB else f"{count} bytes"


def duration(seconds: float) -> str:
    """Seconds as a person writes them: 10 minutes, 90 s."""
    return f"{seconds / 60:g} minutes" if seconds >= 120 and seconds % 60 == 0 else f"{seconds:g} s"
