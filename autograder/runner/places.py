"""Where submissions are graded: processes of this machine, or the workers of a Dask cluster."""

from __future__ import annotations

import os
import signal
import sys
import threading
from abc import abstractmethod
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any, Protocol

from autograder.course import LOGS, Course
from autograder.runner.call import warm_up
from autograder.runner.scratch import Scratch
from lastgood.recovery.warm.child import die_with_parent

ANSWER_S = 10.0  # how long a scheduler may take to answer


class PlaceError(Exception):
    """There are no workers to be had; the message says why, and what to do."""


class Place(Protocol):
    """Workers. `executor` takes calls for them; `many` is how many run at once."""

    executor: Executor
    many: int

    @abstractmethod
    def renew(self) -> None:
        """Stop every worker, whatever it is doing, and begin with new ones."""

    @abstractmethod
    def close(self) -> None:
        """Let every worker end: none has anything to do."""

    @abstractmethod
    def stop(self) -> None:
        """Stop every worker, whatever it is doing."""


@contextmanager
def place(course: Course, lab: str, many: int | None = None, scheduler: str = "") -> Iterator[Place]:
    """Workers of a Dask scheduler, or where that is empty of this machine; stopped at the end.

    Raises PlaceError.
    """
    if scheduler:
        found: Place = Cluster(scheduler, many)
    else:
        found = Here(course.root, lab, many or os.cpu_count() or 1, course.root / LOGS / "workers.log")
    try:
        yield found
    except BaseException:
        found.stop()
        raise
    found.close()


class Here(Place):
    """Processes of this machine, each of which is warm: what a notebook needs is imported before it comes."""

    def __init__(self, root: Path, lab: str, many: int, log: Path) -> None:
        from autograder.runner import work  # noqa: F401 - for the forks

        self.many = many
        self._class = root, lab, log
        self._others = set(active_children())
        self._begin()

    def renew(self) -> None:
        self.stop()
        self._begin()

    def close(self) -> None:
        self.executor.shutdown(cancel_futures=True)
        self._scratch.remove()

    def stop(self) -> None:
        self.executor.shutdown(wait=False, cancel_futures=True)
        for worker in set(active_children()) - self._others:
            worker.kill()  # whatever it started sees that it is gone, and ends
            worker.join()
        self._scratch.remove()

    def _begin(self) -> None:
        self._scratch = Scratch()
        arguments = os.getpid(), self._scratch.environment, *self._class
        # A fork has imported what there is to import. It would copy locks that other threads hold, though.
        alone = sys.platform == "linux" and threading.active_count() == 1
        how = get_context("fork" if alone else "spawn")
        self.executor = ProcessPoolExecutor(self.many, how, begin, arguments)
        self.executor.submit(os.getpid)  # the first call starts them all, while there is no other thread


class Cluster(Place):
    """The workers of a Dask cluster, one submission at a time on each. Raises PlaceError.

    Every worker needs this project installed and the course's folder at the same path. It should run one
    thread (`dask worker --nthreads 1`): more would wait for one another.
    """

    def __init__(self, scheduler: str, many: int | None) -> None:
        try:
            from distributed import Client as Connected
        except ImportError:
            raise PlaceError(
                "`--scheduler` needs Dask, here and on every worker: "
                "`.venv/bin/pip install --editable '.[cluster]'`"
            ) from None
        try:
            self._client: Any = Connected(scheduler, timeout=ANSWER_S, set_as_default=False)
            workers = self._client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, TimeoutError) as error:
            raise PlaceError(f"no Dask scheduler answers at {scheduler}: {error}") from error
        if not workers:
            self._client.close()
            raise PlaceError(f"the scheduler at {scheduler} has no workers: start `dask worker {scheduler}`")
        self.many = many or len(workers)
        self.executor = self._client.get_executor(pure=False)

    def renew(self) -> None:
        self._client.restart()
        self.executor = self._client.get_executor(pure=False)

    def close(self) -> None:
        self.executor.shutdown()
        self._client.close()

    def stop(self) -> None:
        self.executor.shutdown(wait=False, cancel_futures=True)
        self._client.close()


def begin(owner: int, scratch: dict[str, str], root: Path, lab: str, log: Path) -> None:
    """Prepare a worker's process: it dies with its owner, prints to a log, and imports what it will need."""
    die_with_parent(owner)
    os.environ.update(scratch)
    # Ctrl-C reaches every process of the terminal, and is the owner's business. A handler and not SIG_IGN:
    # that would be inherited by kernels, which must be able to be interrupted.
    signal.signal(signal.SIGINT, lambda *_: None)
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    warm_up(root, lab)
