"""What a submission costs: `autograder grade`, with its sandbox, and `nbgrader autograde` as it ships."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat

from autograder.course import CONFIG
from autograder.nbgrader_env import environment, run_nbgrader
from autograder.notebooks import grade_id
from benchmarks.benchmark import ROOT, Benchmark, Setting
from benchmarks.cpu import Meter
from benchmarks.harness import Row, Side, alternate, compare

CLASS, TRIVIAL_TURNS, LAB_TURNS = 30, 3, 1
QUICKSTART, LAB = "ps1", "lab18"
_SHIPPED = """
c = get_config()
c.CourseDirectory.course_id = "course"
c.CourseDirectory.source_directory = "source"
c.CourseDirectory.release_directory = "labs"
c.CourseDirectory.ignore = ["lab*.py", ".ipynb_checkpoints", "__pycache__"]
"""
_OURS = """
c.CourseDirectory.source_directory = "source"
"""


def run(setting: Setting) -> list[Row]:
    many = setting.repeats or CLASS
    quickstart = setting.folder / "quickstart"
    run_nbgrader("quickstart", "quickstart", "--force", root=setting.folder)
    problem = quickstart / "source" / QUICKSTART
    master = ROOT / "solutions" / LAB
    return [
        *rows("trivial notebooks", setting.folder / "a", QUICKSTART, problem, many, TRIVIAL_TURNS, 0.2),
        *rows(f"{LAB}, the master's answers", setting.folder / "b", LAB, master, many, LAB_TURNS, 1 / 1.7),
    ]


def rows(
    what: str, folder: Path, lab: str, source: Path, many: int, turns: int, most_ratio: float
) -> list[Row]:
    """Seconds and CPU seconds of a submission, when a class of so many is graded."""
    folder.mkdir()
    ours = made(folder / "ours", lab, source, many, class_settings((ROOT / CONFIG).read_text()))
    theirs = made(folder / "theirs", lab, source, many, _SHIPPED)
    meters = {"ours": Meter(), "theirs": Meter()}
    command = [sys.executable, "-m", "autograder", "grade", lab, "--root", str(ours), "--json"]
    sides = {
        "ours": Side(lambda: meters["ours"](command, ours), lambda: fresh(ours)),
        "theirs": Side(
            lambda: meters["theirs"]([sys.executable, "-m", "nbgrader", "autograde", lab], theirs),
            lambda: fresh(theirs),
        ),
    }
    seconds = alternate(sides, turns, warm_up=0)
    each: Callable[[list[float]], list[float]] = lambda times: [time / many for time in times]  # noqa: E731
    return [
        compare(what, each(seconds["ours"]), each(seconds["theirs"]), most_ratio=most_ratio),
        compare(f"{what}, CPU seconds", each(meters["ours"].cpu_seconds), each(meters["theirs"].cpu_seconds)),
    ]


def class_settings(course: str) -> str:
    """The course's configuration for a class whose masters lie where `made` puts them."""
    return course + _OURS


def made(root: Path, lab: str, source: Path, many: int, settings: str) -> Path:
    """A course whose lab was handed in by so many students, each with the master's own answers."""
    (root / "source").mkdir(parents=True)
    shutil.copytree(source, root / "source" / lab, ignore=shutil.ignore_patterns("*.py"))
    (root / CONFIG).write_text(settings)
    run_nbgrader("generate_assignment", lab, root=root)
    right = root / "right"
    shutil.copytree(root / "labs" / lab, right)
    for notebook in right.glob("*.ipynb"):
        _answer(notebook, root / "source" / lab / notebook.name)
    for number in range(many):
        shutil.copytree(right, root / "submitted" / f"s{number:03}" / lab)
    shutil.copy(root / "gradebook.db", root / "released.db")
    return root


def _answer(notebook: Path, master: Path) -> None:
    """Write the master's answers into a released notebook."""
    answers = {grade_id(cell): cell.source for cell in nbformat.read(master, as_version=4).cells}
    released = nbformat.read(notebook, as_version=4)
    for cell in released.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = answers[grade_id(cell)]
    nbformat.write(released, notebook)


def fresh(root: Path) -> None:
    """Forget what was graded."""
    shutil.rmtree(root / "autograded", ignore_errors=True)
    shutil.copy(root / "released.db", root / "gradebook.db")
    subprocess.run(["sync"], check=True, env=environment())


BENCHMARK = Benchmark(
    "grading",
    "Grading a class",
    f"A class of {CLASS}: `autograder grade`, sandbox and judge included, a worker for each core, against "
    "`nbgrader autograde` with its own settings, which runs learners' code as the instructor. Times are of a "
    "submission: the whole command's, start and end included, by the number of submissions. The trivial "
    "notebooks are nbgrader's quickstart assignment (two notebooks each); the other class hands in lab 18's "
    "master. CPU seconds count every process that was started.",
    run,
    by_default=False,  # half an hour
)
