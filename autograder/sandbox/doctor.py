"""`autograder doctor`: tries to cross each wall from inside a sandboxed kernel, and says what was seen.

The kernel is started as for grading, by the same preprocessor and with the course's own settings. What it
must not reach is really there: a decoy gradebook, another's submission, two servers, a secret variable.
"""

import ast
import contextlib
import inspect
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config

import autograder
from autograder.sandbox import groups, probes
from autograder.sandbox.endings import STOPPED
from autograder.sandbox.execute import SandboxedExecute
from autograder.sandbox.ready import require_sandbox
from autograder.sandbox.settings import Sandbox, size
from autograder.sandbox.visible import view

_SECONDS, _GRACE = 2, 2  # of a cell that ignores its interrupt, while the doctor looks on
_SECRET = "LASTGOOD_DOCTOR"
_DEAF = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n    time.sleep(1)"
_FOLDERS = ("/", "/dev", "/etc", "/home", "/proc", "/root", "/run", "/submission", "/sys", "/usr", "/var/tmp")
# Started so, a command of an ordinary user's stands where control groups can be made.
_EACH_BY_ITSELF = (
    "for each process by itself: start under `systemd-run --user --scope` to limit them together"
)


@dataclass(frozen=True)
class Wall:
    """A wall, whether it held, and what the one who tried to cross it saw."""

    name: str
    held: bool
    saw: str


def examine(root: Path, config: Any) -> Iterator[Wall]:
    """Try each wall of the course in the folder `root`, whose nbgrader_config.py says `config`.

    Takes some ten seconds, and up to a fifth more memory than a notebook may have. Raises SandboxError where
    there is no sandbox.
    """
    require_sandbox()
    yield _in_use(config)
    patient = Config(config)
    patient.SandboxedExecute.root = str(root)
    patient.Sandbox.unsafe = False
    sandbox = Sandbox(config=patient)
    with _decoys(root) as (folder, attempts):
        attempts["disk"] = f"small_disk({sandbox.disk_bytes})"
        yield from _quiet_walls(patient, folder, attempts)
        yield _output(patient, folder, sandbox)
        yield _memory(patient, folder, sandbox)
        yield _processes(patient, folder, sandbox)
        yield _time(patient, folder)


def _in_use(config: Any) -> Wall:
    if Sandbox(config=config).unsafe:
        return Wall("in use", False, "LASTGOOD_UNSAFE or c.Sandbox.unsafe: notebooks run without it")
    return Wall("in use", True, "notebooks are graded behind these walls")


