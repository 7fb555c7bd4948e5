"""A small class for hostile submissions: slots, which are checks with room for an answer before each.

It is graded as any class is, by nbgrader's own steps with the course's own settings. Two honest students sit
in it. The first is graded before the others and must not be touched by them; the second is graded after them.
"""

import copy
import html
import json
import os
import re
import socket
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.course import CONFIG, Course, CourseError
from autograder.judge.warm import warm_grader
from lastgood.teaching.checks import lab18

ROOT = Path(__file__).resolve().parents[2]
LAB = "lab18"  # the judge takes an assignment of this name for the course's
FIRST, LAST = "honest-first", "honest-last"
IMPORTS = "import torch\nfrom lastgood.teaching.checks.lab18 import check"
SECRET = "tell-nobody-5f1c3c"  # stands in the host's files and environment
_TAGS = {"schema_version": 3, "task": False, "locked": False, "grade": False, "solution": False}
_MASK = "def mask(n):\n    return torch.ones(n, n, dtype=torch.bool).tril()"
_BYTES = "def size(n):\n    return 12 * n"
RIGHT = {"causal_mask": _MASK, "state_bytes": _BYTES}
CALLS = {
    "causal_mask": "check.causal_mask(mask)",
    "state_bytes": "check.state_bytes(size)",
    "capture_restore": "check.capture_restore(capture, restore)",
    "save_load": "check.save_load(save, load, capture, restore)",
}


@dataclass(frozen=True)
class Attack:
    """What a hostile learner writes before a graded cell. It must not earn there what is not its own.

    `after` stands in a cell after the graded one, such as what undoes the attack so that the next one finds
    the kernel as it was. `cells` are further cells of the notebook's, at its end.
    """

    tries: str
    source: str
    check: str = "causal_mask"
    earns: float = 0.0
    says: str = ""  # words of the feedback
    after: str = ""
    cells: tuple[NotebookNode, ...] = ()
    change: Callable[[NotebookNode], None] | None = None  # of the notebook, before it is handed in
    files: Callable[[Path], None] | None = None  # in the folder that is handed in


@dataclass
class Watch:
    """What must stay as it is on this machine, and who knocked."""

    folder: Path
    knocks: list[str] = field(default_factory=list)
    port: int = 0

    @property
    def socket(self) -> Path:
        return self.folder / "sock"

    @property
    def secret(self) -> Path:
        return self.folder / "private" / "secret"


@contextmanager
def watching(folder: Path) -> Iterator[Watch]:
    """Canaries: a file, a variable, and servers that nobody may reach."""
    folder.mkdir(parents=True)
    watch = Watch(folder)
    watch.secret.parent.mkdir()
    watch.secret.write_text(f"{SECRET}\n")
    os.environ["CANARY"] = SECRET
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        watch.port = tcp.getsockname()[1]
        unix.bind(str(watch.socket))
        unix.listen()

        def listen(server: socket.socket, name: str) -> None:
            server.settimeout(0.2)
            while not over.is_set():
                with suppress(TimeoutError, OSError):
                    server.accept()[0].close()
                    watch.knocks.append(name)

        threads = [threading.Thread(target=listen, args=pair) for pair in ((tcp, "tcp"), (unix, "unix"))]
        for thread in threads:
            thread.start()
        try:
            yield watch
        finally:
            over.set()
            for thread in threads:
                thread.join()
            os.environ.pop("CANARY", None)


