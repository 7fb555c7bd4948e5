"""A learner's functions are tried out in processes that see nothing of one another, nor of this machine.

Each stands in a sandbox of its own. Bubblewrap builds it, with what the process may read and change and
nothing else, and a fork of the warm server steps in. What one process leaves in memory, in a temporary
folder, in /dev/shm or running is not there for the next one: only the folders that both were given are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from autograder.sandbox.holder import python_read_only, standing
from autograder.sandbox.settings import Sandbox
from autograder.sandbox.visible import View, view
from lastgood.recovery.learner.processes import Processes, Trusting
from lastgood.recovery.warm import WarmServer, Worker


class Walled:
    """Processes of a learner's, each behind walls of its own."""

    def __init__(self, server: WarmServer, sandbox: Sandbox, root: Path) -> None:
        self._server = server
        self._sandbox = sandbox
        self._view: View = view(root)

    @contextmanager
    def spawn(
        self, target: str, orders: bytes, *, reads: Sequence[str] = (), writes: Sequence[str] = ()
    ) -> Iterator[Worker]:
        """As `Processes` says. Raises WallsError."""
        folders = [word for path in reads if path not in writes for word in ("--ro-bind", path, path)]
        folders += [word for path in writes for word in ("--bind", path, path)]
        with (
            standing(self._sandbox, self._view, folders) as inside,
            self._server.spawn(target, orders, inside=inside) as worker,
        ):
            yield worker


def server(sandbox: Sandbox, root: Path) -> WarmServer:
    """A warm server for `processes`, whose imports go on in the background. Raises WallsError."""
    if sandbox.unsafe:
        return WarmServer()
    with python_read_only(view(root)) as python:
        return WarmServer(python=python)


def processes(server: WarmServer, sandbox: Sandbox, root: Path) -> Processes:
    """Where a learner's functions are tried out: behind walls, unless somebody has asked for none."""
    return Trusting(server) if sandbox.unsafe else Walled(server, sandbox, root)
