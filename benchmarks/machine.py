"""What the numbers depend on: the machine, the versions, the file system, and how busy it was."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
from pathlib import Path

LIBRARIES = ("torch", "transformers", "numpy", "safetensors", "cloudpickle")


def machine() -> dict[str, str]:
    """Labels and words: processor, cores, memory, kernel, versions. Empty of names of hosts and paths."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": cpu_model(Path("/proc/cpuinfo")),
        "cores": str(os.cpu_count()),
        "memory": f"{memory:.0f} GiB",
        "kernel": f"{platform.system()} {platform.release().partition('-')[0]}",
        "python": platform.python_version(),
        **{library: version(library) for library in LIBRARIES},
    }


def cpu_model(cpuinfo: Path) -> str:
    """The processor's name for itself."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or platform.machine()


def version(library: str) -> str:
    """The installed version of a library, without the suffix of one build."""
    try:
        return importlib.metadata.version(library).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def file_system(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> str:
    """The type of the file system that holds `folder`; "unknown" where the system does not tell."""
    try:
        lines = [line.split() for line in mounts.read_text().splitlines()]
    except OSError:
        return "unknown"
    above = [str(folder.resolve()), *map(str, folder.resolve().parents)]
    holding = [fields for fields in lines if fields[1] in above]
    # The nearest mount point; of several mounts on one, the last hides the others.
    return min(reversed(holding), key=lambda fields: above.index(fields[1]))[2] if holding else "unknown"


def load() -> str:
    """How many processes wanted to run during the last minute, on average."""
    return f"{os.getloadavg()[0]:.1f}"