@contextlib.contextmanager
def _decoys(root: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    """A submission's folder, and the attempts at what stands around it, by wall."""
    name, secret = f"lastgood-{secrets.token_hex(8)}", secrets.token_hex(16)
    with (
        tempfile.TemporaryDirectory(prefix="lastgood-doctor-") as folder,
        socket.create_server(("127.0.0.1", 0)) as by_number,
        socket.socket(socket.AF_UNIX) as by_name,
        subprocess.Popen([sys.executable, "-c", "input()", name], stdin=subprocess.PIPE) as process,
    ):
        by_name.bind(f"\0{name}")
        by_name.listen()
        place = Path(folder)
        mine, theirs = (place / "submitted" / who / "lab" / "lab.ipynb" for who in ("mine", "theirs"))
        for path in (mine, theirs, place / "gradebook.db"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("a decoy")
        home = Path.home()
        shown = [str(path) for path in view(root).shown]
        own = Path(autograder.__file__).parent
        folders = [*_FOLDERS, str(place), str(root), str(home), *shown]
        os.environ[_SECRET] = secret
        try:
            yield (
                mine.parent,
                {
                    "gradebook": _unreadable(place / "gradebook.db", root / "gradebook.db"),
                    "other submissions": _unreadable(theirs, root / "submitted", root / "autograded"),
                    "masters": _unreadable(
                        *sorted((own.parent / "solutions").glob("*/*")), root / "solutions"
                    ),
                    "grader's code": _unreadable(*sorted(own.glob("**/*.py"))),
                    "home": f"home({str(home)!r}, {shown})",
                    "files": f"unwritable({folders})",
                    "network": f"unreachable({by_number.getsockname()[1]}, {name!r})",
                    "other processes": f"alone({process.pid}, {name!r})",
                    "capabilities": "powerless()",
                    "environment": f"clean({secret!r})",
                },
            )
        finally:
            del os.environ[_SECRET]
            process.communicate(b"\n")


def _unreadable(*paths: Path) -> str:
    return f"unreadable({[str(path) for path in paths if path.exists()]})"


def _quiet_walls(config: Config, folder: Path, attempts: dict[str, str]) -> Iterator[Wall]:
    """Walls that a kernel survives to run into, in one notebook."""
    cells = _run(config, folder, *(f"print({attempt})" for attempt in attempts.values()))
    for name, cell in zip(attempts, cells, strict=True):
        try:
            held, saw = ast.literal_eval(_printed(cell))
        except (SyntaxError, ValueError):
            held, saw = False, f"the attempt itself failed: {_error(cell) or _printed(cell)}"
        yield Wall(name, held, saw)


def _output(config: Config, folder: Path, sandbox: Sandbox) -> Wall:
    (cell,) = _run(config, folder, f"print('x' * {5 * sandbox.output_bytes})")
    kept = len(json.dumps(cell.outputs))
    return Wall("output", kept < 2 * sandbox.output_bytes, f"{kept} bytes of {5 * sandbox.output_bytes} kept")


def _memory(config: Config, folder: Path, sandbox: Sandbox) -> Wall:
    (cell,) = _run(config, folder, f"print(take_memory({sandbox.memory_bytes}))")
    group = groups.make(sandbox)
    group.remove()
    by = "by control group" if group.memory else _EACH_BY_ITSELF
    return _stopped("memory", cell, f"{size(sandbox.memory_bytes)} {by}")


def _processes(config: Config, folder: Path, sandbox: Sandbox) -> Wall:
    (cell,) = _run(config, folder, f"print(start_processes({sandbox.processes}))")
    printed = _printed(cell)
    if printed.startswith("refused"):  # by a limit that nothing counts
        return Wall("processes", True, printed)
    return _stopped("processes", cell, f"{sandbox.processes}")


def _time(config: Config, folder: Path) -> Wall:
    hasty = Config(config)
    hasty.Execute.timeout, hasty.Execute.iopub_timeout = _SECONDS, _GRACE
    (cell,) = _run(hasty, folder, _DEAF)
    return _stopped("time", cell, f"a cell that ignored its interrupt after {_SECONDS} s")


def _stopped(name: str, cell: NotebookNode, limit: str) -> Wall:
    error = _error(cell)
    came_to = "stopped, and the report says why" if " " in error else error
    return Wall(name, bool(error), f"{limit}: {came_to or _printed(cell) or 'nothing happened'}")


def _run(config: Config, folder: Path, *sources: str) -> list[NotebookNode]:
    """Run cells in a sandboxed kernel of their own, after one that defines the probes."""
    cells = [new_code_cell(source) for source in (inspect.getsource(probes), *sources)]
    ran, _ = SandboxedExecute(config=config).preprocess(
        new_notebook(cells=cells), {"metadata": {"path": str(folder)}}
    )
    return list(ran.cells[1:])


def _printed(cell: NotebookNode) -> str:
    return "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout").strip()


def _error(cell: NotebookNode) -> str:
    """The first sentence of what stopped the cell."""
    errors = [output for output in cell.outputs if output.output_type == "error"]
    said = [error.evalue for error in errors if error.ename == STOPPED] or [e.ename for e in errors]
    return said[-1].partition(". ")[0] if said else ""
