"""The sockets of a kernel, which lie on its own small disk: held open from outside, and found by a client."""

import contextlib
import os
import tempfile
from pathlib import Path

from jupyter_client.connect import KernelConnectionInfo

_PORTS = {f"{name}_port": n for n, name in enumerate(("shell", "iopub", "stdin", "hb", "control"), 1)}


class Sockets:
    """A handle on each, under the names by which a client looks for them.

    What is put in a socket's place, once it is held, is not followed.
    """

    def __init__(self) -> None:
        self._folder = -1  # a handle on the folder that they lie in
        self._handles: list[int] = []
        self._links = tempfile.TemporaryDirectory(prefix="lastgood-sockets-")

    def hold(self, folder: str) -> bool:
        """Hold them, once the kernel has bound them all in this folder beside one file; whether it has."""
        if self._folder < 0:
            with contextlib.suppress(OSError):  # until bubblewrap has made the folder
                self._folder = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        if self._folder < 0 or len(os.listdir(f"/proc/self/fd/{self._folder}")) <= len(_PORTS):
            return False
        for number in _PORTS.values():
            handle = os.open(f"s-{number}", os.O_PATH | os.O_NOFOLLOW, dir_fd=self._folder)
            self._handles.append(handle)
            Path(self._links.name, f"s-{number}").symlink_to(f"/proc/self/fd/{handle}")
        return True

    def connection(self, key: str | bytes) -> KernelConnectionInfo:
        """How a client reaches them."""
        return connection(f"{self._links.name}/s", key)

    def let_go(self) -> None:
        """Close the handles. Others may be held then."""
        for fd in (self._folder, *self._handles):
            if fd >= 0:
                os.close(fd)
        self._folder = -1
        self._handles.clear()
        for link in Path(self._links.name).glob("s-*"):
            link.unlink()

    def close(self) -> None:
        """Let go, and leave nothing behind."""
        self.let_go()
        self._links.cleanup()


def connection(ip: str, key: str | bytes) -> KernelConnectionInfo:
    """What a kernel or a client is told: the paths of sockets begin with `ip`."""
    how = {"transport": "ipc", "ip": ip, "key": key, "signature_scheme": "hmac-sha256"}
    return {**how, **_PORTS}  # type: ignore[typeddict-item]
