"""A made-up class: submissions of a lab as learners would hand them in, and what each must be graded.

Each student hands in the *released* notebook with a variant's code written into it. So a cell's metadata, its
checksum too, is what a learner's file has.
"""

import copy
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from nbformat import NotebookNode

from autograder.mutants import Variant, patched, variants
from autograder.notebooks import grade_id, master_notebook, to_bytes

MARKERS = ("### BEGIN SOLUTION", "### END SOLUTION")
RIGHT, BLANK, ENDLESS = "right", "blank", "endless"
_TIMESTAMP = "%Y-%m-%d %H:%M:%S.%f %Z"  # nbgrader's own format


class SampleError(ValueError):
    """A variant's notebook and the released one do not fit together."""


@dataclass(frozen=True)
class Student:
    """Someone who hands in a variant of the master, or the release as it is.

    `loses` maps the grade_id of a checking cell to the points that must be lost there, None to all of every
    one. `answers` are for the written questions, in order; without them these stay blank.
    """

    name: str
    variant: Variant | None
    loses: Mapping[str, float] | None = field(default_factory=dict)
    answers: tuple[str, ...] = ()


NEVER_ENDS = Variant(
    ENDLESS,
    "it is still thinking",
    (
        (
            "    return torch.ones(length, length, dtype=torch.bool).tril()\n",
            "    while True:\n        pass\n",
        ),
    ),
    {"check-causal-mask": 2},
)
_CHOSEN = (
    "by-hand",
    "no-optimizer-state",
    "no-rng",
    "references",
    "written-in-place",
    "stash-in-a-global",
    "mask-off-by-one",
)
_LONG = (
    "A smooth curve only shows that training goes on. The moments and the step are gone, so the next updates "
    "are other ones. I would resume in a fresh process and compare every loss with the run that went on.",
    "I keep the last three and one a day. The newest may be torn, or saved after the run went bad. I delete "
    "one only when a newer one was read back.",
)
_SHORT = ("If the loss is fine, the checkpoint is fine.", "One, to save room.")


def lab18_class() -> tuple[Student, ...]:
    """Lab 18's sample class. The longest to grade comes first, so that the others are graded meanwhile."""
    known = {variant.name: variant for variant in variants("lab18")}
    answers = (_LONG, _SHORT, ())
    chosen = [
        Student(name, known[name], known[name].loses, answers[number % len(answers)])
        for number, name in enumerate(_CHOSEN)
    ]
    return (
        Student(ENDLESS, NEVER_ENDS, NEVER_ENDS.loses, _SHORT),
        Student(RIGHT, Variant(RIGHT, "the master's own code", ()), {}, _LONG),
        Student(BLANK, None, None),
        *chosen,
    )


def submission(released: NotebookNode, master: str, student: Student) -> NotebookNode:
    """The notebook that a student hands in. `master` is the lab's master in py:percent form.

    Raises SampleError where the variant's cells are not the release's, VariantError where its patch is stale.
    """
    handed_in = copy.deepcopy(released)
    if student.variant is not None:
        _write_code(handed_in, master, student.variant)
    for cell, answer in zip(_written(handed_in), student.answers, strict=False):
        cell.source = answer
    return handed_in


def hand_in(folder: Path, lab: str, notebook: NotebookNode, when: datetime) -> Path:
    """Put a submission where nbgrader collects them: `folder` is the student's. Returns the notebook's path.

    The two text files are what nbgrader's `submit` leaves; without them it can release no feedback.
    """
    (folder / lab).mkdir(parents=True)
    (folder / lab / "timestamp.txt").write_text(when.strftime(_TIMESTAMP))
    (folder / lab / "submission_secret.txt").write_text(secrets.token_hex(64))
    path = folder / lab / f"{lab}.ipynb"
    path.write_bytes(to_bytes(notebook))
    return path


def _write_code(handed_in: NotebookNode, master: str, variant: Variant) -> None:
    """Write a variant's code where a learner may: into solutions and other cells that are not locked."""
    written = {cell.id: cell.source for cell in master_notebook(patched(master, variant)).cells}
    if [cell.id for cell in handed_in.cells] != list(written):
        raise SampleError(f"{variant.name}: its cells are not those of the release")
    for cell in handed_in.cells:
        if cell.cell_type != "code":
            continue
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = _without_markers(written[cell.id])
        elif grade_id(cell) is None:
            cell.source = written[cell.id]


def _without_markers(source: str) -> str:
    return "\n".join(line for line in source.split("\n") if line.strip() not in MARKERS)


def _written(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells of the questions that are answered in words."""
    return [
        cell
        for cell in notebook.cells
        if cell.cell_type == "markdown" and cell.metadata.get("nbgrader", {}).get("solution")
    ]
