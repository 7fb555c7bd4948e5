"""What the workers of these tests run. A forked process has no test module: it imports this one."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from lastgood.recovery.warm import Channel


def echo(channel: Channel) -> None:
    while True:
        try:
            channel.send(channel.recv())
        except EOFError:
            return


def arguments(channel: Channel, *args: object) -> None:
    channel.send(repr(args).encode())


def announce_and_hang(channel: Channel) -> None:
    channel.send(b"running")
    signal.pause()


def start_a_child_and_hang(channel: Channel) -> None:
    start_a_child_and_return(channel)
    signal.pause()


def start_a_child_and_return(channel: Channel) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    channel.send(str(child.pid).encode())


def fail(channel: Channel) -> None:
    print("printed before the failure")
    raise ValueError("the loader lost its place")


def write_both(channel: Channel) -> None:
    print("to stdout")
    print("to stderr", file=sys.stderr)
    os.write(2, b"straight to descriptor 2\n")
    channel.send(b"written")
    signal.pause()


def write_much(channel: Channel) -> None:
    print("x" * 200_000 + "the end")


def leave(channel: Channel, status: int | str | None) -> None:
    sys.exit(status)


def describe(channel: Channel) -> None:
    import torch

    main = sys.modules["__main__"]
    main.marked = True  # type: ignore[attr-defined]
    seen = {
        "threads": torch.get_num_threads(),
        "interop": torch.get_num_interop_threads(),
        "sum": torch.ones(300, 300).matmul(torch.ones(300, 300)).sum().item(),
        "main": sorted(vars(main)),
        "leader": os.getpgid(0) == os.getpid(),
        "cwd": os.getcwd(),
        "interrupt": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
        "child": signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL,
        "open": sorted(int(fd) for fd in os.listdir("/proc/self/fd")) if os.path.exists("/proc") else None,
    }
    channel.send(json.dumps(seen).encode())


def surroundings(channel: Channel) -> None:
    lines = Path("/proc/self/status").read_text().splitlines()
    status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    seen = {
        "host": os.uname().nodename,
        "folder": os.getcwd(),
        "pid": os.getpid(),
        "interfaces": [name for _, name in socket.if_nameindex()],
        "capabilities": status["CapEff"],
        "bounding": status["CapBnd"],
        "no_new_privileges": status["NoNewPrivs"],
        "processes": [name for name in os.listdir("/proc") if name.isdigit()],
        "open": [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if _is_open(fd)],
    }
    channel.send(json.dumps(seen).encode())


def _is_open(fd: str) -> bool:
    return os.path.exists(f"/proc/self/fd/{fd}")


def leave_a_daemon(channel: Channel) -> None:
    subprocess.Popen(
        [sys.executable, "-c", "import signal; signal.pause()"],
        stdin=subprocess.DEVNULL,
        start_new_session=True,  # out of the worker's process group
    )
    channel.send(b"left")
