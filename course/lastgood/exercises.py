"""The exercises of a lab: their parts, names and hints as its released notebook has them, their solutions as
its master has them.

Both are read as JSON, without nbformat, whose import takes longer than all else here.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from lastgood.workspace import LABS

SOLUTIONS = Path("solutions")

_PART = re.compile(r"^## (?P<letter>[A-Z])\. ")
_HEADING = re.compile(r"^#{2,} +(?P<text>.+?) *$")
_DEFINES = re.compile(r"^(?:async +def|def|class) +(\w+)", re.MULTILINE)
_HINT = re.compile(r"<details>\s*<summary>(?P<title>Hint[^<]*)</summary>(?P<text>.*?)</details>", re.DOTALL)
_TASK = re.compile(r"^\*\*(?:Write|Question)\b", re.MULTILINE)
_MARKING = re.compile(r"\*A point each:.*?\*(?=\n\n|\Z)", re.DOTALL)
SOLUTION_MARKER = re.compile(r"^[ \t]*### (?:BEGIN|END) SOLUTION[ \t]*\n?", re.MULTILINE)

Cell = dict[str, Any]


class ExerciseError(Exception):
    """There is no such exercise, or its notebook cannot be read; the message says what there is."""


@dataclass(frozen=True)
class Hint:
    """A hint as the lab folds it away: its title, such as "Hint 2", and its Markdown."""

    title: str
    text: str


@dataclass(frozen=True)
class Exercise:
    """Something to write, and what is graded of it.

    Attributes:
        part: the part's letter and its number in there, "C1"; "1" before the first part.
        alone: no other exercise is in that part, so that its letter says enough.
        title: the heading that it stands under; of a written answer, "Question 1".
        functions: what its cells define, in order; none where the answer is written.
        cells: the grade_ids of its cells, in order; the last one is graded.
        task: what is asked, as Markdown, without the hints.
        hints: from the gentlest on.
    """

    part: str
    alone: bool
    title: str
    functions: tuple[str, ...]
    cells: tuple[str, ...]
    task: str
    hints: tuple[Hint, ...]

    @property
    def name(self) -> str:
        """What to type for it."""
        return self.functions[0] if self.functions else self.cells[0]

    @property
    def graded(self) -> str:
        """The grade_id under which its points are kept."""
        return self.cells[-1]

    @cached_property
    def names(self) -> frozenset[str]:
        """All that it answers to, as `_plain` has it."""
        letter = (self.part[:1],) if self.alone else ()
        every = (self.part, *letter, self.title, *self.functions, *self.cells)
        return frozenset(map(_plain, every)) - {""}


@dataclass(frozen=True)
class Solution:
    """How the master solves an exercise.

    Attributes:
        cells: kinds and sources, such as `("code", "def …")`.
        marking: what an answer in words has its points for, as Markdown; empty where a check gives them.
    """

    cells: tuple[tuple[str, str], ...]
    marking: str


def exercises(root: Path, lab: str) -> list[Exercise]:
    """The exercises of a lab that the course at `root` ships, in order. Raises ExerciseError."""
    found = list(_drafts(cells_of(root / LABS / lab / f"{lab}.ipynb")))
    return [_exercise(found, at) for at in range(len(found))]


def find(found: Sequence[Exercise], text: str, lab: str) -> Exercise:
    """The exercise that `text` means: a function's name, a part such as "C2", a grade_id, a title.

    Raises ExerciseError where it means none or several; the message lists what there is.
    """
    wanted = _plain(text)
    meant = [exercise for exercise in found if wanted in exercise.names]
    if not meant and len(wanted) > 2:
        meant = [exercise for exercise in found if any(name.startswith(wanted) for name in exercise.names)]
    if len(meant) == 1:
        return meant[0]
    number = lab.removeprefix("lab")
    meant = meant or [exercise for exercise in found if exercise.part[:1].casefold() == wanted]
    if meant:
        raise ExerciseError(f"{text!r} could be several exercises of lab {number}:\n{listed(meant)}")
    close = get_close_matches(wanted, {name for exercise in found for name in exercise.names}, 1)
    guess = next((exercise.name for exercise in found if close and close[0] in exercise.names), None)
    perhaps = f" Did you mean {guess}?" if guess else ""
    raise ExerciseError(f"Lab {number} has no exercise {text!r}.{perhaps} Its exercises:\n{listed(found)}")


def listed(found: Sequence[Exercise]) -> str:
    """The exercises in lines: part, what to type, and the heading to look for."""
    names = [", ".join(exercise.functions) or exercise.name for exercise in found]
    width = max(map(len, names), default=0)
    return "\n".join(
        f"  {exercise.part:<3} {name:<{width}}  {exercise.title}"
        for exercise, name in zip(found, names, strict=True)
    )


def solution(root: Path, lab: str, exercise: Exercise) -> Solution:
    """How the lab's master solves it. Raises ExerciseError where there is no master, or none of that."""
    path = root / SOLUTIONS / lab / f"{lab}.ipynb"
    if not path.is_file():
        raise ExerciseError(
            f"This copy of the course has no solution of {lab}: {SOLUTIONS / lab / path.name} is not there. "
            "Who teaches a class may leave the solutions out. `lastgood hint` works without them."
        )
    cells = cells_of(path)
    places = [at for at, cell in enumerate(cells) if grade_id(cell) in exercise.cells]
    written = [cells[at] for at in places if marks(cells[at]).get("solution")]
    if not written:
        raise ExerciseError(f"{SOLUTIONS / lab / path.name} has no cell {exercise.cells[0]}, and should.")
    shown = tuple((cell["cell_type"], SOLUTION_MARKER.sub("", source(cell)).strip()) for cell in written)
    below = source(cells[places[-1] + 1]) if places[-1] + 1 < len(cells) else ""
    scheme = _MARKING.match(below)
    return Solution(shown, scheme[0].strip() if scheme else "")


