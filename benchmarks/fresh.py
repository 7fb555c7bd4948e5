"""A piece of work in a new interpreter: how long it takes, and how much memory at most."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass
from typing import Any

# getrusage's peak is no use: on Linux a process inherits that of the one which started it.
_CODE = """
import json, resource, sys, time
from pathlib import Path
arguments = sys.argv[1:]
{imports}
begun = time.perf_counter()
{work}
seconds = time.perf_counter() - begun
if sys.platform == "linux":
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([said, seconds, peak]))
"""


@dataclass(frozen=True)
class Fresh:
    """What a new interpreter said, and took."""

    said: Any  # what the work left in `said`
    whole: float  # seconds from its start to its end
    work: float  # seconds after the imports
    peak: int  # bytes of memory


def fresh(imports: str, work: str, *arguments: object, timeout: float = 300) -> Fresh:
    """Run `imports`, then `work`, which finds `arguments` and leaves `said`. Raises RuntimeError."""
    code = _CODE.format(imports=textwrap.dedent(imports), work=textwrap.dedent(work))
    command = [sys.executable, "-c", code, *map(str, arguments)]
    begun = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    whole = time.perf_counter() - begun
    if done.returncode or done.stderr:
        raise RuntimeError(f"the new interpreter failed: {done.stderr}")
    said, seconds, peak = json.loads(done.stdout)
    return Fresh(said, whole, seconds, peak)
