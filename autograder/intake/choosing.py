"""Which of the files that were handed in is the notebook that is meant, and what is said of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from nbformat import NotebookNode

from autograder.intake.folder import Folder
from autograder.intake.matching import Match, match
from autograder.intake.reading import Handed, ReadingError, notebook_in
from autograder.intake.rebuilding import rebuilt, untouched
from autograder.intake.released import Released
from autograder.intake.words import listed, shown

CANDIDATES: Final = 8  # notebooks of a submission that are read
_ARCHIVE: Final = re.compile(r"\.(zip|7z|rar|tar|tgz|gz|bz2|xz)$", re.IGNORECASE)
_NOT_LIKE: Final = 4  # how `_unlike` calls a name with nothing of the expected one
Elsewhere = Callable[[frozenset[str]], str]  # grade_ids → the lab that has most of them; empty for none


@dataclass(frozen=True)
class Taken:
    """What is graded in the place of a released notebook.

    Where nothing that was handed in could be read it is the release itself, not `handed_in`, and `notes`
    say why and what to do.
    """

    notebook: NotebookNode
    notes: tuple[str, ...]
    handed_in: bool


@dataclass(frozen=True)
class _Candidate:
    name: str
    match: Match
    notes: tuple[str, ...]


class Chooser:
    """Finds the notebooks of one submission. Each file is read at most once."""

    def __init__(self, folder: Folder, wanted: Mapping[str, Released], elsewhere: Elsewhere) -> None:
        self._folder, self._wanted, self._elsewhere = folder, wanted, elsewhere
        self._read: dict[str, Handed | str] = {}
        self._used: set[str] = {book.file for book in wanted.values()}
        self._asked: set[str] = set()
        self._graded: list[str] = []
        self._explained: set[str] = set()

    def take(self, released: Released) -> Taken:
        """The notebook in the place of `released`."""
        faults: dict[str, str] = {}
        found: list[_Candidate] = []
        for name in self._candidates(released):
            candidate = self._candidate(name, released)
            if isinstance(candidate, str):
                faults[name] = candidate
            else:
                found.append(candidate)
                if name == released.file and candidate.match.answered:
                    break  # whatever else there is, this is meant
        self._asked.add(released.file)
        if not found:
            self._explained.update(faults)
            return Taken(untouched(released), tuple(self._nothing(released, faults)), False)
        best = max(found, key=lambda one: (bool(one.match.answered), -found.index(one)))
        self._used.add(best.name)
        self._graded.append(best.name)
        self._explained.update({released.file}.intersection(faults))
        notebook, notes = rebuilt(best.match)
        about = self._about(released, best, faults)
        return Taken(notebook, (*about, *best.notes, *notes), True)

    def rest(self) -> str:
        """A sentence on notebooks that were not graded, once all were chosen; empty where there are none."""
        passed = self._explained | {book.file for book in self._wanted.values()} - self._asked
        others = [
            name
            for name in self._folder.notebooks
            if PurePath(name).suffix.lower() == ".ipynb" and name not in {*self._graded, *passed}
        ]
        if not others or not self._graded:
            return ""
        count = len(self._graded) + len(others)
        many = {2: "Two", 3: "Three"}.get(count, str(count))
        was, were = ("was" if len(names) == 1 else "were" for names in (self._graded, others))
        graded = f"{listed(self._graded)} {was} graded"
        return f"{many} notebooks were handed in: {graded}, {listed(others)} {were} not."

    def _candidates(self, released: Released) -> list[str]:
        """Files that may be meant: by that name, by one like it, then all others; nearest first."""
        names = [name for name in self._folder.notebooks if name == released.file or name not in self._used]
        return sorted(names, key=lambda name: _unlike(name, released))[:CANDIDATES]

    def _candidate(self, name: str, released: Released) -> _Candidate | str:
        """The notebook in a file, or what is wrong with it."""
        if name not in self._read:
            try:
                self._read[name] = notebook_in(self._folder.root / name)
            except ReadingError as error:
                self._read[name] = str(error)
        handed = self._read[name]
        if isinstance(handed, str):
            return handed
        made = match(handed.cells, released)
        if lab := self._other_lab(made):
            return f"is of {shown(lab)}. Hand in {released.file} of this one."
        if not made.recognised:
            advice = f"Copy your answers into a fresh {released.file} and hand that in."
            return f"holds no cell that is graded here. {advice}"
        return _Candidate(name, made, handed.notes)

    def _other_lab(self, made: Match) -> str:
        claims = frozenset(made.cells[at].claim for at in made.unknown)
        ours = sum(cell.claim in made.released.places for cell in made.cells)
        return self._elsewhere(claims) if len(claims) > ours else ""

    def _about(self, released: Released, best: _Candidate, faults: Mapping[str, str]) -> Iterator[str]:
        """Sentences on which file was graded, where that is not plain."""
        if best.name != released.file:
            if released.file in faults:
                yield f"{released.file} {faults[released.file]}"
            if self._has(released.file) and released.file not in faults:
                yield f"{released.file} holds no answers, so {shown(best.name)} was graded in its place."
            else:
                yield f"{shown(best.name)} was graded as {released.file}."

    def _nothing(self, released: Released, faults: Mapping[str, str]) -> Iterator[str]:
        """Why nothing could be read, and what to do."""
        if self._folder.fault:
            yield f"{self._folder.fault} Hand in a folder with {released.file} in it."
        refused = {name: why for name, why in self._folder.refused if _unlike(name, released)[1] < _NOT_LIKE}
        for name, fault in faults.items():
            yield f"{shown(name)} {fault}"
        for name, why in refused.items():
            yield f"{shown(name)} is {why}. Hand in the notebook itself."
        if not (faults or refused or self._folder.fault):
            names = self._folder.names
            only = f", only {listed(names)}" if names else ": the folder is empty"
            advice = "Unpack it and hand in" if any(map(_ARCHIVE.search, names)) else "Hand in"
            yield f"{released.file} was not handed in{only}. {advice} {released.file} itself."
        yield "Nothing was graded: each exercise has 0 points."

    def _has(self, name: str) -> bool:
        return name in self._folder.notebooks


def _unlike(name: str, released: Released) -> tuple[int, int, str]:
    """How far a file's name is from the one that is expected, for sorting: folders, likeness, the name."""
    file = PurePath(name).name
    like = (
        name == released.file,
        file.lower() == released.file.lower(),
        _plain(file).startswith(_plain(released.name)),
        _plain(released.name) in _plain(file),
        True,
    )
    return (0 if name == released.file else 1 + name.count(os.sep), like.index(True), name)


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))
