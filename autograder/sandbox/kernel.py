"""Starts a kernel inside the sandbox, watches its limits, kills it: jupyter_client's provisioner.

The five sockets lie on the kernel's own small disk, and the grader holds each of them open by a handle: no
folder of this machine has to be writable from inside, and what is put in a socket's place is not followed.
Asked whether the kernel lives, it first kills one that met a limit, and says why in `ending`.
"""

import asyncio
import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from jupyter_client.connect import ConnectionFileMixin, KernelConnectionInfo
from jupyter_client.provisioning.provisioner_base import KernelProvisionerBase

from autograder.sandbox import endings, groups
from autograder.sandbox.command import CACHED, CACHES, SUBMISSION, WORK, WRITABLE, command, environment
from autograder.sandbox.settings import Sandbox
from autograder.sandbox.visible import View, font_lists
from lastgood.recovery.warm.child import die_with_parent

_START_S = 20.0
_PORTS = {f"{name}_port": n for n, name in enumerate(("shell", "iopub", "stdin", "hb", "control"), 1)}
_JOIN = 'n=$1; shift; while [ "$n" -gt 0 ]; do echo 0 >"$1" || exit 97; shift; n=$((n-1)); done; exec "$@"'


class KernelError(Exception):
    """The sandboxed kernel did not start; the message is what bubblewrap or Python said."""