def cells_of(path: Path) -> list[Cell]:
    """The cells of a notebook of the course. Raises ExerciseError."""
    try:
        return [dict(cell) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ExerciseError(
            f"{path} cannot be read as a notebook ({type(error).__name__}: {error}). "
            "Get a fresh copy of the course."
        ) from error


def source(cell: Cell) -> str:
    """A cell's text, which is one text or a list of lines."""
    text = cell.get("source")
    return "".join(part for part in text if isinstance(part, str)) if isinstance(text, str | list) else ""


def marks(cell: Cell) -> Cell:
    """What a cell says of itself to nbgrader, if it does."""
    metadata = cell.get("metadata")
    found = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def grade_id(cell: Cell) -> str:
    """The name that nbgrader knows a cell by, or none."""
    found = marks(cell).get("grade_id")
    return found if isinstance(found, str) else ""


@dataclass
class _Draft:
    """What stands in a lab from one graded cell to the next."""

    letter: str
    title: str
    text: str
    cells: list[Cell]


def _drafts(cells: Sequence[Cell]) -> Iterator[_Draft]:
    letter = title = ""
    texts: list[str] = []
    answers: list[Cell] = []
    for cell in cells:
        if grade_id(cell):
            answers.append(cell)
        elif cell["cell_type"] == "markdown":
            texts.append(source(cell))
            for line in source(cell).splitlines():
                part, heading = _PART.match(line), _HEADING.match(line)
                letter = part["letter"] if part else letter
                title = heading["text"] if heading else title
        if marks(cell).get("grade"):
            yield _Draft(letter, title, "\n\n".join(texts), answers)
            texts, answers = [], []


def _exercise(drafts: Sequence[_Draft], at: int) -> Exercise:
    draft = drafts[at]
    number = sum(one.letter == draft.letter for one in drafts[: at + 1])
    # Exercises that share their text, as three runs of one table do, share its hints.
    texts = (one.text for one in reversed(drafts[: at + 1]) if one.title == draft.title and one.text)
    text = next(texts, "")
    begins = [match.start() for match in _TASK.finditer(text)]
    task = _HINT.sub("", text[begins[-1] if begins else 0 :]).strip()
    code = [
        source(cell) for cell in draft.cells if cell["cell_type"] == "code" and marks(cell).get("solution")
    ]
    question = re.match(r"\*\*(Question(?: \d+)?)\.", task)
    return Exercise(
        f"{draft.letter}{number}",
        Counter(one.letter for one in drafts)[draft.letter] == 1,
        question[1] if question else draft.title,
        tuple(name for text in code for name in _DEFINES.findall(text)),
        tuple(grade_id(cell) for cell in draft.cells),
        task,
        tuple(Hint(hint["title"].strip(), hint["text"].strip()) for hint in _HINT.finditer(text)),
    )


def _plain(text: str) -> str:
    """A name without what people add to it or leave out of it: brackets, `check.`, case, dashes."""
    bare = re.sub(r"\(.*", "", text.strip().strip("`"), flags=re.DOTALL)
    bare = bare.removeprefix("check.").partition(".")[0]
    return re.sub(r"[\W_]+", "", bare).casefold()
