"""nbgrader's autograding as this course does it, by whatever command or button.

What is handed in is read by the intake, so that every notebook which is expected is graded or explained.

For several graders at once, who may come to the same submission: nbgrader asks whether a row is there and
then enters it. Of two that ask at the same moment the second to enter gets an error, and then removes the
student's autograded folder, which is the first one's too.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import shutil
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from nbgrader import utils
from nbgrader.api import Gradebook, InvalidEntry, TaskCell
from nbgrader.converters import Autograde as NbgraderAutograde
from nbgrader.converters.base import BaseConverter
from nbgrader.preprocessors import Execute
from traitlets.utils.importstring import import_item

from autograder.expected import expected, lab_with
from autograder.intake import Taken, take_in
from autograder.intake.dates import tolerate
from autograder.intake.folder import to_copy
from autograder.intake.notes import Notes, NotRun
from autograder.intake.released import Released
from autograder.intake.words import listed
from autograder.schema import check_once

LOCKS = ".turns"  # in the folder of the autograded submissions
_ROWS = 3  # the course, the student, the submission: what graders may be entering at the same moment


class _Copying(BaseConverter):  # type: ignore[misc]  # nbgrader has no types
    """Copies files that were handed in beside notebooks: regular ones, and no more than there is room for."""

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        directory = self.coursedir
        source = Path(self._format_source(assignment_id, student_id))
        dest = Path(self._format_dest(assignment_id, student_id))
        master = directory.format_path(directory.source_directory, ".", assignment_id)
        ours = {os.path.relpath(path, master) for path in utils.find_all_files(master, directory.ignore)}
        taken, refused = to_copy(source, directory.ignore, ours)
        for name in taken:
            (dest / name).parent.mkdir(parents=True, exist_ok=True)
            (dest / name).unlink(missing_ok=True)
            shutil.copy(source / name, dest / name)
        if refused:
            self.log.warning("Not copied from %s: %s", source, listed(refused))


class Autograde(NbgraderAutograde, _Copying):  # type: ignore[misc]
    """Grades whatever was handed in, and takes turns with whoever autogrades the same submission.

    In one course folder the second waits, and then finds the submission graded. With a folder each and one
    gradebook both grade it, into the same rows.
    """

    def start(self) -> None:
        tolerate()
        check_once()
        lock = FileLock(turn(self.coursedir, self.coursedir.assignment_id, self.coursedir.student_id))
        try:
            lock.acquire(blocking=False)
        except Timeout:
            self.log.info("Another grader is at this submission: waiting for it to be done")
            lock.acquire()
        try:
            super().start()
        finally:
            lock.release()

    def init_notebooks(self) -> None:
        """Expect of each submission the notebooks that were released, whatever it holds."""
        self._expected: dict[str, Released] = expected(self.coursedir, self.coursedir.assignment_id)
        self._taken: dict[str, Taken] = {}
        names = fnmatch.filter(self._expected, self.coursedir.notebook_id)
        folders = glob.glob(self._format_source(self.coursedir.assignment_id, self.coursedir.student_id))
        if not names or not folders:
            super().init_notebooks()  # it says what is missing
            return
        self.assignments = {
            folder: [os.path.join(folder, f"{name}.ipynb") for name in names] for folder in folders
        }
        self.notebooks: list[str] = []

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Read what was handed in, and enter the submission into the gradebook, or find it there."""
        self._taken = take_in(
            Path(self._format_source(assignment_id, student_id)),
            self._expected,
            partial(lab_with, self.coursedir, but=assignment_id),
            [Path(notebook).stem for notebook in self.notebooks],
        )
        for _ in range(_ROWS):
            try:
                super().init_assignment(assignment_id, student_id)
                break
            except InvalidEntry:
                self.log.info("Another grader entered the same row at the same moment: looking again")
        else:
            super().init_assignment(assignment_id, student_id)
        self._let_tasks_wait(assignment_id, student_id)

    def _let_tasks_wait(self, assignment_id: str, student_id: str) -> None:
        """Undo the 0 points of a task whose file nbgrader missed, now or once: no test will set them anew."""
        if not any(mark.task for book in self._expected.values() for mark in book.marked.values()):
            return
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
            for name in (name for name, taken in self._taken.items() if taken.handed_in):
                book = gradebook.find_submission_notebook(name, assignment_id, student_id)
                for grade in book.grades:
                    if isinstance(grade.cell, TaskCell) and grade.auto_score is not None:
                        grade.auto_score, grade.needs_manual_grade = None, True
            gradebook.db.commit()

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Grade a notebook, by nbgrader's two steps: its cells are put in order, then it is run."""
        taken = self._taken.pop(Path(notebook_filename).stem)
        for note in taken.notes:
            self.log.warning("%s: %s", notebook_filename, note)
        self._sanitize(notebook_filename, taken)
        self._sanitizing = False
        try:
            self._init_preprocessors()
            if not taken.handed_in:
                self._run_nothing()
            self.exporter.register_preprocessor(Notes(taken.notes), enabled=True)
            with utils.setenv(NBGRADER_EXECUTION="autograde"):
                BaseConverter.convert_single_notebook(
                    self, os.path.join(self.writer.build_directory, os.path.basename(notebook_filename))
                )
        finally:
            self._sanitizing = True
        if not taken.handed_in:
            self._give_no_points(notebook_filename)

    def _sanitize(self, notebook_filename: str, taken: Taken) -> None:
        self._sanitizing = True
        self._init_preprocessors()
        resources = self.init_single_notebook_resources(notebook_filename)
        output, resources = self.exporter.from_notebook_node(taken.notebook, resources=resources)
        self.write_single_notebook(output, resources)

    def _run_nothing(self) -> None:
        """Take out what runs the notebook."""
        self.exporter._preprocessors = []
        self.exporter.register_preprocessor(NotRun(), enabled=True)
        for step in self.autograde_preprocessors:
            kind = import_item(step) if isinstance(step, str) else step
            if not (isinstance(kind, type) and issubclass(kind, Execute)):
                self.exporter.register_preprocessor(step)

    def _give_no_points(self, notebook_filename: str) -> None:
        """Written answers are not there either. A person's earlier judgement stays, to be looked at again."""
        about = self.init_single_notebook_resources(notebook_filename)["nbgrader"]
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
            place = about["notebook"], about["assignment"], about["student"]
            book = gradebook.find_submission_notebook(*place)
            for grade in book.grades:
                grade.auto_score = 0
                grade.needs_manual_grade = grade.manual_score is not None
            gradebook.db.commit()


def turn(directory: Any, lab: str, student: str) -> Path:
    """The file that whoever grades this submission locks. `directory` is nbgrader's CourseDirectory."""
    folder = Path(directory.format_path(directory.autograded_directory, LOCKS, "."))
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{student}.{lab}.lock"


def adopt() -> None:
    """Have nbgrader's commands and the Formgrader in this process use this class. Twice is as once."""
    import nbgrader.apps.api
    import nbgrader.apps.autogradeapp
    import nbgrader.converters

    tolerate()
    check_once()
    for module in (nbgrader.apps.api, nbgrader.apps.autogradeapp, nbgrader.converters):
        module.Autograde = Autograde
