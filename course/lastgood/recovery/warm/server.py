"""The process behind `warm.WarmServer`: imports once, then forks a worker for each request.

Its arguments are CONTROL_FD OWNER_PID INTEROP MODULE..., where INTEROP is torch's number of interop threads,
or `any`. The owner holds the other end of the control socket and sends
one JSON line a worker, with three descriptors:

    channel  the worker's end of its `Channel`
    leash    a socket that this process keeps: it sends the pid, later the exit status, and kills the
             worker when the owner hangs up, be it on purpose or because the owner is dead
    output   the file that takes the worker's stdout and stderr

It never computes with torch: a child forked after torch's threads have started hangs in its first
parallel region. What the child does is in `child`.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from lastgood.recovery.warm.channel import frame
from lastgood.recovery.warm.child import adopt_orphans, become_worker

READY = b"R"
ANY = "any"
CHECK_OWNER_S = 1.0  # how often to ask whether the owner still lives, should its socket have leaked elsewhere
_FDS_A_REQUEST = 3


def preload(modules: Sequence[str], interop: str = "1") -> None:
    """Import `modules`, hold torch to one thread, and settle memory for forking."""
    limited = False
    for name in modules:
        importlib.import_module(name)
        if "torch" in sys.modules and not limited:
            torch = sys.modules["torch"]
            torch.set_num_threads(1)
            if interop != ANY:
                torch.set_num_interop_threads(int(interop))  # a second call would raise
            limited = True
    gc.collect()
    gc.freeze()  # a worker's collector leaves these objects alone, so their pages stay shared


class Server:
    """Forks, kills and reaps workers until the owner hangs up."""

    def __init__(self, control: socket.socket, owner: int) -> None:
        self._control = control
        self._owner = owner
        self._pid = os.getpid()
        self._unread = b""
        self._fds: list[int] = []
        self._leashes: dict[int, socket.socket] = {}  # by the worker's pid, until it is reaped
        self._running = True
        self._selector = selectors.DefaultSelector()
        self._woken, self._wake = socket.socketpair()
        self._listen(control, self._accept)
        self._listen(self._woken, self._drain_signals)
        for end in (self._woken, self._wake):
            end.setblocking(False)
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, _ignore)  # the wake-up socket tells the loop; the handler need not

    def serve(self) -> None:
        """Say that imports are done, then work until the owner is gone or SIGTERM comes."""
        try:
            self._control.sendall(READY)
            while self._running and os.getppid() == self._owner:
                for key, _ in self._selector.select(CHECK_OWNER_S):
                    key.data()
                self._reap(os.WNOHANG)
        finally:
            for pid in self._leashes:
                kill_group(pid)
            self._reap(0)

    def _listen(self, sock: socket.socket, react: Callable[[], None]) -> None:
        self._selector.register(sock, selectors.EVENT_READ, react)

    def _drain_signals(self) -> None:
        if signal.SIGTERM in self._woken.recv(4096):
            self._running = False

    def _accept(self) -> None:
        try:
            data, fds, flags, _ = socket.recv_fds(self._control, 65536, 16 * _FDS_A_REQUEST)
        except ConnectionResetError:
            data, fds, flags = b"", [], 0
        if flags & socket.MSG_CTRUNC:  # requests and descriptors can no longer be matched
            raise RuntimeError("descriptors were lost on the control socket: too many files are open here")
        if not data:
            self._running = False
        self._unread += data
        self._fds += fds
        while b"\n" in self._unread:
            line, _, self._unread = self._unread.partition(b"\n")
            mine, self._fds = self._fds[:_FDS_A_REQUEST], self._fds[_FDS_A_REQUEST:]
            self._start(json.loads(line), *mine)

    def _start(self, request: dict[str, Any], channel_fd: int, leash_fd: int, output_fd: int) -> None:
        leash = socket.socket(fileno=leash_fd)
        try:
            pid = os.fork()
        except OSError as error:
            _tell(leash, {"error": f"fork failed: {error}"})
            leash.close()
            pid = -1
        if pid == 0:
            become_worker(request, channel_fd, output_fd, self._pid, let_go=lambda: self._let_go(leash))
        os.close(channel_fd)
        os.close(output_fd)
        if pid > 0:
            self._leashes[pid] = leash
            self._listen(leash, lambda: self._let_die(pid))
            _tell(leash, {"pid": pid})

    def _let_die(self, pid: int) -> None:
        """The owner hung up: kill the worker, and wait for the kernel to report its end."""
        self._selector.unregister(self._leashes[pid])
        kill_group(pid)

    def _reap(self, flag: int) -> None:
        """Collect ended workers, or with flag 0 wait for all of them, and tell the owner."""
        for pid, leash in list(self._leashes.items()):
            status = collect(pid, flag)
            if status is None:
                continue
            del self._leashes[pid]
            with contextlib.suppress(KeyError):  # no longer registered if the owner hung up first
                self._selector.unregister(leash)
            _tell(leash, {"exit": status})
            leash.close()
        self._reap_orphans()

    def _reap_orphans(self) -> None:
        """Collect what workers that were killed have left: see `adopt_orphans`."""
        with contextlib.suppress(ChildProcessError):  # there is no child at all
            while found := _ended_child():
                if found in self._leashes:
                    return  # it ended a moment ago, and the loop comes by again
                os.waitpid(found, 0)

    def _let_go(self, leash: socket.socket) -> None:
        """Close, in a worker, every descriptor of the server's that would keep someone waiting."""
        self._selector.close()
        for sock in (self._control, self._woken, self._wake, *self._leashes.values(), leash):
            sock.close()
        for fd in self._fds:
            os.close(fd)


def collect(pid: int, flag: int) -> int | None:
    """Reap child `pid` if it has ended (flag 0: when), killing what is left of its group.

    Returns the status in `subprocess`'s convention, or None while the child runs.
    """
    if hasattr(os, "waitid"):  # not on macOS before Python 3.13
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | flag) is None:
            return None
        kill_group(pid)  # while it is a zombie nobody else can have this pid, nor a group of this number
    reaped, status = os.waitpid(pid, flag)
    return os.waitstatus_to_exitcode(status) if reaped else None


def _ended_child() -> int | None:
    """The pid of a child that has ended and was not reaped."""
    if not hasattr(os, "waitid"):
        return None
    found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG)
    return None if found is None else found.si_pid


def kill_group(pid: int) -> None:
    """SIGKILL to a child that was not reaped yet, and to its process group."""
    for kill in (os.killpg, os.kill):  # the group does not exist yet if the child has only just been forked
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS refuses to signal a zombie
            kill(pid, signal.SIGKILL)


def _tell(leash: socket.socket, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # the owner is gone or no longer cares; _let_die sees to it
        leash.sendall(frame(json.dumps(message).encode()))


def _ignore(number: int, stack: types.FrameType | None) -> None:
    pass


def main() -> None:
    """Take the control socket and the owner's pid from the command line, import, serve."""
    control, owner = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
    interop, *modules = sys.argv[3:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_orphans()
    control.set_inheritable(False)
    preload(modules, interop)
    Server(control, owner).serve()
    os._exit(0)  # nothing is left to tidy up, and unloading torch would take a third of a second
