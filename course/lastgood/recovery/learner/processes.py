"""Where a learner's functions run: in fresh processes, each of which gets its orders and a few folders.

In the learner's own kernel these are forks of the warm server, and the folders are all that they are *meant*
to use. A grader that does not trust them puts each behind walls, where there is nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from lastgood.recovery.warm import WarmServer, Worker, shared_server


class Processes(Protocol):
    """Makes the processes."""

    def spawn(
        self, target: str, orders: bytes, *, reads: Sequence[str] = (), writes: Sequence[str] = ()
    ) -> AbstractContextManager[Worker]:
        """A process that calls `target` with a channel and its orders; leaving kills it.

        `reads` and `writes` are folders that exist: what is in them it may see, or see and change.
        """


@dataclass
class Trusting:
    """Forks of a warm server, beside whoever wrote the functions. Folders are taken on trust."""

    server: WarmServer = field(default_factory=shared_server)

    def spawn(
        self, target: str, orders: bytes, *, reads: Sequence[str] = (), writes: Sequence[str] = ()
    ) -> AbstractContextManager[Worker]:
        return self.server.spawn(target, orders)
