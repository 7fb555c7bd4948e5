"""Walls that stand before anything runs behind them: a fork of a warm server steps in.

The first process inside does nothing. It is there to be killed: every other behind these walls ends with it,
before anybody looks at what they have left.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from autograder.sandbox import command, groups
from autograder.sandbox.settings import Sandbox
from autograder.sandbox.visible import View
from lastgood.recovery.warm import Inside

START_S: Final = 20.0
# It says a word when the walls stand, reaps orphans, and waits for the end of its stdin, which comes with the
# grader's at the latest: bubblewrap's own promise to die with it has a gap in the beginning.
_WAIT = ("/bin/sh", "-c", "trap '' CHLD; echo; exec cat >/dev/null 2>&1")


class WallsError(Exception):
    """A sandbox could not be built; the message carries what bubblewrap said."""


class Holder:
    """Walls, for as long as they are not closed.

    `walls` is bubblewrap's command line without a program; `doors` lead to the control groups of whatever
    steps in, and `fds` are what bubblewrap itself needs. Raises WallsError.
    """

    def __init__(self, walls: Sequence[str], doors: Sequence[str], fds: Sequence[int] = ()) -> None:
        self.first = -1  # a handle on the first process inside
        with tempfile.TemporaryFile() as about:
            self._process = command.start(
                [*walls, "--as-pid-1", "--info-fd", str(about.fileno()), "--", *_WAIT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[about.fileno(), *fds],
            )
            try:
                self.inside = self._entrance(about.fileno(), doors)
                self.first = os.pidfd_open(self.inside.holder)
            except BaseException:
                self.close()
                raise

    @property
    def stands(self) -> bool:
        """Whether the first process inside is still there."""
        return self._process.poll() is None

    def close(self) -> None:
        """Kill all that is inside, and wait for its end. Closing twice does nothing."""
        if self.first < 0:
            self._process.kill()
        else:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.first, signal.SIGKILL)
        self._process.wait()
        if self.first >= 0:
            os.close(self.first)
            self.first = -1
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()

    def _entrance(self, about: int, doors: Sequence[str]) -> Inside:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if not selector.select(START_S):
                raise WallsError(f"bubblewrap built no sandbox in {START_S:.0f} s")
        if not self._process.stdout.read(1):
            said = self._process.stderr.read().decode(errors="replace").strip()
            raise WallsError(f"bubblewrap built no sandbox: {said}")
        told: dict[str, Any] = json.loads(os.pread(about, 65536, 0))
        return Inside(told["child-pid"], told["pid-namespace"], tuple(doors))


@contextmanager
def standing(sandbox: Sandbox, seen: View, arguments: Sequence[str] = ()) -> Iterator[Inside]:
    """Walls around nothing, in a control group of their own; `arguments` are bubblewrap's.

    Raises WallsError.
    """
    group = groups.make(sandbox)
    try:
        with tempfile.TemporaryDirectory(prefix="lastgood-empty-") as nothing:
            holder = Holder(command.command(seen, sandbox, Path(nothing), arguments), group.doors)
            try:
                yield holder.inside
            finally:
                holder.close()
    finally:
        group.remove()


@contextmanager
def python_read_only(seen: View) -> Iterator[str]:
    """A path to this Python's own file by way of a file system that is read-only there.

    A process can open the file that it runs, whatever else it cannot see, and by the way that this process
    took. A fork of a server that was started in the ordinary way could write to the grader's Python as
    soon as nobody runs it. The path is good until the context ends; what was started by it runs on.
    """
    with standing(Sandbox(), seen) as inside:
        yield f"/proc/{inside.holder}/root{os.path.realpath(sys.executable)}"
