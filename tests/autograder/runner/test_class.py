"""A real class through the command: graded as nbgrader grades it, whatever is killed on the way."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from autograder.course import Course
from autograder.nbgrader_env import run_nbgrader

from ..gradebooks import rows
from ..sandbox.conftest import small_class

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs_bwrap,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),  # nbgrader's own
]
MARK = "LASTGOOD_TEST_OF"
ANSWERS = {
    "ada": "y = 2",
    "bob": "y = 1",
    "chi": "raise ValueError",
    "dov": "y = 2\nz = 4",
    "eve": "import os; os._exit(3)",
    "fay": "y = 2; print('<script>alert(1)</script>')",
}


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_class(tmp_path_factory.mktemp("class") / "course", ANSWERS)


@pytest.fixture(scope="module")
def by_nbgrader(handed_in: Path) -> Course:
    """The class as `nbgrader autograde` grades it, one after another."""
    root = moved(handed_in, handed_in.parent / "serial")
    run_nbgrader("autograde", "lab", root=root)
    return Course(root)


@pytest.fixture
def class_(handed_in: Path, tmp_path: Path) -> Course:
    return Course(moved(handed_in, tmp_path / "course"))


def moved(course: Path, to: Path) -> Path:
    """A copy of a course that was not graded."""
    shutil.copytree(course, to)
    return to


def command(course: Course, *options: str) -> list[str]:
    return [sys.executable, "-m", "autograder", "grade", "lab", "--root", str(course.root), *options]


def run(course: Course, *options: str, status: int = 0) -> list[dict[str, Any]]:
    done = subprocess.run(command(course, "--json", *options), capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def graded(course: Course) -> dict[str, str]:
    """The text of each autograded notebook, without what differs from one run to the next."""
    found = {}
    for student in course.students("lab"):
        notebook = json.loads((course.folder("autograded", "lab", student) / "lab.ipynb").read_text())
        for cell in notebook["cells"]:
            cell.pop("execution_count", None)
            for output in cell.get("outputs", []):
                output.pop("execution_count", None)
                output.pop("traceback", None)  # the process's and the cells' numbers stand in it
        found[student] = json.dumps(notebook["cells"], sort_keys=True)
    return found


def same(course: Course, other: Course) -> None:
    assert rows(course) == rows(other)
    assert graded(course) == graded(other)
    assert left_in(course) == []


def left_in(course: Course) -> list[str]:
    """What a run leaves in its folder that is neither a ledger's entry nor its lock."""
    folder = course.autograded / ".grading/lab"
    return sorted(p.name for p in folder.iterdir() if p.suffix != ".json" and p.name != "lock")


def test_a_class_gets_the_grades_of_a_serial_run(class_: Course, by_nbgrader: Course) -> None:
    *_, last = run(class_, "--workers", "3")
    assert last == {"done": {"graded": len(ANSWERS), "failed": 0}}
    same(class_, by_nbgrader)
    assert run(class_)[0] == {"begun": {"students": 0, "before": len(ANSWERS)}}


def test_a_cluster_gives_the_same_grades(class_: Course, by_nbgrader: Course) -> None:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=False
    ) as cluster:
        *_, last = run(class_, "--scheduler", cluster.scheduler_address)
    assert last == {"done": {"graded": len(ANSWERS), "failed": 0}}
    same(class_, by_nbgrader)


def test_killed_again_and_again_a_class_ends_with_the_same_grades(
    class_: Course, by_nbgrader: Course
) -> None:
    """SIGKILL to the runner alone, whenever; then the same command."""
    draw = random.Random(6)
    environment = {**os.environ, MARK: str(class_.root)}  # inherited by all that the runner starts
    most = 0
    for _ in range(4):
        with subprocess.Popen(
            command(class_, "--json"), stdout=subprocess.PIPE, text=True, env=environment
        ) as running:
            for _ in range(1 + draw.randrange(3)):
                running.stdout.readline()
            most = max(most, len(marked(class_.root)))
            time.sleep(draw.random())
            running.kill()
        gone(class_.root)
    assert most > 1, "a runner's workers are not seen"
    *_, last = run(class_)
    assert last["done"]["failed"] == 0
    same(class_, by_nbgrader)


def test_a_worker_that_is_killed_costs_nobody_a_grade(class_: Course, by_nbgrader: Course) -> None:
    with subprocess.Popen(
        command(class_, "--json", "--workers", "2"), stdout=subprocess.PIPE, text=True
    ) as running:
        lines = iter(running.stdout.readline, "")
        next(lines)  # begun
        next(lines)  # the first is done, so workers are there
        os.kill(next(workers(running.pid)), signal.SIGKILL)
        *_, last = lines
    assert json.loads(last) == {"done": {"graded": len(ANSWERS), "failed": 0}}
    same(class_, by_nbgrader)


def test_ctrl_c_says_how_to_go_on(class_: Course) -> None:
    slow = class_.folder("submitted", "lab", "zoe")
    shutil.copytree(class_.folder("submitted", "lab", "ada"), slow)
    text = (slow / "lab.ipynb").read_text()
    assert text.count(ANSWERS["ada"]) == 1
    (slow / "lab.ipynb").write_text(text.replace(ANSWERS["ada"], "import time; time.sleep(50)"))
    with subprocess.Popen(
        command(class_), stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        running.stdout.readline()  # one is done
        os.killpg(running.pid, signal.SIGINT)
        said = running.stdout.read()
    assert running.returncode == 1
    assert "the same command goes on from there" in said


def marked(root: Path) -> set[int]:
    """The processes whose environment has the mark: other tests grade at the same time."""
    mark = f"{MARK}={root}\0".encode()
    found = set()
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in path.read_bytes():
                found.add(int(path.parent.name))
    return found


def gone(root: Path) -> None:
    """Wait until nothing is left of a runner."""
    for _ in range(1200):
        if not (left := marked(root)):
            return
        time.sleep(0.05)
    pytest.fail(f"{left} outlived the runner")


def workers(owner: int) -> Iterator[int]:
    """The worker processes of a runner."""
    own = Path(f"/proc/{owner}/cmdline").read_bytes()
    for child in Path(f"/proc/{owner}/task/{owner}/children").read_text().split():
        if Path(f"/proc/{child}/cmdline").read_bytes() == own:  # a fork
            yield int(child)
