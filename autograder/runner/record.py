"""The writer's part: a graded submission's rows in one transaction, its folder in two renames.

    ledger   recording
    rows     written, not committed
    folder   the old one moved away, the new one into its place
    rows     committed
    ledger   graded

Killed before the commit, the gradebook is as it was; killed at any moment, the ledger says `recording` and
the next run grades this submission again. nbgrader's own way commits some 24 times.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any, Final

import nbformat
from filelock import FileLock
from nbgrader.api import (
    Comment,
    Grade,
    Gradebook,
    MissingEntry,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy.exc import IntegrityError, OperationalError

from autograder.converter import turn
from autograder.course import Course
from autograder.notebooks import grade_id
from autograder.runner.job import Outcome
from autograder.runner.ledger import Ledger
from lastgood.recovery.disk import sync_folder, write_synced

TRIES: Final = 5  # another grader may be entering the same rows, or hold SQLite's one lock
PAUSE_S: Final = 0.5


class RecordError(Exception):
    """The submission could not be recorded; the message says why. Nothing of it was."""


class Recorder:
    """Records outcomes of a lab, one after another. `gradebook` is nbgrader's, of the class."""

    def __init__(self, course: Course, lab: str, gradebook: Gradebook, ledger: Ledger) -> None:
        self._course = course
        self._lab = lab
        self._gradebook = gradebook
        self._ledger = ledger
        self._create_student = bool(course.config.Autograde.get("create_student", True))

    def has(self, student: str) -> bool:
        """Whether the gradebook and the autograded folder hold this student's submission."""
        try:
            self._gradebook.find_submission(self._lab, student)
        except MissingEntry:
            return False
        return self.place(student).is_dir()

    def record(self, outcome: Outcome, digest: str) -> None:
        """Record a graded submission. Raises RecordError."""
        student = outcome.student
        with FileLock(turn(self._course.directory(), self._lab, student)):
            self._ledger.recording(student)
            staged = self._ledger.staged(student)
            _write(outcome, staged)
            for left in reversed(range(TRIES)):
                try:
                    self._transaction(outcome, staged)
                    break
                except (IntegrityError, OperationalError) as error:
                    self._gradebook.db.rollback()
                    if not left:
                        raise RecordError(f"the gradebook does not take it: {error.orig}") from error
                    time.sleep(PAUSE_S)
                except BaseException:
                    self._gradebook.db.rollback()
                    raise
            self._ledger.done(student, digest)
            shutil.rmtree(self._ledger.replaced(student), ignore_errors=True)

    def penalize(self, student: str) -> bool:
        """Work the student's late penalty out again, should the due date have moved; whether it changed."""
        submission = self._gradebook.find_submission(self._lab, student)
        before = [book.late_submission_penalty for book in submission.notebooks]
        self._penalize(submission)
        self._gradebook.db.commit()
        return before != [book.late_submission_penalty for book in submission.notebooks]

    def _transaction(self, outcome: Outcome, staged: Path) -> None:
        place, replaced = self._places(outcome.student)
        submission = self._submission(outcome.student)
        if outcome.submitted is not None:
            submission.timestamp = outcome.submitted
        self._enter(submission, outcome, staged)
        self._gradebook.db.flush()
        self._penalize(submission)
        self._gradebook.db.flush()
        if staged.exists():  # else an earlier try has come as far as this
            if place.exists():
                place.rename(replaced)
            place.parent.mkdir(parents=True, exist_ok=True)
            staged.rename(place)
            sync_folder(place.parent)
        self._gradebook.db.commit()

    def _submission(self, student: str) -> Any:
        """The row of the student's submission, with a row for each of its notebooks, grades and comments."""
        db = self._gradebook.db
        if db.get(Student, student) is None:
            if not self._create_student:
                raise RecordError(f"{student} is not in the gradebook: `nbgrader db student add {student}`")
            db.add(Student(id=student))
        try:
            submission = self._gradebook.find_submission(self._lab, student)
        except MissingEntry:
            assignment = self._gradebook.find_assignment(self._lab)
            submission = SubmittedAssignment(assignment_id=assignment.id, student_id=student)
            db.add(submission)
            db.flush()
        known = {book.notebook_id: book for book in submission.notebooks}
        for notebook in self._gradebook.find_assignment(self._lab).notebooks:
            book = known.get(notebook.id)
            if book is None:
                book = SubmittedNotebook(notebook_id=notebook.id, assignment_id=submission.id)
                db.add(book)
                db.flush()
            self._complete(book, notebook)
        db.flush()
        db.expire_all()
        return submission

    def _complete(self, book: Any, notebook: Any) -> None:
        """Add the rows that a submission of today's release has and an earlier one's has not."""
        tasks = list(notebook.task_cells)
        for kind, cells, rows in (
            (Grade, [*notebook.grade_cells, *tasks], book.grades),
            (Comment, [*notebook.solution_cells, *tasks], book.comments),
        ):
            known = {row.cell_id for row in rows}
            self._gradebook.db.add_all(
                kind(cell_id=cell.id, notebook_id=book.id) for cell in cells if cell.id not in known
            )

    def _enter(self, submission: Any, outcome: Outcome, staged: Path) -> None:
        """Points and remarks of the grader's. A person's points, comments and extra credit are left alone."""
        place, replaced = self._places(outcome.student)
        # A try that failed at its commit has moved them already.
        before = replaced if replaced.exists() else place
        after = staged if staged.exists() else place
        points = {(score.notebook, score.cell): score.points for score in outcome.scores}
        remarks = {(remark.notebook, remark.cell): remark.text for remark in outcome.remarks}
        for book in submission.notebooks:
            changed = _Changed(before / f"{book.name}.ipynb", after / f"{book.name}.ipynb")
            for grade in book.grades:
                grade.auto_score = points.get((book.name, grade.name))
                if grade.manual_score is None:
                    grade.needs_manual_grade = grade.auto_score is None
                elif changed(grade.name):  # a person judged another answer than the one that is there now
                    grade.needs_manual_grade = True
            for comment in book.comments:
                comment.auto_comment = remarks.get((book.name, comment.name))

    def _penalize(self, submission: Any) -> None:
        """The late penalty by the plugin of the course's settings, from today's due date and extension."""
        # nbgrader fails where there is an extension and no due date.
        late = submission.assignment.duedate is not None and submission.total_seconds_late > 0
        for book in submission.notebooks:
            penalty = None
            if late:
                assign = AssignLatePenalties(config=self._course.config)
                assign.init_plugin()
                penalty = assign.plugin_inst.late_submission_penalty(
                    submission.student_id, book.score, submission.total_seconds_late
                )
                penalty = None if penalty is None else assign._check_late_penalty(book, penalty)
            book.late_submission_penalty = penalty

    def place(self, student: str) -> Path:
        """The student's autograded folder."""
        return self._course.folder("autograded", self._lab, student)

    def _places(self, student: str) -> tuple[Path, Path]:
        """The autograded folder, and where the one that it replaces goes."""
        return self.place(student), self._ledger.replaced(student)


class _Changed:
    """Whether a cell of a notebook reads otherwise than before; read only when asked."""

    def __init__(self, before: Path, after: Path) -> None:
        self._paths = before, after
        self._sources: list[dict[str | None, str]] = []

    def __call__(self, cell: str) -> bool:
        if not self._sources:
            self._sources = [_sources(path) for path in self._paths]
        before, after = self._sources
        return before.get(cell) != after.get(cell)


def _sources(notebook: Path) -> dict[str | None, str]:
    if not notebook.is_file():
        return {}
    return {grade_id(cell): cell.source for cell in nbformat.read(notebook, as_version=4).cells}


def _write(outcome: Outcome, folder: Path) -> None:
    """Put the autograded folder together, on disk to stay."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in outcome.files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_synced(path, content)
        path.chmod(outcome.mode)
    sync_folder(folder)
