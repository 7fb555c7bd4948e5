"""A learner's functions are tried out in processes that see nothing of one another, nor of this machine.

Each stands in a sandbox of its own. Bubblewrap builds it, with what the process may read and change and
nothing else, and a fork of the warm server steps in. What one process leaves in memory, in a temporary
folder, in /dev/shm or running is not there for the next one: only the folders that both were given are.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from autograder.sandbox import command, groups
from autograder.sandbox.settings import Sandbox
from autograder.sandbox.visible import View, view
from lastgood.recovery.learner.processes import Processes, Trusting
from lastgood.recovery.warm import Inside, WarmServer, Worker

# It says a word when the walls stand, and waits until it is killed.
_HOLDER = ("/bin/sh", "-c", "echo; exec sleep infinity")


class WallsError(Exception):
    """A sandbox could not be built; the message carries what bubblewrap said."""


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
        with (
            standing(self._sandbox, self._view, reads, writes) as inside,
            self._server.spawn(target, orders, inside=inside) as worker,
        ):
            yield worker


@contextmanager
def standing(
    sandbox: Sandbox, seen: View, reads: Sequence[str] = (), writes: Sequence[str] = ()
) -> Iterator[Inside]:
    """Walls, for as long as the context lasts; with them ends whatever is behind them."""
    group = groups.make(sandbox)
    told, tell = os.pipe()
    with tempfile.TemporaryDirectory(prefix="lastgood-empty-") as nothing:
        folders = [word for path in reads if path not in writes for word in ("--ro-bind", path, path)]
        folders += [word for path in writes for word in ("--bind", path, path)]
        walls = command.command(seen, sandbox, Path(nothing), [*folders, "--info-fd", str(tell)])
        holder = subprocess.Popen(
            [*walls, *_HOLDER],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[tell],
            env=command.environment({}),
        )
        first = -1
        try:
            os.close(tell)
            inside = _entrance(holder, told, tuple(group.doors))
            first = os.pidfd_open(inside.holder)
            yield inside
        finally:
            if first < 0:
                holder.kill()
            else:  # with the first process inside ends every other, before anybody looks at its files
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(first, signal.SIGKILL)
                os.close(first)
            holder.communicate()
            os.close(told)
            group.remove()


def _entrance(holder: subprocess.Popen[bytes], told: int, doors: tuple[str, ...]) -> Inside:
    assert holder.stdout is not None
    assert holder.stderr is not None
    if not holder.stdout.read(1):
        said = holder.stderr.read().decode(errors="replace").strip()
        raise WallsError(f"bubblewrap built no sandbox: {said}")
    about: Mapping[str, Any] = json.loads(os.read(told, 65536))
    return Inside(about["child-pid"], about["pid-namespace"], doors)


def processes(server: WarmServer, sandbox: Sandbox, root: Path) -> Processes:
    """Where a learner's functions are tried out: behind walls, unless somebody has asked for none."""
    return Trusting(server) if sandbox.unsafe else Walled(server, sandbox, root)
