"""Starts a kernel inside the sandbox, watches its limits, kills it: jupyter_client's provisioner.

The kernel is a new Python, or a fork of a warm server that steps behind the same walls: see `warm`.
Its sockets lie on its own small disk: no folder of this machine has to be writable from inside.
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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_client.connect import ConnectionFileMixin, KernelConnectionInfo
from jupyter_client.provisioning.provisioner_base import KernelProvisionerBase
from nbformat.v4 import new_notebook

from autograder.sandbox import endings, groups
from autograder.sandbox.command import (
    CACHED,
    CACHES,
    SUBMISSION,
    WORK,
    WRITABLE,
    command,
    environment,
    start,
    text_file,
)
from autograder.sandbox.fork import Fork
from autograder.sandbox.holder import WallsError
from autograder.sandbox.settings import Sandbox
from autograder.sandbox.sockets import Sockets, connection
from autograder.sandbox.visible import View, font_lists
from autograder.sandbox.warm import WarmKernels
from lastgood.recovery.warm import WarmServer, WarmServerError

_START_S = 20.0
_LOOK_S = 0.002


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
        self.kernels: WarmKernels | None = None  # that may be forked,
        self.notebook = new_notebook()  # for this one
        self.abandoned = False  # the server died, and the kernel through no fault of its own
        self._view = shown
        self._process: subprocess.Popen[bytes] | Fork | None = None
        self._group = groups.Group()
        self._inside = -1  # a handle on the first process inside
        self._sockets = Sockets()
        self._said = b""

    @property
    def has_process(self) -> bool:
        return self._process is not None

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start the kernel in a copy of the folder `cwd`; returns how to reach it.

        Raises KernelError.
        """
        assert isinstance(self.parent, ConnectionFileMixin)
        key = self.parent.session.key
        submission, outside = Path(kwargs.get("cwd") or os.getcwd()), kwargs.get("env", os.environ)
        if not (self.kernels and await self._start_warm(self.kernels, submission, outside, key.decode())):
            await self._start(submission, outside, key.decode(), None)
        return self._sockets.connection(key)

    async def _start_warm(
        self, kernels: WarmKernels, submission: Path, outside: Mapping[str, str], key: str
    ) -> bool:
        """Try to have a fork for a kernel; whether there is one."""
        server, why = kernels.server_for(self.notebook), None
        if server is None:
            return False
        try:
            await self._start(submission, outside, key, server)
        except (KernelError, WallsError, WarmServerError, TimeoutError) as error:
            why = error
            self._leave()
        kernels.told(why)
        return why is None

    async def _start(
        self, submission: Path, outside: Mapping[str, str], key: str, server: WarmServer | None
    ) -> None:
        token = f"{WRITABLE}/.{secrets.token_hex(8)}"  # nothing of this machine can bear this name
        told = f"{token}/c.json"
        self._group = groups.make(self.sandbox)
        give_up = time.monotonic() + _START_S
        with text_file(json.dumps(connection(f"{token}/s", key))) as about, tempfile.TemporaryFile() as says:
            inside = ["--perms", "0700", "--dir", token, "--file", str(about.fileno()), told]
            for path in font_lists():
                inside += ["--ro-bind", str(path), f"{CACHED}/{path.name}"]
            walls = command(self._view, self.sandbox, submission, inside)
            doors, variables = self._group.doors, environment(outside)
            if server is not None:
                program = ("ipykernel_launcher", *_arguments(told))
                plan = self._plan() | {"environment": variables}
                self._process = Fork(server, walls, doors, [about.fileno()], plan, program)
            else:
                self._process = start(
                    [*walls, "--info-fd", str(says.fileno()), "--", *self._program(told)],
                    doors,
                    env=variables,
                    stdout=subprocess.DEVNULL,
                    # A pipe that nobody reads while it runs: a file could be filled from inside.
                    stderr=subprocess.PIPE,
                    pass_fds=(about.fileno(), says.fileno()),
                )
            await self._enter(says.fileno(), token, give_up)

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
                await asyncio.sleep(_LOOK_S)
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
        self._leave()
        self._sockets.close()

    def _leave(self) -> None:
        """Let go of a sandbox in which nothing runs any more."""
        if self._inside >= 0:
            os.close(self._inside)
        self._inside = -1
        self._sockets.let_go()
        self._group.remove()

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        return await super().pre_launch(cmd=[], **kwargs)

    def said(self) -> str:
        """The end of what bubblewrap or Python said before the kernel could speak for itself."""
        return self._said.decode(errors="replace").strip()

    def _plan(self) -> dict[str, Any]:
        """What `boot` has to do before the kernel is one."""
        limits: list[tuple[str, int]] = [("RLIMIT_CORE", 0)]
        if self._group.memory is None:
            limits.append(("RLIMIT_AS", self.sandbox.memory_bytes))
        if self._group.processes is None:
            limits.append(("RLIMIT_NPROC", self.sandbox.processes))
        return {
            "submission": SUBMISSION,
            "work": WORK,
            "limits": limits,
            "caches": CACHES,
            "cached": [f"{CACHED}/{path.name}" for path in font_lists()],
        }

    def _program(self, connection_file: str) -> list[str]:
        source = Path(__file__).with_name("boot.py").read_text(encoding="utf-8")
        about = json.dumps(self._plan())
        return [sys.executable, "-c", source, "ipykernel_launcher", about, *_arguments(connection_file)]

    async def _enter(self, says: int, token: str, give_up: float) -> None:
        """Wait until the kernel has bound its sockets, and hold them."""
        while self._process is not None and self._process.poll() is None and time.monotonic() < give_up:
            await asyncio.sleep(_LOOK_S)
            if self._inside < 0 and (pid := _first_process(self._process, says)):
                self._inside = os.pidfd_open(pid)
            if self._inside >= 0 and self._sockets.hold(f"/proc/{pid}/root{token}"):
                return
        await self.kill()
        raise KernelError(self.said() or "the kernel did not start in time")

    def _forget_process(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        if isinstance(self._process, Fork):
            self.abandoned = self._process.abandoned
        os.set_blocking(self._process.stderr.fileno(), False)
        self._said = self._process.stderr.read(65536) or b""
        self._process.stderr.close()
        self._process = None


def _arguments(connection_file: str) -> list[str]:
    return ["-f", connection_file, "--HistoryManager.hist_file=:memory:"]


def _first_process(process: subprocess.Popen[bytes] | Fork, says: int) -> int | None:
    """The pid, seen from here, of the first process inside, once bubblewrap has written it down."""
    if isinstance(process, Fork):
        return process.first
    try:
        return int(json.loads(os.pread(says, 4096, 0))["child-pid"])
    except ValueError:
        return None
