"""Fresh processes quickly: a fork server that has torch imported.

A new Python that imports torch takes seconds; a fork of one that already did takes milliseconds.
An audit needs a dozen processes that share nothing, so one server imports once, in the background,
and forks a worker for each of them:

    with WarmServer(preload=("torch",)) as server:
        with server.spawn("package.module:function", b"state", 3) as worker:
            # in the worker: function(channel, b"state", 3)
            answer = worker.channel.recv(timeout=5)

Five files, in reading order: this one, which starts the server; `server`, which runs in it and forks;
`child`, what a fork becomes, if need be `inside` walls that somebody built; `worker`, the owner's handle on
one. What they talk through is in `channel`.

Nothing of the owner is in a worker except the bytes that it was sent: not its memory, not its open
files, not its `__main__`. Whatever happens to the owner, its server and workers end with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import IO, Self

from lastgood.recovery.warm.channel import (
    Argument,
    Channel,
    ChannelError,
    deadline_after,
    encode_arguments,
    wait_until,
)
from lastgood.recovery.warm.inside import Inside
from lastgood.recovery.warm.server import ANY, READY
from lastgood.recovery.warm.worker import WarmServerError, Worker, tail

__all__ = ["Channel", "ChannelError", "Inside", "WarmServer", "WarmServerError", "Worker", "shared_server"]

_START_S = 60.0  # importing torch from a cold disk can take most of it
_FORK_S = 20.0
_STOP_S = 5.0
# A torch.py beside the notebook must not stand in for torch. (The flag -P would stay on in each worker.)
_COMMAND = (
    sys.executable,
    "-c",
    "import sys; '' in sys.path and sys.path.remove(''); "
    "from lastgood.recovery.warm.server import main; main()",
)
_ENVIRONMENT = {
    # threads that a library starts on import would make forking unsafe, and change sums' last bits
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    # macOS otherwise aborts a forked child that touches an Objective-C framework
    "OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES",
}


class WarmServer:
    """A process that has imported `preload` and forks workers from there.

    Starting it does not block: the imports go on in the background, and `spawn` waits for them.
    `env` replaces the environment of the server and of its workers (default: a copy of the owner's);
    one thread a library is set on top of either. `cwd` is its working directory, and `python` a path that
    leads to this Python's own file, where another than `sys.executable` is wanted. torch lets a process set
    its number of interop threads once: with `set_interop` false that is left to the workers. May be used from
    several threads. Closes itself when the interpreter exits or the object is no longer referenced.
    """

    def __init__(
        self,
        preload: Sequence[str] = ("torch", "lastgood.recovery.warm.preload"),
        env: Mapping[str, str] | None = None,
        *,
        cwd: str | None = None,
        python: str = sys.executable,
        set_interop: bool = True,
    ) -> None:
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._ready = False
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - open for as long as the server is
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [*_COMMAND, str(theirs.fileno()), str(self._owner), "1" if set_interop else ANY, *preload],
                executable=python,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                env={**(os.environ if env is None else env), **_ENVIRONMENT},
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # an interrupt of the owner's process group is not meant for it
            )
        self.pid = self._process.pid
        self._stop = weakref.finalize(self, _stop, self._owner, self._process, self._control, self._log)

    @property
    def alive(self) -> bool:
        """Whether the server process runs and belongs to this process (not to one it was forked from)."""
        return self._stop.alive and self._owner == os.getpid() and self._process.poll() is None

    def wait_ready(self, timeout: float = _START_S) -> None:
        """Wait until the imports are done.

        Raises WarmServerError, with the end of what the server printed, if it failed to start;
        TimeoutError after `timeout` seconds.
        """
        self._require_usable()
        with self._lock:
            if self._ready:
                return
            try:
                wait_until(self._control, select.POLLIN, deadline_after(timeout))
            except TimeoutError:
                raise TimeoutError(f"the warm server is still importing after {timeout} s") from None
            if self._control.recv(len(READY)) != READY:
                raise self._failure("the warm server did not start")
            self._ready = True

    def spawn(
        self,
        target: str,
        *args: Argument,
        cwd: str | None = None,
        inside: Inside | None = None,
        output: int | None = None,
    ) -> Worker:
        """Fork a worker that calls `target`, "module:function", as function(channel, *args).

        The module is imported in the worker; `cwd` becomes its working directory. With `inside` it
        first steps behind the walls that stand there, where `cwd` is looked up too. What it prints goes
        to the descriptor `output`, or else to a file that `Worker.output` reads. An exception there ends
        it with status 1 and a traceback in what it printed; so does a target that does not exist.
        Raises WarmServerError if the server failed to start, has died or cannot fork; ChannelError for
        an argument of another type, or more bytes than a frame holds.
        """
        if not all(target.partition(":")):
            raise WarmServerError(f'target {target!r} refused: write it as "module:function"')
        frames = encode_arguments(args)
        walls = None if inside is None else [inside.holder, inside.pid_namespace, list(inside.doors)]
        request = json.dumps({"target": target, "cwd": cwd, "inside": walls}).encode() + b"\n"
        self.wait_ready()
        channel, channel_end = socket.socketpair()
        leash, leash_end = socket.socketpair()
        with channel_end, leash_end:  # held until the answer: macOS may lose a descriptor closed in flight
            worker = Worker(Channel(channel), Channel(leash))
            prints = worker.output_fd if output is None else output
            try:
                self._request(request, [channel_end.fileno(), leash_end.fileno(), prints])
                worker.await_start(_FORK_S)
            except (EOFError, BrokenPipeError, ConnectionResetError):
                raise self._failure("the warm server has died") from None
        try:
            for data in frames:
                worker.channel.send(data)
        except EOFError:
            pass  # dead already: wait() and output() say how
        except BaseException:
            worker.kill()  # an interrupt must not leave it waiting for the rest
            raise
        return worker

    def close(self) -> None:
        """Kill all workers and end the server. Closing twice does nothing."""
        self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _require_usable(self) -> None:
        if self._owner != os.getpid():
            raise WarmServerError(
                f"this warm server belongs to process {self._owner}, of which this one is a fork: "
                "start another WarmServer here"
            )
        if not self._stop.alive:
            raise WarmServerError("this warm server is closed: start another WarmServer")

    def _request(self, request: bytes, fds: list[int]) -> None:
        with self._lock:
            sent = socket.send_fds(self._control, [request], fds)
            self._control.sendall(request[sent:])

    def _failure(self, what: str) -> WarmServerError:
        with contextlib.suppress(subprocess.TimeoutExpired):  # its socket closes a moment before it ends
            self._process.wait(_STOP_S)
        said = tail(self._log, 4096).strip() or "(nothing)"
        return WarmServerError(f"{what} (exit status {self._process.returncode}). It printed:\n{said}")


_shared: WarmServer | None = None
_shared_lock = threading.Lock()


def shared_server() -> WarmServer:
    """The warm server of this process: started on the first call, again if it died, closed at exit."""
    global _shared  # one server a process is the point: each holds torch in memory
    with _shared_lock:
        if _shared is None or not _shared.alive:
            _shared = WarmServer()
        return _shared


def _stop(owner: int, process: subprocess.Popen[bytes], control: socket.socket, log: IO[bytes]) -> None:
    if os.getpid() == owner:  # a fork of the owner closes its copies and leaves the server alone
        with contextlib.suppress(OSError):
            control.shutdown(socket.SHUT_RDWR)
        process.terminate()  # in the middle of an import it would not see the socket
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    control.close()
    log.close()
