"""Two threads of which one runs at a time: a framework's loop, and who stops it to look.

A framework's loop calls its user's code; an audit wants it the other way round. So the loop runs in a
thread of its own and is held at named points, like a coroutine. Python's `random`, NumPy's and torch's
global generators belong to the process, so they go on in the loop as they would have without a thread.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Container

import torch

END = "end"  # what the loop has reached when it has returned


class HandoverError(RuntimeError):
    """A call from a thread that would wait for itself."""


class Handover:
    """A loop to be run from point to point.

    The auditing thread calls `resume_until`, and the loop's own callbacks call `reached`. The loop begins
    at the first `resume_until`. At the end of the process nobody waits for it, wherever it is held.
    """

    def __init__(self, target: Callable[[], None]) -> None:
        self._target = target
        self._wanted: Container[str] = ()
        self._at = ""
        self._error: BaseException | None = None
        # Who releases the other's waits for its own.
        self._auditor, self._loop = threading.Semaphore(0), threading.Semaphore(0)
        # Daemon: a loop that is held would keep the process from ending.
        self._thread = threading.Thread(target=self._run, name="training loop", daemon=True)

    def resume_until(self, points: Container[str]) -> str:
        """Let the loop go on until it reaches one of these points, or its end; return which.

        Raises what the loop raises, with its traceback. Of a loop that has ended it says the same again.
        """
        if threading.current_thread() is self._thread:
            raise HandoverError("resume_until() was called by the loop itself, which would wait for itself")
        if self._at != END:
            self._wanted = points
            if self._thread.ident is None:
                self._take_settings()
                self._thread.start()
            else:
                self._loop.release()
            self._auditor.acquire()
        if self._error is not None:
            raise self._error
        return self._at

    def reached(self, point: str) -> None:
        """For the loop, at each point: hold it here if this is waited for, until it may go on."""
        if threading.current_thread() is not self._thread:
            raise HandoverError(
                f"{point!r} was reached outside the loop's thread: leave it to the loop's own callbacks"
            )
        if point in self._wanted:
            self._at = point
            self._auditor.release()
            self._loop.acquire()

    def _take_settings(self) -> None:
        """Remember what belongs to a thread, so that the loop trains as it would have in this one."""
        self._context = contextvars.copy_context()
        self._grad = torch.is_grad_enabled()
        self._device = torch.get_default_device()
        on_gpu = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
        self._cuda = torch.cuda.current_device() if on_gpu else None

    def _run(self) -> None:
        try:
            if self._cuda is not None:
                torch.cuda.set_device(self._cuda)
            if self._device != torch.get_default_device():  # setting it at all slows every call down
                torch.set_default_device(self._device)
            with torch.set_grad_enabled(self._grad):
                self._context.run(self._target)
        except BaseException as error:  # SystemExit too: otherwise the auditing thread would wait for ever
            self._error = error
        finally:
            self._at = END
            self._auditor.release()
