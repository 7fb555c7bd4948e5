"""Lab 19's supervisors that do not bring a run back, and say that they did.

Each tries to have its job look as if it had been brought to its end, or as if it had been watched.
"""

from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from autograder import mutants
from lastgood.teaching.checks import lab19
from lastgood.teaching.checks.lab19 import loop
from lastgood.teaching.checks.report import Report

ROOT = Path(__file__).resolve().parents[2]
SEED = 5
ONE_PROCESS = "process = job.start(None)\nwhile process.poll() is None and process.silence < 1: pass\n"

LIARS = {
    "says that it has finished": ("return 'finished'", 0),
    "rewrites what the job has written down": (
        ONE_PROCESS + "job.starts, job.digests, job.at_the_end = [], {}, job.record\nreturn 'finished'",
        0,
    ),
    "makes the record as long as it should be": (
        ONE_PROCESS + "job.record.extend([job.record[0]] * (job.steps - len(job.record)))\nreturn 'finished'",
        0,
    ),
    "returns what equals everything": (
        "class Yes(str):\n    def __eq__(self, other): return True\n    __hash__ = str.__hash__\n"
        + ONE_PROCESS
        + "return Yes('finished')",
        0,
    ),
    "replaces the library's functions": (
        "from lastgood.recovery.job import checkpoints, compare, handle\n"
        "checkpoints.fault = lambda *a: ''\nhandle.LIMIT = 100\ncompare.undisturbed = lambda *a: None\n"
        + ONE_PROCESS
        + "return 'finished'",
        0,
    ),
    "forges a checkpoint": (
        "from lastgood.recovery.job import checkpoints\n"
        "checkpoints.write(job.folder, job.run, job.steps, b'')\njob.start(f'step-{job.steps}')",
        0,
    ),
    "starts from outside the folder": ("job.start('..')", 0),
    "raises what would end it": (
        "from lastgood.recovery.job import SupervisorStopped\nraise SupervisorStopped('all is well')",
        0,
    ),
    "gives up unseen": ("for _ in range(4): job.start(None)\nreturn 'gave up'", 0),
    "gives up half-seen": (ONE_PROCESS + "for _ in range(3): job.start(None)\nreturn 'gave up'", 0),
    "watches only the job that cannot end": (
        "for _ in range(4):\n" + indent(ONE_PROCESS, "    ") + "    process.kill()\nreturn 'gave up'",
        loop.POINTS[loop.GIVES_UP],
    ),
}  # fmt: skip


def supervisor(lines: str) -> Any:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(f"def supervise(job, what_happened, last_good, no_progress):\n{indent(lines, '    ')}", names)
    return names["supervise"]


@pytest.mark.parametrize(
    "liar",
    [pytest.param(liar, marks=[pytest.mark.slow] if points else []) for liar, (_, points) in LIARS.items()],
)
def test_a_supervisor_that_lies_earns_what_it_has_done(liar: str) -> None:
    lines, points = LIARS[liar]
    assert lab19.LOOP.run((supervisor(lines),), seed=SEED).points == points


@pytest.mark.slow
@pytest.mark.needs_bwrap
def test_behind_walls_a_right_supervisor_earns_all_and_finds_a_folder_that_it_can_only_read() -> None:
    from autograder.judge.walls import Walled
    from autograder.sandbox.settings import Sandbox
    from lastgood.recovery.warm import shared_server

    def judged(function: Any) -> Report:
        walls = Walled(shared_server(), Sandbox(), ROOT)
        inputs = lab19.LOOP.draw(SEED)
        assert lab19.LOOP.try_out is not None
        data = lab19.LOOP.try_out(inputs, lab19.LOOP.measure({"0": function}, inputs), walls)
        return lab19.LOOP.verdict(inputs, data)

    names: dict[str, Any] = {"__name__": "__main__"}
    master = mutants.master_text(ROOT, "lab19")
    exec("from lastgood.recovery.job import LIMIT, Job\nfrom typing import Any\n", names)
    exec(mutants.function(master, "supervise"), names)
    assert judged(names["supervise"]).passed
    past_the_hook = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    past_the_hook += "assert libc.mkdir(str(job.folder / 'step-99').encode(), 0o700) == -1\n"
    past_the_hook += "raise OSError(ctypes.get_errno(), 'refused')"
    assert "[Errno 30] refused" in " ".join(judged(supervisor(past_the_hook)).text().split())
