"""A course's folder through nbgrader's own Python code: its settings, its folders, its gradebook, its steps.

A step (`generate_assignment`, `autograde`, …) takes seconds to import and little to run: a process that
takes many of them, one for each student, imports once. What nbgrader says of a step goes into a log file.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

CONFIG = "nbgrader_config.py"
LOGS = Path("logs")  # in the course's folder: a file for each student


class CourseError(Exception):
    """A step of nbgrader's failed; the message says which, for whom, why, and where the log is."""


@dataclass(frozen=True)
class Course:
    """The course in the folder `root`, which holds `nbgrader_config.py` unless settings are given."""

    root: Path
    given: Any = None

    @cached_property
    def config(self) -> Any:
        """The settings, as traitlets reads them. Raises CourseError where there are none."""
        if self.given is not None:
            return self.given
        from traitlets.config.loader import PyFileConfigLoader

        if not (self.root / CONFIG).is_file():
            raise CourseError(f"{self.root} holds no {CONFIG}")
        return PyFileConfigLoader(CONFIG, path=str(self.root)).load_config()

    def folder(self, step: str, lab: str, student: str = ".") -> Path:
        """Where `step` (source, release, submitted, autograded or feedback) keeps a lab of a student."""
        directory = self.directory(lab)
        name = getattr(directory, f"{step}_directory")
        return Path(directory.format_path(name, student, lab))

    @property
    def autograded(self) -> Path:
        """The folder that holds every student's autograded submissions."""
        return Path(self.root, self.directory().autograded_directory)

    def students(self, lab: str) -> list[str]:
        """Who submitted the lab, by name."""
        submitted = self.folder("submitted", lab, "*")  # …/submitted/*/lab
        return sorted(path.parent.name for path in submitted.parent.parent.glob(f"*/{submitted.name}"))

    @contextmanager
    def gradebook(self) -> Iterator[Any]:
        """The gradebook, as nbgrader's `Gradebook`; closed at the end."""
        from nbgrader.api import Gradebook

        directory = self.directory()
        with Gradebook(directory.db_url, directory.course_id) as gradebook:
            yield gradebook

    def generate_assignment(self, lab: str, log: Path) -> None:
        """Make the release of a lab and enter it into the gradebook. Raises CourseError."""
        from nbgrader.converters import GenerateAssignment

        self._convert(GenerateAssignment, lab, ".", log)

    def autograde(self, lab: str, student: str, log: Path) -> None:
        """Run a student's submission and enter its points into the gradebook. Raises CourseError."""
        from autograder.converter import Autograde

        self._convert(Autograde, lab, student, log)

    def generate_feedback(self, lab: str, student: str, log: Path) -> None:
        """Write what a student is to read, as HTML. Raises CourseError."""
        from nbgrader.converters import GenerateFeedback

        self._convert(GenerateFeedback, lab, student, log, force=True)  # an earlier grade's would be kept

    def export_csv(self, lab: str, to: Path, log: Path) -> None:
        """Write every student's points of a lab, as nbgrader's export does."""
        from nbgrader.plugins import CsvExportPlugin

        with self.gradebook() as gradebook, _log_to(log) as logger:
            CsvExportPlugin(to=str(to), assignment=[lab], config=self.config, log=logger).export(gradebook)

    def directory(self, lab: str = "", student: str = "*", log: logging.Logger | None = None) -> Any:
        """The settings and folders as nbgrader's `CourseDirectory`."""
        from nbgrader.coursedir import CourseDirectory

        extra = {} if log is None else {"log": log}
        return CourseDirectory(config=self.config, assignment_id=lab, student_id=student, **extra)

    def _convert(self, kind: Any, lab: str, student: str, log: Path, **settings: Any) -> None:
        with _log_to(log) as logger:
            directory = self.directory(lab, student, logger)
            try:
                kind(coursedir=directory, config=self.config, log=logger, **settings).start()
            # nbgrader raises what its preprocessors raise, of any type; without a sandbox our hook exits
            except (Exception, SystemExit) as error:
                who = "" if student == "." else f" for {student}"
                raise CourseError(f"{kind.__name__} failed{who}: {error}\nThe log: {log}") from error


def logger_to(handler: logging.Handler) -> logging.Logger:
    """A logger for a step of nbgrader's that tells the handler alone: nothing reaches the terminal."""
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.Logger("nbgrader", logging.INFO)
    logger.addHandler(handler)
    return logger


@contextmanager
def _log_to(path: Path) -> Iterator[logging.Logger]:
    """A logger that appends to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(path, encoding="utf-8")
    try:
        yield logger_to(handler)
    finally:
        handler.close()
