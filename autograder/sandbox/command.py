"""The command line of bubblewrap, how it is started, and the environment that a kernel starts with.

Seen here: bubblewrap leaves its root and /dev writable unless they are remounted; started by root it leaves
/proc/sys writable, which is the whole machine's; and /proc/1/environ shows the environment that bubblewrap
itself was started with, so that must be clean already (`--clearenv` comes too late).
"""

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

from autograder.sandbox.settings import Sandbox
from autograder.sandbox.visible import View
from lastgood.recovery.warm.child import die_with_parent

SUBMISSION = "/submission"  # the files handed in, read-only: they are copied to WORK
WRITABLE = "/tmp"
WORK = f"{WRITABLE}/work"
HOME = f"{WRITABLE}/home"
CACHED, CACHES = "/cached", f"{HOME}/.config/matplotlib"  # what lies in the first is copied to the second
# Files of /proc that the machine's root may write from inside any namespace.
_OF_THE_MACHINE = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi")
_PASSED_ON = ("NBGRADER_EXECUTION", "TZ")
# Threads count as processes, and several notebooks are graded at once.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_LEASH = ("--pdeathsig", "KILL")
# Started by the right process, join the control groups: $1 is the pid, $2 the number of doors.
_START = (
    '[ "$PPID" = "$1" ] || exit 98; n=$2; shift 2; '
    'while [ "$n" -gt 0 ]; do echo 0 >"$1" || exit 97; shift; n=$((n-1)); done; exec "$@"'
)


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


def start(walls: Sequence[str], doors: Sequence[str] = (), **how: Any) -> subprocess.Popen[bytes]:
    """Start bubblewrap in the control groups that `doors` lead to, with an environment that tells nothing.

    It ends with this process, for which it asks itself some moments too late. `how` is for
    `subprocess.Popen`.
    """
    own = os.getpid()
    line = ["/bin/sh", "-c", _START, "sh", str(own), str(len(doors)), *doors, *walls]
    how = {"env": environment({}), "stdin": subprocess.DEVNULL, **how}
    if setpriv := shutil.which("setpriv"):
        line = [setpriv, *_LEASH, *line]
    else:  # costs a copy of this process, which takes ten times as long
        how["preexec_fn"] = partial(die_with_parent, own)
    process: subprocess.Popen[bytes] = subprocess.Popen(line, **how)
    return process


@contextmanager
def text_file(text: str) -> Iterator[IO[bytes]]:
    """An open file in memory that holds `text`, to be read from its beginning."""
    with open(os.memfd_create("lastgood"), "w+b") as file:
        file.write(text.encode())
        file.flush()
        file.seek(0)
        yield file


def environment(outside: Mapping[str, str]) -> dict[str, str]:
    """What a kernel's environment is: nothing of the instructor's, but what nbgrader and the clock need."""
    return {
        "PATH": os.pathsep.join((str(Path(sys.prefix) / "bin"), "/usr/bin", "/bin")),
        "HOME": HOME,
        "MPLCONFIGDIR": CACHES,
        "USER": "learner",
        "LOGNAME": "learner",
        "LANG": "C.UTF-8",
        **dict.fromkeys(_ONE_THREAD, "1"),
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
