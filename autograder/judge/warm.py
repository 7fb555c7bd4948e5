"""For who grades a class in one process: what each notebook needs is started once."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from autograder.judge.court import Court, limits
from autograder.sandbox import warm
from autograder.sandbox.settings import Sandbox


class _Bailiff:
    """Keeps one court for the notebooks of a process, one at a time."""

    def __init__(self, root: Path, sandbox: Sandbox) -> None:
        self._owner = os.getpid()
        self._root = root
        self._sandbox = sandbox
        self._court: Court | None = None
        self._turn = threading.Lock()

    def serves(self, root: Path, sandbox: Sandbox) -> bool:
        """Take the turn, if the court is the one that is wanted and nobody is at it."""
        wanted = (os.getpid(), root, limits(sandbox)) == (self._owner, self._root, limits(self._sandbox))
        return wanted and self._turn.acquire(blocking=False)

    @contextmanager
    def turn(self) -> Iterator[Court]:
        try:
            if self._court is None:
                self._court = Court(self._root, self._sandbox)
            yield self._court
        finally:
            if self._court is not None:
                self._court.forget()
            self._turn.release()

    def close(self) -> None:
        if self._court is not None and self._owner == os.getpid():
            self._court.__exit__(None, None, None)


_bailiff: _Bailiff | None = None


@contextmanager
def warm_grader(root: Path, config: Any) -> Iterator[None]:
    """While it lasts, notebooks of the course in the folder `root` get warm kernels and share a judge.

    `config` is that of nbgrader_config.py. Nothing is waited for: servers import in the background, and those
    that need torch start with the first notebook that needs them. Grading is the same within and without.
    """
    global _bailiff  # one a process is the point: a judge holds torch in memory
    sandbox = Sandbox(config=config)
    if not sandbox.unsafe:
        warm.start(root)
    before, mine = _bailiff, _Bailiff(root.resolve(), sandbox)
    _bailiff = mine
    try:
        yield
    finally:
        mine.close()
        _bailiff = before
        warm.stop()


@contextmanager
def sitting(root: Path, sandbox: Sandbox) -> Iterator[Court]:
    """A court for one notebook: that which is kept, if it has this folder and these limits, or a new one."""
    kept = _bailiff
    if kept is not None and kept.serves(root, sandbox):
        with kept.turn() as court:
            yield court
    else:
        with Court(root, sandbox) as court:
            yield court
