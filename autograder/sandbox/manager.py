"""The sandboxed kernel's manager and client, as nbclient uses them."""

import asyncio
import contextlib
import functools
import tempfile
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

import zmq
import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

from autograder.sandbox.kernel import SandboxProvisioner
from autograder.sandbox.settings import Sandbox
from autograder.sandbox.visible import view

MESSAGE_BYTES = 64 * 10**6  # a larger one is not taken: the connection is dropped, and made again
_ANSWER_S = 2.0  # how long an interrupt may remain unanswered
_REPLY_S, _HEARD_S = 1.0, 0.2  # then a new kernel is asked once more


class SandboxClient(AsyncKernelClient):
    """A client that takes no message above `MESSAGE_BYTES`: the grader's own memory is not the learner's."""

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Wait until the kernel answers and what it puts out is heard; `timeout` in seconds.

        Raises RuntimeError. jupyter_client's own listens for another 0.2 s whether there is more to hear.
        """
        give_up = time.monotonic() + (float("inf") if timeout is None else timeout)
        while not await self._answers():
            if not await self._async_is_alive():
                raise RuntimeError("the kernel ended before it answered")
            if time.monotonic() > give_up:
                raise RuntimeError(f"the kernel did not answer within {timeout} s")

    async def _answers(self) -> bool:
        request = self.kernel_info()
        with contextlib.suppress(Empty):
            while _parent(await self.shell_channel.get_msg(timeout=_REPLY_S)) != request:
                pass
            while True:
                heard = await self.iopub_channel.get_msg(timeout=_HEARD_S)
                if _parent(heard) == request and heard["content"].get("execution_state") == "idle":
                    return True
        return False

    def _context_default(self) -> zmq.asyncio.Context:
        context: zmq.asyncio.Context = super()._context_default()
        context.setsockopt(zmq.MAXMSGSIZE, MESSAGE_BYTES)
        return context


def _parent(message: dict[str, Any]) -> Any:
    return message["parent_header"].get("msg_id")


class SandboxKernelManager(AsyncKernelManager):
    """Starts this environment's Python in the sandbox, whatever kernel the notebook asks for."""

    provisioner: SandboxProvisioner

    def __init__(self, *, root: Path, **kwargs: Any) -> None:
        kwargs["kernel_name"] = "python3"
        super().__init__(**kwargs)
        self.client_factory = SandboxClient
        self.provisioner = SandboxProvisioner(
            Sandbox(parent=self),
            view(root),
            kernel_id=str(uuid.uuid4()),
            kernel_spec=self.kernel_spec,
            parent=self,
        )
        self.kernel_id = self.provisioner.kernel_id
        self._runtime = tempfile.TemporaryDirectory(prefix="lastgood-kernel-")
        self.connection_file = str(Path(self._runtime.name) / "connection.json")

    @functools.cached_property
    def kernel_spec(self) -> KernelSpec:
        return KernelSpec(display_name="Python 3", language="python", interrupt_mode="message")

    async def interrupt_kernel(self) -> None:  # type: ignore[override]  # as the asynchronous manager's
        """Interrupt, and wait for the kernel to say that it did: a late one would hit the next cell."""
        await self._async_interrupt_kernel()
        if self._control_socket is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._control_socket.recv_multipart(), _ANSWER_S)

    async def cleanup_resources(self, restart: bool = False) -> None:  # type: ignore[override]  # the same
        await self._async_cleanup_resources(restart)
        self._runtime.cleanup()
