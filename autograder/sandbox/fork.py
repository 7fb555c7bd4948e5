"""A kernel that a warm server has forked behind walls: as much of a `subprocess.Popen` as is needed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from autograder.sandbox.holder import Holder
from lastgood.recovery.warm import WarmServer, WarmServerError

_TARGET = "autograder.sandbox.forked:become_kernel"
_OF_A_SIGNAL = 128  # a shell's convention, and bubblewrap's: added to the signal that ended a process


class Fork:
    """Starts one; `walls`, `doors` and `fds` are as for `Holder`, `program` is a module and its arguments.

    Raises WallsError and WarmServerError.
    """

    def __init__(
        self,
        server: WarmServer,
        walls: Sequence[str],
        doors: Sequence[str],
        fds: Sequence[int],
        plan: dict[str, Any],
        program: Sequence[str],
    ) -> None:
        self.abandoned = False  # the server has died, and how the kernel would have ended is unknown
        self._status: int | None = None
        server.wait_ready()
        self._holder = Holder(walls, doors, fds)
        self.first = self._holder.inside.holder
        with ExitStack() as stack:
            stack.callback(self._holder.close)
            said, says = os.pipe()
            self.stderr = stack.enter_context(open(said, "rb", buffering=0))
            try:
                self._worker = server.spawn(
                    _TARGET, json.dumps(plan), *program, inside=self._holder.inside, output=says
                )
            finally:
                os.close(says)
            stack.pop_all()

    def poll(self) -> int | None:
        """The exit status once the kernel has ended, and with it all that it had started."""
        if self._status is not None:
            return self._status
        try:
            status = self._worker.wait(0)
        except TimeoutError:
            return None
        except WarmServerError:
            self.abandoned, status = True, -signal.SIGKILL
        self._holder.close()
        with self._worker:
            self._status = _OF_A_SIGNAL - status if status < 0 else status
        return self._status

    def kill(self) -> None:
        """Kill all that is behind the walls."""
        self._holder.close()
