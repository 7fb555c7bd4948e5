"""A worker's part: grade one submission in a folder of its own, against a gradebook of its own.

It runs nbgrader's converter as `nbgrader autograde` does, so both give the same points. What differs is where
the rows go: into a file that is read back and thrown away. A process does one at a time, because nbgrader
keeps what it is doing in its process's environment and current folder.
"""

from __future__ import annotations

import copy
import functools
import logging
import sqlite3
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any, Final

import nbformat
from sqlalchemy.exc import SAWarning

from autograder.converter import Autograde
from autograder.course import Course, logger_to
from autograder.intake import notes_of
from autograder.judge.warm import warm_grader
from autograder.memory import in_memory
from autograder.runner.job import Job, Outcome, Remark, Score
from autograder.runner.parcel import lay_out
from autograder.runner.private import private
from autograder.runner.release import release_name

LOG_LINES: Final = 2_000  # of what nbgrader says of a submission
_ONE = threading.Lock()
_SCORES = """
    SELECT notebook.name, base_cell.name, grade.auto_score FROM grade
    JOIN base_cell ON base_cell.id = grade.cell_id
    JOIN notebook ON notebook.id = base_cell.notebook_id
"""
_REMARKS = """
    SELECT notebook.name, base_cell.name, comment.auto_comment FROM comment
    JOIN base_cell ON base_cell.id = comment.cell_id
    JOIN notebook ON notebook.id = base_cell.notebook_id
"""


class WorkError(Exception):
    """This worker cannot grade for that class; the message says what it lacks."""


def warm_up(root: Path, lab: str) -> None:
    """Import and start beforehand what the first submission would otherwise wait for."""
    _keep_warm(root)
    _release_here(root, lab)


def work(job: Job) -> Outcome:
    """Grade the submission. Never raises: a fault is the submission's, and the class goes on."""
    began = time.monotonic()
    log = _Lines()
    with _ONE, warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # of nbgrader's own way with its tables
        try:
            root = _course(job)
            with tempfile.TemporaryDirectory(prefix="lastgood-work-", dir=in_memory()) as folder:
                outcome = _graded(job, root, Path(folder), log)
        except (Exception, SystemExit) as error:  # of any kind: without a sandbox a hook of ours exits
            outcome = {"fault": f"{type(error).__name__}: {error}"}
    return Outcome(job.student, time.monotonic() - began, log.text(), **outcome)


def _course(job: Job) -> Path:
    """The course's folder on this machine. Raises WorkError where it is not the one of whoever asks."""
    root = Path(job.root)
    if not root.is_dir():
        raise WorkError(f"this worker has no {root}: every machine needs the course in the same place")
    if _release_here(root, job.lab) != job.release:
        raise WorkError(f"this worker's {job.lab} or its checks are not those of whoever grades: update it")
    _keep_warm(root)
    return root


@functools.cache
def _release_here(root: Path, lab: str) -> str:
    return release_name(Course(root, _config(root)), lab)


@functools.cache
def _keep_warm(root: Path) -> None:
    """Kernels and judges of this process are warm from now on, until it ends."""
    warm = ExitStack()
    warm.enter_context(warm_grader(root, _config(root)))
    Finalize(None, warm.close, exitpriority=100)  # a worker of a pool knows no atexit


@functools.cache
def _config(root: Path) -> Any:
    return Course(root).config


def _graded(job: Job, root: Path, folder: Path, log: _Lines) -> dict[str, Any]:
    course, logger = _private(job, root, folder), logger_to(log)
    directory = course.directory(job.lab, job.student, logger)
    converter = _Told(coursedir=directory, config=course.config, log=logger)
    try:
        with private(folder / "gradebook.db"):
            converter.start()
    except Exception as error:  # nbgrader's own says only that there was one
        raise converter.fault or error from None
    autograded = course.folder("autograded", job.lab, job.student)
    return {
        "files": tuple(_files(autograded)),
        "mode": int(str(converter.permissions), 8),
        "notes": tuple(note for book in sorted(autograded.glob("*.ipynb")) for note in _notes(book)),
        **_rows(folder / "gradebook.db"),
    }


class _Told(Autograde):
    """Remembers what went wrong, of which nbgrader keeps a traceback in its log alone."""

    fault: Exception | None = None

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        with self._told():
            super().init_assignment(assignment_id, student_id)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        with self._told():
            super().convert_single_notebook(notebook_filename)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.fault = error
            raise


def _private(job: Job, root: Path, folder: Path) -> Course:
    """A course in `folder` that has the lab of the course in `root`, and of submissions this one alone."""
    (folder / "gradebook.db").write_bytes(job.blank)
    config = copy.deepcopy(_config(root))
    ours = Course(root)
    for step in ("source", "release"):
        name = getattr(ours.directory(), f"{step}_directory")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(root / name)
    config.CourseDirectory.root = str(folder)
    config.CourseDirectory.db_url = f"sqlite:///{folder / 'gradebook.db'}"
    course = Course(folder, config)
    lay_out(job.parcel, course.folder("submitted", job.lab, job.student))
    return course


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield str(path.relative_to(folder)), path.read_bytes()


def _notes(notebook: Path) -> tuple[str, ...]:
    return tuple(notes_of(nbformat.read(notebook, as_version=4)))


def _rows(gradebook: Path) -> dict[str, Any]:
    with closing(sqlite3.connect(gradebook)) as rows:
        (submitted,) = rows.execute("SELECT timestamp FROM submitted_assignment").fetchone()
        return {
            "submitted": None if submitted is None else datetime.fromisoformat(submitted),
            "scores": tuple(Score(*row) for row in rows.execute(_SCORES)),
            "remarks": tuple(Remark(*row) for row in rows.execute(_REMARKS)),
        }


class _Lines(logging.Handler):
    """Keeps the last lines of a log."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(self.format(record))
        del self._lines[:-LOG_LINES]

    def text(self) -> str:
        return "".join(f"{line}\n" for line in self._lines)
