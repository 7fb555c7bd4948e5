"""A fork of the warm server steps into a sandbox that stands already.

Building walls is another program's work, such as bubblewrap's. It leaves a process waiting inside them. Here
a fork of a process that was never inside joins that process's namespaces, which takes milliseconds, where a
new Python behind the same walls would first import torch.

Linux only: setns(2) with a pidfd, since 5.8.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

# linux/sched.h; a user namespace first, since it gives the right to join the others
_NAMESPACES = {
    "user": 0x10000000,
    "mnt": 0x00020000,
    "pid": 0x20000000,
    "net": 0x40000000,
    "ipc": 0x08000000,
    "uts": 0x04000000,
    "cgroup": 0x02000000,
}
# linux/prctl.h, linux/capability.h
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 24, 38
_CAPABILITY_VERSION_3 = 0x20080522
_CAPABILITIES = 64
# the number of keyctl(2), and linux/keyctl.h
_KEYCTL, _KEYCTL_ELSEWHERE = {"x86_64": 250, "ppc64le": 271, "s390x": 280}, 219
_KEYCTL_JOIN_SESSION_KEYRING = 1


class InsideError(Exception):
    """The sandbox could not be entered; the message says which step the system refused."""


@dataclass(frozen=True)
class Inside:
    """Walls that stand: a process behind them, as seen from here, and control groups that limit it.

    `pid_namespace` is the number of the process's PID namespace, so that a process that has got its pid since
    is not taken for it. `doors` are files to which a process writes 0 to join a control group.
    """

    holder: int
    pid_namespace: int
    doors: tuple[str, ...] = ()


def enter(inside: Inside) -> None:
    """Go on in a child that stands behind the walls, without any capability.

    Returns in the child only. This process waits for the child, and ends as it ends.
    Raises InsideError or OSError; this process is then half-way in, and has to end.
    """
    for door in inside.doors:
        with open(door, "w", encoding="ascii") as file:
            file.write("0")
    _join(inside)
    # a PID namespace takes in children, not whoever asks for it
    child = os.fork()
    if child:
        _end_as(child)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _leave_keyring()
    _give_up_capabilities()


def _join(inside: Inside) -> None:
    gone = f"the sandbox's process {inside.holder} is gone"
    try:
        fd = os.pidfd_open(inside.holder)
    except OSError as error:
        raise InsideError(gone) from error
    try:
        own, theirs = (
            {name: _namespace(pid, name) for name in _NAMESPACES} for pid in ("self", inside.holder)
        )
        if theirs["pid"] != f"pid:[{inside.pid_namespace}]":
            raise InsideError(f"process {inside.holder} is not the sandbox's any more")
        wanted = sum(flag for name, flag in _NAMESPACES.items() if own[name] != theirs[name])
        if _libc().setns(fd, wanted):
            raise InsideError(f"setns into process {inside.holder}: {os.strerror(ctypes.get_errno())}")
    except FileNotFoundError as error:  # it ended a moment ago
        raise InsideError(gone) from error
    finally:
        os.close(fd)
    os.chdir("/")


def _namespace(pid: int | str, name: str) -> str:
    return os.readlink(f"/proc/{pid}/ns/{name}")


def _end_as(child: int) -> NoReturn:
    """Wait for the child, and end with its exit status or by its signal."""
    os.closerange(3, 1 << 16)  # whoever waits for the child to hang up must not wait for this one
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):  # SIGKILL has no other handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code & 0xFF)


def _give_up_capabilities() -> None:
    for capability in range(_CAPABILITIES):
        if _libc().prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
            break  # the first that this kernel does not know
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if _libc().capset(ctypes.byref(header), ctypes.byref(nothing)):
        raise InsideError(f"capset: {os.strerror(ctypes.get_errno())}")
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _leave_keyring() -> None:
    """Take a session keyring of one's own: the one that a fork inherits, others have too and keep."""
    number = _KEYCTL.get(platform.machine(), _KEYCTL_ELSEWHERE)
    refused = _libc().syscall(number, _KEYCTL_JOIN_SESSION_KEYRING, None) < 0
    # without keyrings, or where they are forbidden, there is nothing to leave
    if refused and ctypes.get_errno() not in (errno.ENOSYS, errno.EPERM):
        raise InsideError(f"keyctl: {os.strerror(ctypes.get_errno())}")


def _prctl(option: int, value: int) -> None:
    if _libc().prctl(option, value, 0, 0, 0):
        raise InsideError(f"prctl {option}: {os.strerror(ctypes.get_errno())}")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def supported() -> bool:
    """Whether this system can do it at all."""
    return sys.platform == "linux" and hasattr(os, "pidfd_open") and hasattr(ctypes.CDLL(None), "setns")
