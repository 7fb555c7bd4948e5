"""Kernels that are forks of a warm server: behind the same walls, ended alike, and each as if it were new."""

import ast
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from autograder.course import Course
from autograder.sandbox import doctor, execute, fork, warm
from autograder.sandbox.ready import SandboxError
from autograder.sandbox.settings import MB

from .conftest import ROOT, said

Run = Callable[..., list[Any]]
pytestmark = pytest.mark.needs_bwrap
slow = pytest.mark.slow

# What a notebook can see of how its Python was started. No library is named, so none was imported before.
LOOKS = """
import json, logging, os, resource, signal, sys, warnings
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
links = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd") if int(fd) > 2]
kinds = {os.readlink(link).partition(":")[0] for link in links if os.path.exists(link)}
with open("/proc/self/exe", "rb") as program:
    read_only = os.fstatvfs(program.fileno()).f_flag & os.ST_RDONLY
print(json.dumps({
    "environment": {name: value for name, value in os.environ.items() if name != "PWD"},
    "path": sys.path,
    "program": sys.argv[0],
    "flags": str(sys.flags),
    "main": sorted(name for name in vars(sys.modules["__main__"]) if name.startswith("__")),
    "folder": os.getcwd(),
    "session of the sandbox's own": os.getsid(0) > 0 and os.getpgrp() > 0,
    "signals": [str(signal.getsignal(n)).partition(" at ")[0] for n in sorted(signal.valid_signals())],
    "blocked": [status[name] for name in ("SigBlk", "SigIgn")],
    "powers": [status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs")],
    "limits": [resource.getrlimit(n) for n in range(16)],
    "standard": [os.readlink(f"/proc/self/fd/{n}").partition(":")[0] for n in (0, 1)],
    "stderr": os.readlink("/proc/2/fd/2" if os.getpid() == 2 else "/proc/self/fd/2").partition(":")[0],
    "open": sorted(kinds),
    "handlers": [str(h) for h in logging.root.handlers] + [logging.root.level],
    "filters": [str(f) for f in warnings.filters if "pydev" not in str(f)],
    "grader": [name for name in sys.modules if "autograder" in name],
    "program is read-only": bool(read_only),
    "shared": [line for line in open("/proc/self/maps") if line.split()[1] in ("rw-s", "-w-s")],
    "own": bool(open("/proc/self/environ", "rb").read(1)),
    "umask": os.umask(0o22),
}))
"""


@pytest.fixture(scope="module")
def kernels() -> Iterator[warm.WarmKernels]:
    warm.start(ROOT)
    shared = warm.shared()
    assert shared is not None
    yield shared
    warm.stop()


@pytest.fixture
def forks(kernels: warm.WarmKernels, monkeypatch: pytest.MonkeyPatch) -> list[fork.Fork]:
    """Every kernel that was forked in a test; there is at least one."""
    made: list[fork.Fork] = []
    start = fork.Fork.__init__

    def started(self: fork.Fork, *arguments: Any) -> None:
        start(self, *arguments)
        made.append(self)

    monkeypatch.setattr(fork.Fork, "__init__", started)
    return made


def test_it_looks_like_a_kernel_that_was_started_anew(
    run: Run, forks: list[fork.Fork], monkeypatch: pytest.MonkeyPatch
) -> None:
    def seen() -> dict[str, Any]:
        (cell,) = run(LOOKS)
        found: dict[str, Any] = json.loads(said(cell))
        found["open"] = [kind for kind in found["open"] if not kind.startswith("/tmp/")]
        return found

    warmed = seen()
    assert len(forks) == 1
    with monkeypatch.context() as patch:
        patch.setattr(warm, "_kernels", None)
        cold = seen()
    assert len(forks) == 1
    assert warmed == cold
    assert warmed["program is read-only"]
    assert warmed["grader"] == warmed["shared"] == []


def test_nothing_of_one_notebook_is_there_for_the_next(
    run: Run, forks: list[fork.Fork], tmp_path: Path
) -> None:
    (tmp_path / "helper.py").write_text("kept = []\n")
    leave = (
        "import builtins, helper, json, os, random, sys\n"
        "places = ['/tmp/left', '/dev/shm/left', '/tmp/work/left']\n"
        "seen = [os.path.exists(place) for place in places]\n"
        "seen += ['LEFT' in os.environ, hasattr(builtins, 'left'), hasattr(json, 'left'), helper.kept > []]\n"
        "for place in places: open(place, 'w').close()\n"
        "os.environ['LEFT'] = '1'; builtins.left = json.left = 1; helper.kept.append(1)\n"
        "print(seen, random.getrandbits(64))"
    )
    (first,), (second,) = run(leave), run(leave)
    assert len(forks) == 2
    assert said(first).startswith(str([False] * 7))
    assert said(second).startswith(str([False] * 7))
    assert said(first) != said(second)


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("import os; os._exit(3)", "Python ended in this cell with exit status 3"),
        ("import os; os.kill(os.getpid(), 11)", "Python ended in this cell with exit status 139"),
        ("import os; os.kill(os.getpid(), 9)", "Python ended in this cell with exit status 137"),
        ("import os; os.kill(1, 9); os.kill(-1, 9); os.killpg(0, 9)", "with exit status 137"),
    ],
)
def test_it_ends_with_the_same_words(run: Run, forks: list[fork.Fork], end: str, words: str) -> None:
    daemon = "import subprocess\nsubprocess.Popen(['sleep', '3600'], start_new_session=True).pid"
    cells = run(daemon, end, "2")
    assert words in said(cells[1])
    assert "This cell was not run: Python had ended" in said(cells[2])
    assert not forks[0]._holder.stands


