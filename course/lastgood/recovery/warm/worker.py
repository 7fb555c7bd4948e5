"""The owner's handle on one forked process."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import threading
import time
import weakref
from types import TracebackType
from typing import IO, Self

from lastgood.recovery.warm.channel import Channel, deadline_after

OUTPUT_TAIL = 64 * 1024  # bytes of a worker's output that are kept readable
_KILL_S = 5.0


class WarmServerError(Exception):
    """The warm server did not start, has died, or could not make a worker."""


class Worker:
    """One forked process; a context manager that kills it on exit.

    A worker that is no longer referenced is killed too.
    """

    def __init__(self, channel: Channel, leash: Channel) -> None:
        self.pid = 0  # known once the server has forked it
        self.channel = channel
        self._leash = leash  # the server kills the worker when this is hung up, and reports its end on it
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker object, next line
        weakref.finalize(self, self._output.close)
        self._status: int | None = None
        self._lock = threading.Lock()

    @property
    def output_fd(self) -> int:
        """The file that takes the worker's stdout and stderr."""
        return self._output.fileno()

    def await_start(self, timeout: float) -> None:
        """Learn the pid from the server; `timeout` in seconds.

        Raises WarmServerError if the server could not fork in time; EOFError if it is dead.
        """
        try:
            answer = json.loads(self._leash.recv(timeout))
        except TimeoutError:
            raise WarmServerError(f"the warm server did not fork a worker within {timeout} s") from None
        if "error" in answer:
            raise WarmServerError(f"the warm server could not make a worker: {answer['error']}")
        self.pid = int(answer["pid"])

    def kill(self) -> None:
        """Ask for SIGKILL to the worker and all of its process group; `wait` tells when it is done.

        The server sends it, and only to a child that it has not reaped: never to a reused pid.
        """
        self._leash.end_sending()

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; returns the exit status, -9 after SIGKILL as in `subprocess`.

        Raises TimeoutError after `timeout` seconds; WarmServerError if the server died first.
        """
        deadline = deadline_after(timeout)
        if not self._lock.acquire(timeout=-1 if timeout is None else max(0.0, timeout)):
            raise TimeoutError(f"worker {self.pid} still runs after {timeout} s")
        try:
            if self._status is None:
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                self._status = int(json.loads(self._leash.recv(left))["exit"])
            return self._status
        except TimeoutError:
            raise TimeoutError(f"worker {self.pid} still runs after {timeout} s") from None
        except EOFError as error:
            raise WarmServerError(f"how worker {self.pid} ended is unknown: its server died first") from error
        finally:
            self._lock.release()

    @property
    def alive(self) -> bool:
        """Whether the worker has not ended yet. Raises WarmServerError if the server died first."""
        try:
            self.wait(0)
        except TimeoutError:
            return True
        return False

    def output(self) -> str:
        """The last 64 KiB that the worker wrote to stdout and stderr, also after its end."""
        return tail(self._output, OUTPUT_TAIL)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        with contextlib.suppress(WarmServerError):  # the server died, and has taken the worker along
            self.wait(_KILL_S)
        self.channel.close()
        self._leash.close()  # the status is known


def tail(file: IO[bytes], limit: int) -> str:
    """The last `limit` bytes of an open file that others may be writing, as text."""
    size = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), limit, max(0, size - limit)).decode("utf-8", errors="replace")