class SandboxProvisioner(KernelProvisionerBase):
    """Starts one kernel under bubblewrap, watches its limits, and kills it with all that it started."""

    def __init__(self, sandbox: Sandbox, shown: View, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sandbox = sandbox
        self.ending: endings.Ending | None = None
        self.deadline = float("inf")  # of the notebook, in time.monotonic's seconds
        self.killed_processes = 0
        self._view = shown
        self._process: subprocess.Popen[bytes] | None = None
        self._group = groups.Group()
        self._inside = self._sockets = -1  # a handle on the first process inside, and on the sockets' folder
        self._handles: list[int] = []  # one on each socket
        self._links = tempfile.TemporaryDirectory(prefix="lastgood-sockets-")
        self._said = b""

    @property
    def has_process(self) -> bool:
        return self._process is not None

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start the kernel in a copy of the folder `cwd`; returns how to reach it.

        Raises KernelError.
        """
        token = f"{WRITABLE}/.{secrets.token_hex(8)}"  # nothing of this machine can bear this name
        assert isinstance(self.parent, ConnectionFileMixin)
        key = self.parent.session.key
        connection = _connection(f"{token}/s", key.decode())
        self._group = groups.make(self.sandbox)
        began = time.monotonic()
        with _text(json.dumps(connection)) as about, tempfile.TemporaryFile() as says:
            inside = [
                *("--perms", "0700", "--dir", token, "--file", str(about.fileno()), f"{token}/c.json"),
                *(
                    word
                    for path in font_lists()
                    for word in ("--ro-bind", str(path), f"{CACHED}/{path.name}")
                ),
            ]
            wrapped = [
                *("/bin/sh", "-c", _JOIN, "sh", str(len(self._group.doors)), *self._group.doors),
                *command(self._view, self.sandbox, Path(kwargs.get("cwd") or os.getcwd()), inside),
                *("--info-fd", str(says.fileno()), "--", *self._program(f"{token}/c.json")),
            ]
            self._process = subprocess.Popen(
                wrapped,
                env=environment(kwargs.get("env", os.environ)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                # A pipe that nobody reads while it runs: a file could be filled from inside.
                stderr=subprocess.PIPE,
                pass_fds=(about.fileno(), says.fileno()),
                # Bubblewrap asks for the same, some moments too late.
                preexec_fn=partial(die_with_parent, os.getpid()),
            )
            await self._enter(says.fileno(), token, began + _START_S)
        return _connection(f"{self._links.name}/s", key)

    async def poll(self) -> int | None:
        """None while the kernel runs. One that met a limit is killed first."""
        if self._process is None:
            return 0
        counts = self._group.counts()
        self.killed_processes = counts.out_of_memory
        status = self._process.poll()
        if status is None and self.ending is None:
            if counts.out_of_processes:
                self.ending = endings.out_of_processes(self.sandbox)
            elif time.monotonic() > self.deadline:
                self.ending = endings.out_of_time(self.sandbox)
            if self.ending is not None:
                await self.kill()
                status = -signal.SIGKILL
        elif status is not None and self.ending is None:
            killed = status in (-signal.SIGKILL, 128 + signal.SIGKILL) and counts.out_of_memory
            self.ending = endings.out_of_memory(self.sandbox) if killed else endings.died(status)
        return status

    async def wait(self) -> int | None:
        status = 0
        while self._process is not None:  # another that waits may have seen its end
            if (ended := self._process.poll()) is not None:
                status = ended
                self._forget_process()
            else:
                await asyncio.sleep(0.005)
        return status

    async def send_signal(self, signum: int) -> None:
        """Only SIGKILL: others would reach bubblewrap and not the kernel, which is interrupted by message."""
        if signum in (signal.SIGKILL, signal.SIGTERM):
            await self.kill()

    async def kill(self, restart: bool = False) -> None:
        """Kill the first process inside; the machine's kernel then kills every other."""
        with contextlib.suppress(ProcessLookupError):
            if self._inside >= 0:
                signal.pidfd_send_signal(self._inside, signal.SIGKILL)
            elif self._process is not None:
                self._process.kill()
        await self.wait()

    async def terminate(self, restart: bool = False) -> None:
        await self.kill(restart)

    async def cleanup(self, restart: bool = False) -> None:
        """End whatever still runs, and leave nothing behind."""
        if self._process is not None:
            await self.kill()
        for fd in (self._inside, self._sockets, *self._handles):
            if fd >= 0:
                os.close(fd)
        self._inside = self._sockets = -1
        self._handles.clear()
        self._links.cleanup()
        self._group.remove()

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        return await super().pre_launch(cmd=[], **kwargs)

    def said(self) -> str:
        """The end of what bubblewrap or Python said before the kernel could speak for itself."""
        return self._said.decode(errors="replace").strip()

    def _program(self, connection_file: str) -> list[str]:
        limits: list[tuple[str, int]] = [("RLIMIT_CORE", 0)]
        if self._group.memory is None:
            limits.append(("RLIMIT_AS", self.sandbox.memory_bytes))
        if self._group.processes is None:
            limits.append(("RLIMIT_NPROC", self.sandbox.processes))
        plan = {
            "submission": SUBMISSION,
            "work": WORK,
            "limits": limits,
            "caches": CACHES,
            "cached": [f"{CACHED}/{path.name}" for path in font_lists()],
        }
        source = Path(__file__).with_name("boot.py").read_text(encoding="utf-8")
        arguments = ("ipykernel_launcher", json.dumps(plan), "-f", connection_file)
        return [sys.executable, "-c", source, *arguments, "--HistoryManager.hist_file=:memory:"]

    async def _enter(self, says: int, token: str, give_up: float) -> None:
        """Wait until the kernel has bound its sockets, and open the folder that they lie in."""
        while self._process is not None and self._process.poll() is None and time.monotonic() < give_up:
            await asyncio.sleep(0.005)
            if self._inside < 0 and (pid := _first_process(says)):
                self._inside = os.pidfd_open(pid)
            if self._inside >= 0 and self._sockets < 0:
                with contextlib.suppress(OSError):  # until bubblewrap has made the folder
                    self._sockets = os.open(f"/proc/{pid}/root{token}", os.O_PATH | os.O_DIRECTORY)
            if self._sockets >= 0 and len(os.listdir(f"/proc/self/fd/{self._sockets}")) > len(_PORTS):
                self._hold_sockets()
                return
        await self.kill()
        raise KernelError(self.said() or "the kernel did not start in time")

    def _hold_sockets(self) -> None:
        """Open a handle on each socket, and give it the name by which a client looks for it."""
        for number in _PORTS.values():
            handle = os.open(f"s-{number}", os.O_PATH | os.O_NOFOLLOW, dir_fd=self._sockets)
            self._handles.append(handle)
            Path(self._links.name, f"s-{number}").symlink_to(f"/proc/self/fd/{handle}")

    def _forget_process(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)
        self._said = self._process.stderr.read(65536) or b""
        self._process.stderr.close()
        self._process = None


def _connection(ip: str, key: str | bytes) -> KernelConnectionInfo:
    how = {"transport": "ipc", "ip": ip, "key": key, "signature_scheme": "hmac-sha256"}
    return {**how, **_PORTS}  # type: ignore[typeddict-item]


@contextlib.contextmanager
def _text(text: str) -> Any:
    """An open file in memory that holds `text`, to be read from its beginning."""
    with open(os.memfd_create("lastgood"), "w+b") as file:
        file.write(text.encode())
        file.flush()
        file.seek(0)
        yield file


def _first_process(says: int) -> int | None:
    """The pid, seen from here, of the first process inside, once bubblewrap has written it down."""
    try:
        return int(json.loads(os.pread(says, 4096, 0))["child-pid"])
    except ValueError:
        return None
