"""The course as its own notebooks tell it: lessons and labs in order, their titles, minutes and reps."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lastgood.workspace import LABS, LESSONS, WORK, lab_notebook, labs

_TITLE = re.compile(r"^# (?:Lesson|Lab) (?P<number>\d\d)\. (?P<title>.+)$", re.MULTILINE)
_TIME = re.compile(r"\*\*Time(?:\.\*\*|\*\*:) (?:[Aa]bout )?(?P<minutes>\d+(?: to \d+)?) minutes")
_REPS = re.compile(r"^## Real-world reps\n(?P<list>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_REP = re.compile(r"^- \[[ xX]\] (?P<text>.+(?:\n  +\S.*)*)", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\([^)\s]*\)")
_PAUSE = re.compile(r"(?<=[.?!:]) ")
_MARKUP = re.compile(r"[*`$]")


class OutlineError(Exception):
    """A lesson or lab is not there, or its notebook cannot be read; the message says which."""


@dataclass(frozen=True)
class Rep:
    """Something to do in the world, as the lesson asks for it, without its links' addresses."""

    text: str

    @cached_property
    def key(self) -> str:
        """What it is known by: another wording is another rep."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]

    @property
    def label(self) -> str:
        """How it begins, up to the end of a sentence or a colon, except one after its first word."""
        begun, *more = _PAUSE.split(_MARKUP.sub("", self.text))
        begun = f"{begun} {more[0]}" if more and " " not in begun else begun
        return begun.removesuffix(":")


@dataclass(frozen=True)
class Stage:
    """A lesson or a lab.

    Attributes:
        kind: "lesson" or "lab".
        number: two digits.
        title: without kind and number.
        minutes: as it says itself, "25" or "60 to 90".
        notebook: as shipped, relative to the course's root.
        copy: the learner's copy, relative to the course's root.
        reps: of a lesson.
    """

    kind: str
    number: str
    title: str
    minutes: str
    notebook: Path
    copy: Path
    reps: tuple[Rep, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.kind} {self.number}"

    @property
    def lab(self) -> str:
        """What a lab is filed under."""
        return f"lab{self.number}"


def outline(root: Path) -> list[Stage]:
    """The lessons and labs of the course at `root`, each lab after its lesson.

    A lesson is a notebook that says how long it takes; the welcome does not. Raises OutlineError.
    """
    lessons = [
        stage
        for path in sorted((root / LESSONS).glob("[0-9][0-9]_*.ipynb"))
        if (stage := _stage("lesson", root, path.relative_to(root), WORK / "lessons" / path.name))
    ]
    found = [_stage("lab", root, LABS / name / f"{name}.ipynb", lab_notebook(name)) for name in labs(root)]
    every = lessons + [stage for stage in found if stage]
    return sorted(every, key=lambda stage: (stage.number, stage.kind == "lab"))


def _stage(kind: str, root: Path, notebook: Path, copy: Path) -> Stage | None:
    text = _markdown(root / notebook)
    title, time, section = _TITLE.search(text), _TIME.search(text), _REPS.search(text)
    if title is None or time is None:
        return None
    texts = [rep["text"] for rep in _REP.finditer(section["list"])] if section else []
    reps = tuple(Rep(" ".join(_LINK.sub(r"\1", text).split())) for text in texts)
    return Stage(kind, title["number"], title["title"], time["minutes"], notebook, copy, reps)


def _markdown(path: Path) -> str:
    return "\n\n".join(text for _, text in markdown_cells(path))


def markdown_cells(path: Path) -> list[tuple[int, str]]:
    """The texts of a notebook, each with its cell's number, from 1. Raises OutlineError.

    Not with nbformat, whose import takes longer than all else here.
    """
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        # A cell's source is one text or a list of lines.
        return [
            (number, "".join(cell["source"]))
            for number, cell in enumerate(cells, start=1)
            if cell["cell_type"] == "markdown"
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OutlineError(
            f"{path} cannot be read as a notebook ({type(error).__name__}: {error}). "
            "Get a fresh copy of the course."
        ) from error
