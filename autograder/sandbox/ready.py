"""Whether the sandbox can be had on this machine, and what to do where it cannot."""

import compileall
import functools
import platform
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lastgood
from autograder.sandbox.command import bubblewrap, command
from autograder.sandbox.settings import UNSAFE, Sandbox
from autograder.sandbox.visible import view

WHAT_TO_DO = (
    (
        "Linux",
        "Install bubblewrap: `apt install bubblewrap`, `dnf install bubblewrap` or `pacman -S bubblewrap`.",
        "Where it is refused, user namespaces are switched off. Ubuntu from 23.10 on: give bwrap an AppArmor",
        "profile, or `sysctl kernel.apparmor_restrict_unprivileged_userns=0`. Older Debian:",
        "`sysctl kernel.unprivileged_userns_clone=1`. Others: `sysctl user.max_user_namespaces=15000`.",
    ),
    (
        "container, hub",
        "Most refuse namespaces. Grade on the host or in a virtual machine, or let the container make them.",
        "Docker and Podman: `--security-opt seccomp=unconfined --security-opt apparmor=unconfined",
        "--security-opt systempaths=unconfined`. Kubernetes: `procMount: Unmasked` with `hostUsers: false`.",
    ),
    (
        "macOS",
        "It has no namespaces. Grade in a Linux virtual machine (Lima, UTM, Multipass) with this folder.",
    ),
    ("Windows", "Grade in WSL 2, which is a Linux: `wsl --install`, then as on Linux."),
)
_ALL_THE_SAME = f"""
A class that you trust can be graded without the sandbox, best in a container without anything of value.
Our own commands: `--unsafe`. nbgrader's: {UNSAFE}=1 in the environment, or `c.Sandbox.unsafe = True`
in nbgrader_config.py. Each report will say so."""


class SandboxError(Exception):
    """There is no sandbox on this machine. The message says why, and what to do on each system."""


def what_to_do(why: str) -> str:
    """The message of a SandboxError: why there is no sandbox, and advice for each system."""
    lines = [f"No notebook was run: {why}", "What to do:", ""]
    for system, *advice in WHAT_TO_DO:
        names = [system, *("" for _ in advice[1:])]
        lines += [f"  {name:<16}{line}" for name, line in zip(names, advice, strict=True)]
    return "\n".join(lines) + "\n" + _ALL_THE_SAME


def require_sandbox() -> None:
    """Raise SandboxError unless a program can be started in the sandbox here. Tried once a process."""
    if why := _why_not():
        raise SandboxError(what_to_do(why))


def before_grading(config: Any) -> Callable[..., None]:
    """Nbgrader's hook before each submission: ends the whole command, not each submission in turn.

    `config` is that of nbgrader_config.py. nbgrader passes over what a hook raises, unless it is an exit.
    """

    def stop_without_sandbox(**_: Any) -> None:
        if any(Sandbox(config=known).unsafe for known in (config, _of_the_command_line())):
            return
        try:
            require_sandbox()
        except SandboxError as error:
            raise SystemExit(str(error)) from None

    return stop_without_sandbox


def _of_the_command_line() -> Any:
    from traitlets.config import Application, Config

    return Application.instance().config if Application.initialized() else Config()


@functools.cache
def _why_not() -> str:
    """Why there is no sandbox; empty where there is."""
    if platform.system() != "Linux":
        return f"the sandbox needs Linux, and this is {platform.system()}."
    if bubblewrap() is None:
        return "bubblewrap (the command `bwrap`) is not installed."
    library = Path(lastgood.__file__).parent
    # From inside, nothing can be written beside the library: what is not compiled now is, for each notebook.
    compileall.compile_dir(library, quiet=2)
    with tempfile.TemporaryDirectory(prefix="lastgood-") as folder:
        tried = command(view(library), Sandbox(), Path(folder))
        done = subprocess.run([*tried, "--", "/bin/sh", "-c", ":"], capture_output=True, text=True, env={})
    said = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    return f"bubblewrap is installed and was refused: {said}" if done.returncode else ""
