"""The audit's side of its processes: fresh interpreters, asked one thing at a time, and killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from lastgood.recovery.warm.channel import Channel

_PROCESS = "lastgood.recovery.resuming.process"
_TAIL = 2000  # characters of what a process printed
_SECONDS = 10  # in which a process that has hung up ends


@dataclass(eq=False)
class Trouble(Exception):
    """One of the five functions raised, did not return in time, or ended its process."""

    stage: str  # such as `resume`, after being killed
    kind: str
    message: str
    detail: str = ""  # a traceback, or the last of what the process printed

    def __str__(self) -> str:
        return f"{self.stage}: {self.kind}: {self.message}" if self.message else f"{self.stage}: {self.kind}"


class Child:
    """A process that holds one run of the user's."""

    def __init__(self, process: subprocess.Popen[bytes], channel: Channel, log: IO[bytes], patience: float):
        self._process, self._channel, self._log, self._patience = process, channel, log, patience
        self.observes: bool = self._answer("import")["observes"]

    def ask(self, *order: Any) -> Any:
        """The answer to an order. Raises Trouble."""
        with contextlib.suppress(EOFError):  # the answer will say so, too
            self._channel.send(json.dumps(order).encode(), self._patience)
        return self._answer(str(order[0]))

    def _answer(self, stage: str) -> Any:
        try:
            answer = json.loads(self._channel.recv(self._patience))
        except TimeoutError:
            late = f"it had not returned after {self._patience:g} s. --patience gives it longer."
            raise Trouble(stage, "TimeoutError", late, self._printed()) from None
        except EOFError:
            raise Trouble(stage, "ProcessDied", self._status(), self._printed()) from None
        if error := answer.get("error"):
            raise Trouble(stage, error["kind"], error["message"], error["traceback"])
        return answer["value"]

    def kill(self) -> None:
        """SIGKILL to the process, and then to whatever it started."""
        _kill(self._process)

    def _status(self) -> str:
        try:
            status = self._process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            return "it closed the audit's connection"
        return f"killed by {signal.Signals(-status).name}" if status < 0 else f"it exited with {status}"

    def _printed(self) -> str:
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - _TAIL))
        return self._log.read().decode(errors="replace")


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def child(module: str, patience: float) -> Iterator[Child]:
    """A fresh interpreter that has imported the user's module; killed at the end. Raises Trouble."""
    mine, other = socket.socketpair()
    with tempfile.TemporaryFile() as log, other:
        # -P: what lies in the working directory hides no module of Python's own.
        command = [sys.executable, "-P", "-m", _PROCESS, str(other.fileno()), module]
        process = subprocess.Popen(
            command,
            pass_fds=[other.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a group of its own, which dies as a whole
        )
        other.close()
        channel = Channel(mine)
        try:
            yield Child(process, channel, log, patience)
        finally:
            _kill(process)
            channel.close()
