"""What a fork of the warm server becomes: a process that looks new, with one function to call.

Here the child turns from a copy of the server into a worker. Nothing of what it was may show: its signal
handlers, its open files, its `__main__`.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import importlib
import io
import os
import signal
import socket
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any, NoReturn

from lastgood.recovery.warm.channel import Channel, recv_arguments
from lastgood.recovery.warm.inside import Inside, enter

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None  # looked up here: a fork may do little


def become_worker(
    request: dict[str, Any], channel_fd: int, output_fd: int, server: int, let_go: Callable[[], None]
) -> NoReturn:
    """Do what `request` asks, and exit with its status. `let_go` closes what the server had open.

    `server` is its pid as it was before the fork: asked here, it could be gone already, and never missed.

    What goes wrong stands in the file `output_fd`, as a traceback; the status is then 1.
    """
    status = 1
    try:
        restore_signals()
        let_go()
        os.setsid()  # a group of its own: what the worker starts can be killed with it
        for standard in (1, 2):
            os.dup2(output_fd, standard)
        os.close(output_fd)
        die_with_parent(server)
        if request.get("inside"):
            enter(Inside(*request["inside"]))
        status = call(request, Channel(socket.socket(fileno=channel_fd)))
    except BaseException:
        traceback.print_exc()
    finally:
        # no clean-up handlers: those belong to the server that this process is a copy of
        _flush_and_exit(status)


def restore_signals() -> None:
    """Give a worker the signal handlers of a newly started Python."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def die_with_parent(parent: int) -> None:
    """Have Linux kill this process when `parent` is gone; elsewhere only a live server kills workers."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it went before the kernel was told
            os._exit(1)


def adopt_orphans() -> None:
    """Have Linux make this process the parent of what its children leave behind.

    A sandbox does not end before each process in it was reaped, and one whose parent outside was killed
    would wait for the machine's init, which in a container may never do that.
    """
    if _libc is not None:
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)


def call(request: dict[str, Any], channel: Channel) -> int:
    """Run the worker's target in a process that looks new; returns the exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # what was printed survives SIGKILL
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    arguments = recv_arguments(channel)
    if request["cwd"] is not None:
        os.chdir(request["cwd"])
    module, _, function = request["target"].partition(":")
    try:
        getattr(importlib.import_module(module), function)(channel, *arguments)
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return (error.code or 0) & 0xFF
        print(error.code, file=sys.stderr)
        return 1
    return 0


def _flush_and_exit(status: int) -> NoReturn:
    try:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
    finally:
        os._exit(status)
