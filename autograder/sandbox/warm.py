"""Kernels that start in a moment, for who grades a class: forks of a process that has done their imports.

A new kernel first imports IPython, and a lab's notebook torch: seconds, each time the same. Between `start`
and `stop` two servers import that once. One knows what every kernel needs. The other knows torch and the
course's library too, and is started by the first notebook that names them. A fork of either steps behind
walls that bubblewrap has built as ever, so nothing of one notebook is there for the next.

Without `start`, or where no fork can step in, each kernel starts as a new Python.
"""

from __future__ import annotations

import logging
import os
import re
import tempfile
import threading
from pathlib import Path
from typing import Final

from nbformat import NotebookNode

from autograder.sandbox import command
from autograder.sandbox.holder import WallsError, python_read_only
from autograder.sandbox.visible import font_lists, view
from lastgood.recovery.warm import WarmServer, inside

_LOG = logging.getLogger(__name__)
# What modules that are imported find: a kernel sets the first itself, and the grader the second.
_IN_A_KERNEL: Final = {
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "NBGRADER_EXECUTION": "autograde",
}
_COMPUTES = re.compile(r"\b(torch|lastgood|numpy|matplotlib)\b")
_TRIES: Final = 3
_KERNEL: Final = ("autograder.sandbox.forked",)
_LIBRARIES: Final = (*_KERNEL, "torch", "autograder.sandbox.preload")


class WarmKernels:
    """The servers of one process that grades the course in the folder `root`."""

    def __init__(self, root: Path) -> None:
        self._owner = os.getpid()
        self._view = view(root)
        self._folder = tempfile.TemporaryDirectory(prefix="lastgood-warm-")
        self._servers: dict[tuple[str, ...], WarmServer] = {}
        self._refused = not inside.supported()
        self._failures = 0
        self._lock = threading.Lock()
        for path in font_lists():
            Path(self._folder.name, path.name).write_bytes(path.read_bytes())
        self._server(_KERNEL)

    def server_for(self, notebook: NotebookNode) -> WarmServer | None:
        """The server that knows what the notebook imports; None where its kernel has to start anew."""
        if self._owner != os.getpid():
            return None
        sources = (cell.source for cell in notebook.cells if cell.cell_type == "code")
        return self._server(_LIBRARIES if any(map(_COMPUTES.search, sources)) else _KERNEL)

    def told(self, why: Exception | None) -> None:
        """Hear whether a fork got to be a kernel, or why not. Where several do not, no more are tried."""
        self._failures = 0 if why is None else self._failures + 1
        if why is not None and self._failures >= _TRIES:
            self._refused = True
            _LOG.warning("Kernels start cold from now on, which is slower: %s", why)

    def close(self) -> None:
        """End the servers, and the kernels with them. Closing twice does nothing."""
        self._refused = True
        while self._servers:
            self._servers.popitem()[1].close()
        self._folder.cleanup()

    def _server(self, modules: tuple[str, ...]) -> WarmServer | None:
        with self._lock:
            server = self._servers.get(modules)
            if self._refused or (server is not None and server.alive):
                return None if self._refused else server
            # Its home is its own: what lies about in a folder that others may make is not to be imported.
            home = self._folder.name
            about = _IN_A_KERNEL | {"HOME": home, "MPLCONFIGDIR": home}
            try:
                with python_read_only(self._view) as python:
                    server = WarmServer(
                        modules, command.environment({}) | about, cwd=home, python=python, set_interop=False
                    )
            except WallsError as error:
                self.told(error)
                return None
            self._servers[modules] = server
            return server


_kernels: WarmKernels | None = None


def start(root: Path) -> None:
    """Have the kernels of this process start warm, until `stop`. Returns at once."""
    global _kernels  # one a process is the point: each server holds libraries in memory
    stop()
    _kernels = WarmKernels(root)


def stop() -> None:
    """Have kernels start cold again, and end the servers."""
    global _kernels
    if _kernels is not None:
        _kernels.close()
        _kernels = None


def shared() -> WarmKernels | None:
    """What `start` has started."""
    return _kernels
