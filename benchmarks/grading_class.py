"""A class that is killed again and again as it is graded, and what a large class costs in memory."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from autograder.course import CONFIG, Course
from autograder.nbgrader_env import run_nbgrader
from benchmarks.benchmark import ROOT, Benchmark, Setting
from benchmarks.harness import Row, alone

LAB = "lab"
KILLS, STUDENTS, LONGEST_S = 50, 40, 6.0
FEW, MANY, MOST_GROWTH = 20, 200, 1.1
ANSWERS = ("y = 2", "y = 1", "raise ValueError", "y = 2\nz = 4")


def run(setting: Setting) -> list[Row]:
    kills = setting.repeats or KILLS
    seconds, cut = _killed(setting.folder / "kills", kills)
    few, _ = _peak(setting.folder / f"class{FEW}", FEW)
    many, larger = _peak(setting.folder / f"class{MANY}", MANY)
    if many > MOST_GROWTH * few:
        raise RuntimeError(f"the runner grows: {few / 1e6:.0f} MB for {FEW}, {many / 1e6:.0f} MB for {MANY}")
    return [
        alone(
            f"{STUDENTS} submissions, killed {cut} times: the same grades in the end",
            seconds,
        ),
        alone(
            f"the runner's memory at most: {few / 1e6:.0f} MB for {FEW} submissions, {many / 1e6:.0f} MB for "
            f"{MANY}; seconds of the larger class",
            [larger],
        ),
    ]


def _killed(folder: Path, kills: int) -> tuple[list[float], int]:
    """Seconds of the runs that ended by themselves, and how many were killed before. Raises RuntimeError."""
    undisturbed = _class(folder / "undisturbed", STUDENTS)
    _finish(undisturbed)
    course = _class(folder / "disturbed", STUDENTS)
    draw, cut, done = random.Random(1), 0, 0
    ends: list[float] = []
    while cut < kills:
        if done == STUDENTS:  # from the beginning
            _equal(course, undisturbed)
            shutil.rmtree(course.autograded)
            shutil.copy(course.root / "released.db", course.root / "gradebook.db")
        begun = time.monotonic()
        with subprocess.Popen(_command(course), stdout=subprocess.DEVNULL) as running:
            try:
                running.wait(draw.uniform(0, LONGEST_S))
                ends.append(time.monotonic() - begun)
            except subprocess.TimeoutExpired:
                running.kill()
                cut += 1
        done = sum("graded" in json.loads(p.read_text()) for p in course.autograded.rglob("*.json"))
    begun = time.monotonic()
    _finish(course)
    _equal(course, undisturbed)
    return [*ends, time.monotonic() - begun], cut


def _peak(folder: Path, many: int) -> tuple[int, float]:
    """Bytes that the runner's own process held at most as it graded a class of so many, and the seconds."""
    course = _class(folder, many)
    most, begun = 0, time.monotonic()
    with subprocess.Popen(_command(course), stdout=subprocess.DEVNULL) as running:
        while running.poll() is None:
            status = Path(f"/proc/{running.pid}/status").read_text()
            for line in status.splitlines():
                if line.startswith("VmHWM:"):
                    most = int(line.split()[1]) * 1024
            time.sleep(0.05)
    seconds = time.monotonic() - begun
    if running.returncode:
        raise RuntimeError(f"grading a class of {many} failed")
    return most, seconds


def _command(course: Course) -> list[str]:
    return [sys.executable, "-m", "autograder", "grade", LAB, "--root", str(course.root), "--json"]


def _finish(course: Course) -> None:
    subprocess.run(_command(course), stdout=subprocess.DEVNULL, check=True)


def _equal(course: Course, other: Course) -> None:
    """Raise RuntimeError unless both hold the same grades, once each, and a folder for each student."""
    found, expected = _grades(course), _grades(other)
    if found != expected:
        raise RuntimeError(f"grades differ: {set(found) ^ set(expected)}")
    for student in course.students(LAB):
        if not (course.folder("autograded", LAB, student) / f"{LAB}.ipynb").is_file():
            raise RuntimeError(f"{student} has no autograded notebook")


def _grades(course: Course) -> list[tuple[str, str, float | None, float | None, bool]]:
    with course.gradebook() as gradebook:
        return sorted(
            (
                submission.student.id,
                grade.name,
                grade.auto_score,
                grade.manual_score,
                grade.needs_manual_grade,
            )
            for submission in gradebook.assignment_submissions(LAB)
            for book in submission.notebooks
            for grade in book.grades
        )


def _class(root: Path, many: int) -> Course:
    """A course of one small lab that so many students have handed in, some of them wrongly."""
    (root / "solutions" / LAB).mkdir(parents=True)
    shutil.copy(ROOT / CONFIG, root)
    cells = [new_code_cell("### BEGIN SOLUTION\ny = 2\n### END SOLUTION"), new_code_cell("assert y == 2")]
    about = {"schema_version": 3, "task": False}
    cells[0].metadata["nbgrader"] = {
        **about, "grade": False, "solution": True, "locked": False, "grade_id": "answer"
    }  # fmt: skip
    cells[1].metadata["nbgrader"] = {
        **about, "grade": True, "solution": False, "locked": True, "grade_id": "check", "points": 1
    }  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(
        new_notebook(cells=cells, metadata={"kernelspec": kernel}), root / "solutions" / LAB / f"{LAB}.ipynb"
    )
    run_nbgrader("generate_assignment", LAB, root=root)
    shutil.copy(root / "gradebook.db", root / "released.db")
    course = Course(root)
    handed_in = nbformat.read(course.folder("release", LAB) / f"{LAB}.ipynb", as_version=4)
    for number in range(many):
        handed_in.cells[0].source = ANSWERS[number % len(ANSWERS)]
        folder = course.folder("submitted", LAB, f"s{number:03}")
        folder.mkdir(parents=True)
        nbformat.write(handed_in, folder / f"{LAB}.ipynb")
    return course


BENCHMARK = Benchmark(
    "grading-class",
    "A class that is killed, and a large one",
    f"A class of {STUDENTS} is graded, and the runner killed by SIGKILL at a random moment of its first "
    f"{LONGEST_S:g} s, {KILLS} times; each time the same command goes on. In the end the gradebook is that "
    "of an undisturbed run. The time is of runs that ended by themselves.",
    run,
    by_default=False,  # half an hour
)
