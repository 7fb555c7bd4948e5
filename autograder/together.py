"""nbgrader's autograding for several graders at once, who may come to the same submission.

nbgrader asks whether a row is there and then enters it. Of two that ask at the same moment the second to
enter gets an error, and then removes the student's autograded folder, which is the first one's too.
"""

from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from nbgrader.api import InvalidEntry
from nbgrader.converters import Autograde as NbgraderAutograde

LOCKS = ".turns"  # in the folder of the autograded submissions
_ROWS = 3  # the course, the student, the submission: what graders may be entering at the same moment


class Autograde(NbgraderAutograde):  # type: ignore[misc]
    """Takes turns with whoever autogrades the same submission.

    In one course folder the second waits, and then finds the submission graded. With a folder each and one
    gradebook both grade it, into the same rows.
    """

    def start(self) -> None:
        lock = self._lock()
        try:
            lock.acquire(blocking=False)
        except Timeout:
            self.log.info("Another grader is at this submission: waiting for it to be done")
            lock.acquire()
        try:
            super().start()
        finally:
            lock.release()

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Enter the submission into the gradebook, or find it there."""
        for _ in range(_ROWS):
            try:
                super().init_assignment(assignment_id, student_id)
                return
            except InvalidEntry:
                self.log.info("Another grader entered the same row at the same moment: looking again")
        super().init_assignment(assignment_id, student_id)

    def _lock(self) -> Any:
        lab, student = self.coursedir.assignment_id, self.coursedir.student_id
        folder = Path(self.coursedir.format_path(self._output_directory, LOCKS, "."))
        folder.mkdir(parents=True, exist_ok=True)
        return FileLock(folder / f"{student}.{lab}.lock")