def test_a_cell_that_is_interrupted_is_not_the_last(run: Run, forks: list[fork.Fork]) -> None:
    cells = run("print('x' * 2 * 10**6)", "while True: pass", "'after'", timeout=1)
    assert "put out more than 1 MB" in said(cells[0])
    assert "KeyboardInterrupt" in said(cells[1])
    assert "'after'" in said(cells[2])
    assert len(forks) == 1


def test_where_no_fork_gets_to_be_a_kernel_a_new_python_does(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm, "_KERNEL", ("no_such_module",))
    monkeypatch.setattr(warm, "_TRIES", 1)
    kernels = warm.WarmKernels(ROOT)
    monkeypatch.setattr(warm, "_kernels", kernels)
    (cell,) = run("6 * 7")
    assert "42" in said(cell)
    assert kernels._refused
    kernels.close()


@slow
def test_a_server_that_dies_costs_nobody_points(
    run: Run, forks: list[fork.Fork], kernels: warm.WarmKernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill(*_: Any) -> None:
        for server in kernels._servers.values():
            server._process.kill()
            server._process.wait()

    with monkeypatch.context() as patch:
        patch.setattr(execute.SandboxedExecute, "_count_output", kill)
        with pytest.raises(SandboxError, match="The process that makes kernels has ended"):
            run("1", "2")
    (cell,) = run("'anew'")
    assert "'anew'" in said(cell)
    assert len(forks) == 2


@slow
def test_every_wall_holds(kernels: warm.WarmKernels, forks: list[fork.Fork]) -> None:
    config = Config(Course(ROOT).config)
    config.Sandbox.memory_bytes = 512 * 2**20
    walls = list(doctor.examine(ROOT, config))
    assert len(walls) == 16
    assert [wall for wall in walls if not wall.held] == []
    assert len(forks) == 5


@slow
def test_what_computes_has_its_libraries_and_a_randomness_of_its_own(
    run: Run, forks: list[fork.Fork]
) -> None:
    draw = (
        "import sys\nthere = 'torch' in sys.modules\n"
        "import random, numpy as np, torch\n"
        "print([there, torch.get_num_threads(), random.random(), np.random.rand(), torch.rand(1).item(), "
        "torch.initial_seed()])"
    )
    plot = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
    threads = "torch.set_num_interop_threads(1)\ntorch.set_num_threads(2)\n"
    threads += "torch.ones(500, 500).matmul(torch.ones(500, 500)).sum()"
    (one, picture, computed), (other, *_) = run(draw, plot, threads), run(draw)
    first, second = ast.literal_eval(said(one)), ast.literal_eval(said(other))
    assert first[:2] == second[:2] == [True, 1]
    assert all(a != b for a, b in zip(first[2:], second[2:], strict=True))
    assert "image/png" in picture.outputs[0].data
    assert "tensor(1.2500e+08)" in said(computed)
    assert len(forks) == 2


RUN = """
import sys
from pathlib import Path
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config
from autograder.sandbox import warm
from autograder.sandbox.execute import SandboxedExecute
warm.start(Path(sys.argv[2]))
cells = [new_code_cell("import ctypes, time\\nctypes.CDLL(None).prctl(1, 0, 0, 0, 0)\\ntime.sleep(600)")]
SandboxedExecute(config=Config()).preprocess(new_notebook(cells=cells), {"metadata": {"path": sys.argv[1]}})
"""


@slow
def test_with_a_grader_that_is_killed_ends_all_that_it_started(tmp_path: Path) -> None:
    """A kernel that no longer wants to die with whoever forked it does, too."""

    def below(pid: int) -> set[int]:
        """The process, and all that stand below it."""
        parents: dict[int, int] = {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        found = {pid}
        while more := {child for child, parent in parents.items() if parent in found} - found:
            found |= more
        return found

    def runs(pid: int) -> bool:
        with suppress(OSError):
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
        return False

    def become(true: Callable[[], bool]) -> None:
        deadline, pause = time.monotonic() + 60, threading.Event()
        while not true():
            assert time.monotonic() < deadline
            pause.wait(0.05)

    with subprocess.Popen([sys.executable, "-c", RUN, str(tmp_path), str(ROOT)]) as grader:
        # itself, the server, who waits for the kernel, the kernel; bubblewrap twice
        become(lambda: len(below(grader.pid)) == 6)
        everyone = below(grader.pid)
        grader.kill()
    become(lambda: not any(map(runs, everyone)))


def test_the_limits_of_an_address_space_are_for_what_a_notebook_adds(
    run: Run, forks: list[fork.Fork], monkeypatch: pytest.MonkeyPatch
) -> None:
    from autograder.sandbox import groups

    monkeypatch.setattr(groups, "make", lambda _: groups.Group())
    take = "kept = [bytearray(2 * 10**8) for _ in range({})]"
    cells = run(take.format(1), take.format(5), memory_bytes=900 * MB)
    assert said(cells[0]) == ""
    assert "MemoryError" in said(cells[1])