@dataclass
class Classroom:
    """A course with one lab of slots, graded student by student."""

    root: Path
    slots: Sequence[str]
    settings: str = ""

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True)
        self.course = Course(self.root)
        self.log = self.root.parent / "log"
        text = (ROOT / CONFIG).read_text(encoding="utf-8")
        (self.root / CONFIG).write_text(f"{text}\n{self.settings}\n", encoding="utf-8")
        source = self.course.folder("source", LAB) / f"{LAB}.ipynb"
        source.parent.mkdir(parents=True)
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        cells = [new_markdown_cell("## A. **Slots**"), new_code_cell(IMPORTS)]
        for number, check in enumerate(self.slots):
            cells += [_answer(number), _graded(number, check)]
        nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), source)
        self.course.generate_assignment(LAB, self.log)
        self.released = nbformat.read(self.course.folder("release", LAB) / f"{LAB}.ipynb", as_version=4)

    def hand_in(self, student: str, attacks: Sequence[Attack | None]) -> Path:
        """A submission with an attack in each slot for which there is one; other slots are deleted.

        Their graded cells come back when it is graded, and earn what there is for them in the kernel.
        """
        notebook = copy.deepcopy(self.released)
        cells, rest = notebook.cells[:2], notebook.cells[2:]
        for number, attack in enumerate(attacks):
            if attack is None:
                continue
            answer, graded = rest[2 * number : 2 * number + 2]
            assert self.slots[number] == attack.check
            answer.source = attack.source
            cells += [answer, graded, *([new_code_cell(attack.after)] if attack.after else ())]
        notebook.cells = cells + [cell for attack in attacks if attack for cell in attack.cells]
        path = self.course.folder("submitted", LAB, student) / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True)
        for attack in filter(None, attacks):
            if attack.change:
                attack.change(notebook)
        path.write_text(json.dumps(notebook), encoding="utf-8")  # as it is: nbformat would mend it
        for attack in filter(None, attacks):
            if attack.files:
                attack.files(path.parent)
        return path

    @contextmanager
    def grading(self) -> Iterator[None]:
        """As in `autograder grade`: one judge sits for all, and kernels are forks of one process."""
        with warm_grader(self.root, self.course.config):
            yield

    def grade(self, student: str) -> str:
        """Grade a student and write the feedback; returns why that could not be done, where it could not."""
        try:
            self.course.autograde(LAB, student, self.log)
            self.course.generate_feedback(LAB, student, self.log)
        except CourseError:
            return self.log.read_text(encoding="utf-8")
        return ""

    def points(self, student: str) -> list[float]:
        """Points by slot. A written answer, or one that nobody has judged, is none."""
        with self.course.gradebook() as gradebook:
            (notebook,) = gradebook.find_submission(LAB, student).notebooks
            grades = {grade.name: grade for grade in notebook.grades}
            return [float(grades[f"slot-{n}"].score) for n in range(len(self.slots))]

    def rows(self, student: str) -> list[tuple[Any, ...]]:
        """All that the gradebook says of a student's grades."""
        with self.course.gradebook() as gradebook:
            submission = gradebook.find_submission(LAB, student)
            (notebook,) = submission.notebooks
            grades = [
                (g.name, g.auto_score, g.manual_score, g.extra_credit, g.needs_manual_grade)
                for g in notebook.grades
            ]
            comments = [(c.name, c.auto_comment, c.manual_comment) for c in notebook.comments]
            return [(submission.score, submission.timestamp), *sorted(grades), *sorted(comments)]

    def files(self, student: str) -> dict[str, bytes]:
        """What was written for a student: the autograded folder and the feedback."""
        folders = [self.course.folder(step, LAB, student) for step in ("autograded", "feedback")]
        return {
            str(path): path.read_bytes()
            for folder in folders
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }

    def page(self, student: str) -> str:
        """The feedback as it was written."""
        return (self.course.folder("feedback", LAB, student) / f"{LAB}.html").read_text(encoding="utf-8")

    def feedback(self, student: str) -> str:
        """The words of what a student gets to read."""
        return html.unescape(re.sub(r"<[^>]*>", "", self.page(student).partition("<body")[2]))

    def elsewhere(self) -> dict[str, tuple[int, float]]:
        """The files of the course that grading a submission has no business to change."""
        ours = ("autograded", "feedback", "gradebook.db")
        return {
            str(path): (path.lstat().st_size, path.lstat().st_mtime)
            for path in sorted(self.root.rglob("*"))
            if path.relative_to(self.root).parts[0] not in ours and stat.S_ISREG(path.lstat().st_mode)
        }


def honest(slots: Sequence[str]) -> list[Attack | None]:
    """Right answers, where the class has one for a slot."""
    return [Attack("nothing", RIGHT[check], check) if check in RIGHT else None for check in slots]


def _answer(number: int) -> NotebookNode:
    cell = new_code_cell("### BEGIN SOLUTION\n...\n### END SOLUTION")
    cell.metadata["nbgrader"] = {**_TAGS, "solution": True, "grade_id": f"answer-{number}"}
    return cell


def _graded(number: int, check: str) -> NotebookNode:
    cell = new_code_cell(CALLS[check])
    worth = next(c.worth for c in lab18.CHECKS if c.name == check)
    about = {"grade": True, "locked": True, "grade_id": f"slot-{number}", "points": worth}
    cell.metadata["nbgrader"] = {**_TAGS, **about}
    return cell
