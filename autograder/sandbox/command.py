"""The command line of bubblewrap, and the environment that a kernel starts with.

Seen here: bubblewrap leaves its root and /dev writable unless they are remounted; started by root it leaves
/proc/sys writable, which is the whole machine's; and /proc/1/environ shows the environment that bubblewrap
itself was started with, so that must be clean already (`--clearenv` comes too late).
"""

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.sandbox.settings import Sandbox
from autograder.sandbox.visible import View

SUBMISSION = "/submission"  # the files handed in, read-only: they are copied to WORK
WRITABLE = "/tmp"
WORK = f"{WRITABLE}/work"
HOME = f"{WRITABLE}/home"
CACHED, CACHES = "/cached", f"{HOME}/.config/matplotlib"  # what lies in the first is copied to the second
# Files of /proc that the machine's root may write from inside any namespace.
_OF_THE_MACHINE = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi")
_PASSED_ON = ("NBGRADER_EXECUTION", "TZ")


def bubblewrap() -> str | None:
    """Where bubblewrap is, if it is installed."""
    return shutil.which("bwrap")


def command(view: View, sandbox: Sandbox, submission: Path, inside: Sequence[str] = ()) -> list[str]:
    """Bubblewrap's command line up to, and without, the program to run in `WORK`'s parent.

    `inside` are further arguments of bubblewrap's, such as `--file`.
    """
    return [
        bubblewrap() or "bwrap",
        *_namespaces(),
        *("--hostname", "lastgood", "--new-session", "--die-with-parent", "--cap-drop", "ALL"),
        *("--size", str(sandbox.scratch_bytes), "--tmpfs", WRITABLE),
        *view.arguments(),
        *("--proc", "/proc", *_machine_read_only()),
        *("--dev", "/dev", "--size", str(sandbox.shared_memory_bytes), "--tmpfs", "/dev/shm"),
        *("--ro-bind", str(submission), SUBMISSION),
        *inside,
        *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WRITABLE),
    ]


def environment(outside: Mapping[str, str]) -> dict[str, str]:
    """What a kernel's environment is: nothing of the instructor's, but what nbgrader and the clock need."""
    return {
        "PATH": os.pathsep.join((str(Path(sys.prefix) / "bin"), "/usr/bin", "/bin")),
        "HOME": HOME,
        "MPLCONFIGDIR": CACHES,
        "USER": "learner",
        "LOGNAME": "learner",
        "LANG": "C.UTF-8",
        **{name: outside[name] for name in _PASSED_ON if name in outside},
    }


def _machine_read_only() -> list[str]:
    paths = [f"/proc/{name}" for name in _OF_THE_MACHINE if os.path.exists(f"/proc/{name}")]
    return [word for path in paths for word in ("--ro-bind", path, path)]


@functools.cache
def _namespaces() -> tuple[str, ...]:
    """Everything of its own. No namespaces within, where bubblewrap can refuse them (since 0.8)."""
    program = bubblewrap()
    known = subprocess.run([program, "--help"], capture_output=True, text=True).stdout if program else ""
    newer = ("--disable-userns",) if "--disable-userns" in known else ()
    return ("--unshare-all", "--unshare-user", *newer)
