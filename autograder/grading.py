"""Grade the submissions of a lab with nbgrader, some at once, each on its own terms.

A process for each that runs at a time: nbgrader's code keeps what it is doing in its process's environment
and current folder. They share one gradebook. SQLite lets one write while the others wait, so the course's
`db_url` should let them wait long (`?timeout=60`). A submission that cannot be graded is reported; the rest
go on.
"""

import os
import signal
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import active_children, get_context
from pathlib import Path

from autograder.course import Course, CourseError

LOGS = Path("logs")  # in the course's folder: one file for each student


@dataclass(frozen=True)
class Graded:
    """What became of a submission: seconds of wall-clock time, and a fault where it could not be graded."""

    student: str
    seconds: float
    fault: str = ""


def grade(root: Path, lab: str, students: Sequence[str], jobs: int) -> Generator[Graded, None, None]:
    """Autograde the students' submissions and write their feedback, `jobs` at once; yields as each is done.

    The order of `students` is the order in which they are begun. Closing the iterator early, as an interrupt
    should, stops those that run and drops the rest.
    """
    # Spawned, not forked: a fork would copy locks that this process's other threads hold.
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _leave_interrupts)
    others = set(active_children())
    try:
        futures = {pool.submit(_grade_one, root, lab, student): student for student in students}
        for future in as_completed(futures):
            try:
                yield future.result()
            except Exception as error:  # whatever it is, it is this student's: the class goes on
                yield Graded(futures[future], 0.0, f"{type(error).__name__}: {error}")
    except BaseException:  # GeneratorExit and KeyboardInterrupt too
        for worker in set(active_children()) - others:
            worker.terminate()  # its kernel sees that it is gone, and ends
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _grade_one(root: Path, lab: str, student: str) -> Graded:
    began = time.monotonic()
    log = root / LOGS / f"{student}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    _redirect_to(log)
    course = Course(root)
    fault = ""
    try:
        course.autograde(lab, student, log)
        course.generate_feedback(lab, student, log)
    except CourseError as error:
        fault = str(error)
    return Graded(student, time.monotonic() - began, fault)


def _leave_interrupts() -> None:
    """Let Ctrl-C, which reaches every process of the terminal, be the business of the one that started us.

    It would end a submission half-way, as if it could not be graded. A handler and not SIG_IGN: that would be
    inherited by kernels, which nbgrader must be able to interrupt.
    """
    signal.signal(signal.SIGINT, lambda *_: None)


def _redirect_to(log: Path) -> None:
    """Send what this process and the kernels that it starts print to the student's log."""
    with open(log, "ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
