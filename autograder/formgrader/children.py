"""Child processes that an event loop waits for while it serves others, some at once and the rest in turn."""

import asyncio
import atexit
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from autograder.nbgrader_env import environment

WORKER: Final = (sys.executable, "-m", "autograder.formgrader.worker")
LONGEST_LINE: Final = 2**26  # bytes; what nbgrader logs of a class comes as one
WORDS: Final = 20_000  # characters of its log, of a child that failed: a dialog shows them


class ChildError(Exception):
    """The child could not be started; the message says why."""


class Children:
    """Runs children of this process. At its end, however that comes, they end too.

    Args:
        command: what is run; this process's pid and the arguments follow.
        many: how many run at once; by default as many as there are cores.
    """

    def __init__(self, command: Sequence[str] = WORKER, many: int | None = None) -> None:
        self._command = command
        self._room = asyncio.Semaphore(many or os.cpu_count() or 1)
        self._running: set[int] = set()
        atexit.register(self._kill)

    async def run(self, arguments: Sequence[str], root: Path, each: Callable[[bytes], None]) -> str:
        """Run one to its end in the folder `root`; `each` gets the lines of its stdout as they come.

        Returns:
            The end of its stderr.

        Raises:
            ChildError: it could not be started.
        """
        async with self._room:
            with tempfile.TemporaryFile() as log:
                process = await self._start(arguments, root, log.fileno())
                self._running.add(process.pid)
                try:
                    assert process.stdout
                    async for line in process.stdout:
                        each(line)
                    await process.wait()
                finally:
                    if process.returncode is None:
                        _kill_group(process.pid)
                        await process.communicate()
                    self._running.discard(process.pid)
                log.seek(0)
                return log.read().decode(errors="replace")[-WORDS:].strip()

    async def _start(self, arguments: Sequence[str], root: Path, log: int) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                *self._command,
                str(os.getpid()),
                *arguments,
                cwd=root,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                limit=LONGEST_LINE,
                # Ctrl-C in the server's terminal is for the server, at whose end the child ends.
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ChildError(f"No process could be started in {root}: {error}") from error

    def _kill(self) -> None:
        for pid in self._running:
            _kill_group(pid)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
