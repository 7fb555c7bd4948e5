"""Saving while the run trains on: copy first, then write in a thread.

Training waits for the copy, not for the disk. A copy there must be: a thread that wrote the live tensors
would write some before a step and some after it, with a checksum that is right.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from lastgood.recovery import checkpoint
from lastgood.recovery.checkpoint import names
from lastgood.recovery.checkpoint.manifest import CheckpointError
from lastgood.recovery.checkpoint.plain import snapshot, to_plain

_REMEDY = "See to the cause, then save again; earlier checkpoints are untouched."


class Writer(Protocol):
    """What writes a state into a folder: `checkpoint.write`, or a function that prunes as well."""

    def __call__(self, folder: Path, state: dict[str, Any], /, *, step: int) -> Path:
        """Return the path of the checkpoint, once all of it is on the disk."""


@dataclass
class _Outcome:
    """What became of the saves. Apart from the writer, so that it can be reported when that is gone."""

    pid: int = field(default_factory=os.getpid)
    path: Path | None = None  # of the last one that was completed
    error: CheckpointError | None = None  # not yet raised


class AsyncWriter:
    """Writes checkpoints of one run into `folder`, one at a time, in a thread. A context manager.

        with AsyncWriter("checkpoints") as saves:
            while training:
                ...
                saves.write(state.capture(run), step=run.step)  # or live references: it copies

    A save that fails raises CheckpointError at the next `write`, `wait` or `close`, once. Leaving the block
    waits for the last save, and so does the interpreter's exit, which can only tell an error on stderr.
    SIGKILL and `os._exit` wait for nothing: the checkpoint before is then the last.

    `writer(folder, state, step=step)` does the writing, in the thread; pass a function of your own that also
    prunes. Not for use by several threads at once, nor in a forked child.
    """

    def __init__(self, folder: str | os.PathLike[str], *, writer: Writer = checkpoint.write) -> None:
        self.folder = Path(folder)
        self._writer = writer
        self._thread: threading.Thread | None = None
        self._closed = False
        self._outcome = _Outcome()
        weakref.finalize(self, _report, self._outcome)  # at exit, too: after the threads, which have ended

    def write(self, state: dict[str, Any], *, step: int) -> None:
        """Copy `state` and return; the copy is written meanwhile. `state` may change from then on.

        First waits for the save before, so at most one copy is in memory. Raises CheckpointError: the save
        before failed (this one is then not begun), `state` holds what loading would refuse, or it is closed.
        """
        self.wait()
        if self._closed:
            raise CheckpointError(self.folder, "its writer is closed", "Make a new AsyncWriter.")
        copied = snapshot(to_plain(state, names.target(self.folder, step)))
        # Said outright: a thread of a daemon thread would be one too, and exit does not wait for those.
        thread = threading.Thread(
            target=self._save, args=(copied, step), name=f"save-of-step-{step}", daemon=False
        )
        try:
            thread.start()
        except RuntimeError:  # no thread to be had, or the interpreter ends: better late than not at all
            self._save(copied, step)
            self.wait()
        else:
            self._thread = thread

    def wait(self) -> Path | None:
        """Wait for the save under way; return the last checkpoint that was completed, None if none was.

        Raises CheckpointError if it failed.
        """
        if os.getpid() != self._outcome.pid:
            raise CheckpointError(self.folder, "its writer is of another process", "Make one here.")
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        error, self._outcome.error = self._outcome.error, None
        if error is not None:
            raise error
        return self._outcome.path

    def close(self) -> None:
        """Wait for the save under way, and take no more. Raises CheckpointError if it failed."""
        self._closed = True
        self.wait()

    def _save(self, state: dict[str, Any], step: int) -> None:
        try:
            self._outcome.path = self._writer(self.folder, state, step=step)
        except CheckpointError as error:
            self._outcome.error = error
            _forget_frames(error)
        except BaseException as error:
            path, cause = names.target(self.folder, step), f"{type(error).__name__}: {error}"
            failure = CheckpointError(path, f"could not be written in the background ({cause})", _REMEDY)
            failure.add_note(traceback.format_exc())
            failure.__cause__ = error
            self._outcome.error = failure
            _forget_frames(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except CheckpointError as failure:
            if error is None:
                raise
            error.add_note(f"Besides, the last save failed: {failure}")  # and does not take its place


def _forget_frames(error: BaseException | None) -> None:
    """Let go of the functions that raised, which hold the copy of the state and the writer itself."""
    while error is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__


def _report(outcome: _Outcome) -> None:
    """Tell an error that nobody asked for, when nobody can ask any more."""
    if outcome.error is not None and outcome.pid == os.getpid():
        print(f"A checkpoint was not saved: {outcome.error}", file=sys.stderr, flush=True)
