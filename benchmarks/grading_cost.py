"""What grading a submission costs a worker besides running its notebooks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from autograder.course import CONFIG, Course
from autograder.judge.execute import JudgedExecute
from autograder.nbgrader_env import run_nbgrader
from autograder.runner.blank import blank
from autograder.runner.job import Job
from autograder.runner.parcel import packed
from autograder.runner.release import release_name
from autograder.runner.work import warm_up, work
from autograder.sandbox.settings import Sandbox
from benchmarks.benchmark import ROOT, Benchmark, Setting
from benchmarks.grading import LAB, QUICKSTART, class_settings, made
from benchmarks.harness import Row, alone

MANY, MOST_S = 12, 0.3


def run(setting: Setting) -> list[Row]:
    many = setting.repeats or MANY
    run_nbgrader("quickstart", "quickstart", "--force", root=setting.folder)
    problem = setting.folder / "quickstart" / "source" / QUICKSTART
    classes = {"trivial notebooks": (QUICKSTART, problem), LAB: (LAB, ROOT / "solutions" / LAB)}
    rows = []
    for number, (what, (lab, source)) in enumerate(classes.items()):
        settings = class_settings((ROOT / CONFIG).read_text())
        root = made(setting.folder / str(number), lab, source, many + 1, settings)
        besides, above_cells = _graded(Course(root), lab)
        rows += [
            alone(f"{what}, all but running the notebooks", besides, most_seconds=MOST_S),
            alone(f"{what}, the same and starting and ending their kernels", above_cells),
        ]
    return rows


def _graded(course: Course, lab: str) -> tuple[list[float], list[float]]:
    """Seconds of each submission but the first: besides running notebooks, and besides running cells."""
    with course.gradebook() as gradebook:
        private = blank(gradebook, lab)
    warm_up(course.root, lab)
    release, most = release_name(course, lab), Sandbox(config=course.config).disk_bytes
    besides, above_cells = [], []
    notebooks, cells = _Watch("preprocess"), _Watch("preprocess_cell")
    with notebooks.watching, cells.watching:
        for student in course.students(lab):
            parcel = packed(course.folder("submitted", lab, student), most)
            notebooks.seconds = cells.seconds = 0.0
            outcome = work(Job(str(course.root), lab, student, parcel, private, release))
            if outcome.fault:
                raise RuntimeError(outcome.fault)
            besides.append(outcome.seconds - notebooks.seconds)
            above_cells.append(outcome.seconds - cells.seconds)
    return besides[1:], above_cells[1:]  # the first waits for imports


class _Watch:
    """Adds up what a method of the preprocessor that runs notebooks takes."""

    def __init__(self, method: str) -> None:
        self.seconds = 0.0
        watched: Callable[..., Any] = getattr(JudgedExecute, method)

        def timed(*arguments: Any, **options: Any) -> Any:
            begun = time.perf_counter()
            try:
                return watched(*arguments, **options)
            finally:
                self.seconds += time.perf_counter() - begun

        self.watching = patch.object(JudgedExecute, method, timed)


BENCHMARK = Benchmark(
    "grading-cost",
    "What grading costs besides the notebooks",
    f"One worker grades {MANY} submissions one after the other, as `autograder grade` has it do: takes them "
    "in, runs nbgrader's converter, reads the points back. What the notebooks' own cells take, judging "
    "included, is left out, and in the first row of each class what the kernel around them takes too.",
    run,
    by_default=False,
)
