"""What the check of the environment asks of the world outside: versions, files, disks.

Every answer is a field, so that a test can put any broken computer in this one's place.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

RESTART = "then restart the kernel (menu Kernel) and run this cell again"
REOPEN = "then close JupyterLab and run `lastgood lab` again"


def _requirements() -> list[str]:
    return importlib.metadata.requires("lastgood") or []


def _location(name: str) -> Path:
    return Path(str(importlib.metadata.distribution(name).locate_file("")))


def _origin(module: str) -> Path | None:
    spec = importlib.util.find_spec(module)
    return Path(spec.origin) if spec and spec.origin else None


def _kernel_command() -> str:
    from jupyter_client.kernelspec import KernelSpecManager

    return str(KernelSpecManager().get_kernel_spec("python3").argv[0])


def _labextensions() -> list[Path]:
    from jupyter_core.paths import jupyter_path

    return [Path(folder) for folder in jupyter_path("labextensions")]


def _try_to_write(folder: Path) -> None:
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".lastgood-") as file:
        file.write(b"x")


@dataclass(frozen=True)
class Machine:
    """What the checks ask of the world outside; the defaults answer for this computer and this kernel."""

    python: tuple[int, int, int] = sys.version_info[:3]
    executable: Path = Path(sys.executable)
    prefix: Path = Path(sys.prefix)
    package: Path = Path(__file__).resolve().parent.parent
    folder: Path = field(default_factory=Path.cwd)
    requirements: Callable[[], list[str]] = _requirements  # raises PackageNotFoundError
    version: Callable[[str], str] = importlib.metadata.version  # raises PackageNotFoundError
    location: Callable[[str], Path] = _location  # the folder it is installed in; PackageNotFoundError
    origin: Callable[[str], Path | None] = _origin  # the file that an import would read
    load: Callable[[str], object] = importlib.import_module
    kernel_command: Callable[[], str] = _kernel_command
    labextensions: Callable[[], list[Path]] = _labextensions
    try_to_write: Callable[[Path], None] = _try_to_write  # raises OSError
    free: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free

    def pip(self, *arguments: str, after: str = RESTART) -> str:
        """The command that installs into the environment this kernel runs in, and what to do after it."""
        quoted = " ".join(f'"{argument}"' for argument in arguments)
        return f'in a terminal: "{self.executable}" -m pip install {quoted}; {after}'
