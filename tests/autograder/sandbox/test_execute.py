"""Cells in a sandboxed kernel: what they may, what stops them, and what a kernel that lies gets."""

import contextlib
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.sandbox import groups, kernel
from autograder.sandbox.settings import MB

from .conftest import said

Run = Callable[..., list[Any]]
pytestmark = pytest.mark.needs_bwrap
slow = pytest.mark.slow


def test_a_kernel_computes_in_a_copy_of_the_submission(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("1,2\n")
    (tmp_path / "helper.py").write_text("answer = 42\n")
    cells = run(
        "import os, helper\nprint(os.getcwd(), open('rows.csv').read(), helper.answer)",
        "open('rows.csv', 'w').write('3')",
        "!echo from a shell",
        "1 / 0",
        "'after'",
    )
    assert "/tmp/work 1,2\n 42" in said(cells[0])
    assert (tmp_path / "rows.csv").read_text() == "1,2\n"
    assert "from a shell" in said(cells[2])
    assert "ZeroDivisionError" in said(cells[3])
    assert "'after'" in said(cells[4])
    assert not list(Path("/sys/fs/cgroup").glob(f"**/{groups.PREFIX}{os.getpid()}-*"))


@slow
def test_a_notebook_has_one_time_for_all_its_cells(run: Run) -> None:
    deaf = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(60)"
    for long in ("while True: pass", deaf):
        cells = run("1", long, "2", notebook_seconds=2.5, iopub_timeout=3)
        assert "a whole notebook may take 2.5 s" in said(cells[1])
        assert "This cell was not run: the notebook's 2.5 s were over" in said(cells[2])


@slow
def test_a_submission_that_does_not_fit_is_explained(run: Run, tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(bytes(11 * MB))
    cells = run("1", disk_bytes=10 * MB)
    assert "files that were handed in are larger than the 8.75 MB" in said(cells[0])


LIE = "kernel = get_ipython().kernel\nsend = kernel.session.send\nparent = kernel.get_parent()\n"


@slow
@pytest.mark.parametrize(
    "lie",
    [
        "send(kernel.iopub_socket, 'stream', {'surprise': 1}, parent)",
        "send(kernel.iopub_socket, 'display_data', {'data': 3, 'metadata': None}, parent)",
        "send(kernel.iopub_socket, 'status', {}, parent)",
        "kernel.iopub_socket.send(b'no message at all')",
        "send(kernel.iopub_socket, 'error', {'ename': 1, 'evalue': [], 'traceback': 'x'}, parent)",
    ],
)
def test_a_kernel_that_sends_nonsense_loses_its_own_points_only(run: Run, lie: str) -> None:
    cells = run("1", LIE + lie, "2", timeout=5, iopub_timeout=3)
    assert "1" in said(cells[0])
    assert [output.output_type for output in cells[1].outputs].count("error") or "'surprise'" in said(
        cells[1]
    )
    assert cells[2].outputs


@slow
def test_a_kernel_that_falls_silent_is_not_waited_for_long(run: Run) -> None:
    closing = "import os\nfor fd in range(3, 200):\n    try: os.close(fd)\n    except OSError: pass"
    cells = run("1", closing, "2", timeout=4, iopub_timeout=2)
    assert any(output.output_type == "error" for output in cells[1].outputs)
    assert any(output.output_type == "error" for output in cells[2].outputs)


@slow
def test_output_that_never_ends_is_cut_off_with_its_kernel(run: Run) -> None:
    flood = (
        "while True:\n    try:\n        while True: print('x' * 10**6)\n    except KeyboardInterrupt: pass"
    )
    cells = run(flood, "2", timeout=60)
    # On a busy machine it fills the kernel's memory before the grader has read that much.
    assert re.search("went on after it was interrupted|needed more than the 2 GiB of memory", said(cells[0]))
    assert "This cell was not run" in said(cells[1])


@slow
def test_a_cell_that_is_stopped_for_its_output_and_does_not_stop_ends_the_notebook(run: Run) -> None:
    deaf = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('x' * 2 * 10**6)\n"
    cells = run(deaf + "time.sleep(600)", "2", timeout=4, iopub_timeout=2)
    assert "went on after it was interrupted" in said(cells[0])
    assert "This cell was not run" in said(cells[1])


@slow
def test_an_interrupt_hits_the_cell_that_it_is_meant_for(run: Run) -> None:
    cells = run("print('x' * 2 * 10**6)", "import time; time.sleep(0.5)\n'untouched'")
    assert "put out more than 1 MB" in said(cells[0])
    assert "'untouched'" in said(cells[1])


@slow
def test_where_there_is_no_control_group_a_process_has_its_address_space(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "make", lambda _: groups.Group())
    take = "kept = [bytearray(b'x') * 10**7 for _ in range(80)]"
    cells = run(take, "import resource\nresource.getrlimit(resource.RLIMIT_AS)", memory_bytes=800 * MB)
    assert re.search("MemoryError.*A notebook may use 800 MB", said(cells[0]), re.DOTALL)
    assert "(800000000, 800000000)" in said(cells[1])


@slow
def test_a_kernel_that_does_not_start_is_the_graders_trouble(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autograder.sandbox.ready import SandboxError

    monkeypatch.setattr(kernel.SandboxProvisioner, "_program", lambda *_: ["/bin/sh", "-c", "echo ouch >&2"])
    with pytest.raises(SandboxError, match="did not start in the sandbox: ouch"):
        run("1")


RUN = """
import sys
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config
from autograder.sandbox.execute import SandboxedExecute
notebook = new_notebook(cells=[new_code_cell("import time; time.sleep(600)")])
SandboxedExecute(config=Config()).preprocess(notebook, {"metadata": {"path": sys.argv[1]}})
"""


@slow
def test_with_a_grader_that_is_killed_ends_all_that_it_started(tmp_path: Path) -> None:
    def inside() -> list[str]:
        """Processes that were started for this submission, as this machine sees them."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if f"{tmp_path}\0/submission".encode() in path.read_bytes():
                    found.append(path.parent.name)
        return found

    def runs() -> bool:
        """Whether a program runs inside: before, bubblewrap does not yet die with who started it."""
        mine, children = inside(), []
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                if path.read_text().rpartition(")")[2].split()[1] in mine:
                    children.append(path.parent.name)
        return not {*children} <= {*inside()}

    def become(true: Callable[[], bool]) -> None:
        deadline, pause = time.monotonic() + 120, threading.Event()
        while not true():
            assert time.monotonic() < deadline
            pause.wait(0.05)

    with subprocess.Popen([sys.executable, "-c", RUN, str(tmp_path)]) as grader:
        become(runs)
        grader.kill()
    become(lambda: not inside())
