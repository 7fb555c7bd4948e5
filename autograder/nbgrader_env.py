"""Run nbgrader so that it finds its own tools, and speaks only when something fails.

nbgrader's first command on a new gradebook starts `alembic` by name. Where the environment is not activated
(`.venv/bin/nbgrader …`, a cron job, an editor) that name is not on PATH, and the command stops half-way with
tables but no schema version. Whatever calls nbgrader takes its environment from here.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from lastgood.server.environment import with_our_tools


class NbgraderError(Exception):
    """An nbgrader command failed; the message carries the command, the folder and what nbgrader said."""


def environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """A copy of `base` (default: this process's environment) with this Python's commands first on PATH."""
    return with_our_tools(os.environ if base is None else base)


def activate() -> None:
    """Do the same to this process, for code that calls nbgrader's Python API. Twice is no more than once."""
    os.environ["PATH"] = environment()["PATH"]


def run_nbgrader(*arguments: str, root: Path, timeout: float | None = None) -> str:
    """Run `nbgrader ARGUMENTS` in the course folder `root` and return what it printed.

    Raises `NbgraderError` when the command fails or takes longer than `timeout` seconds.
    """
    command = [sys.executable, "-m", "nbgrader", *arguments]
    shown = f"`nbgrader {' '.join(arguments)}` in {root}"
    try:
        done = subprocess.run(
            command,
            cwd=root,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,  # the message below says more
        )
    except subprocess.TimeoutExpired as error:
        raise NbgraderError(f"{shown} took longer than {timeout:g} s") from error
    if done.returncode:
        raise NbgraderError(f"{shown} failed with exit status {done.returncode}:\n{done.stdout.rstrip()}")
    return done.stdout
