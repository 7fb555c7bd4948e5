"""Which of the files that were handed in is the notebook that is meant, and what is said of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
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
        if not found:
            return Taken(untouched(released), tuple(self._nothing(released, faults)), False)
        best = max(found, key=lambda one: (bool(one.match.answered), -found.index(one)))
        self._used.add(best.name)
        notebook, notes = rebuilt(best.match)
        about = self._about(released, best, found, faults)
        return Taken(notebook, (*about, *best.notes, *notes), True)

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

    def _about(
        self, released: Released, best: _Candidate, found: Sequence[_Candidate], faults: Mapping[str, str]
    ) -> Iterator[str]:
        """Sentences on which file was graded, where that is not plain."""
        if best.name != released.file:
            if released.file in faults:
                yield f"{released.file} {faults[released.file]}"
            if self._has(released.file) and released.file not in faults:
                yield f"{released.file} holds no answers, so {shown(best.name)} was graded in its place."
            else:
                yield f"{shown(best.name)} was graded as {released.file}."
        expected = {book.file for book in self._wanted.values()}
        others = [name for name in self._folder.notebooks if name not in {best.name, *expected, *self._used}]
        others += [one.name for one in found if one.name == released.file != best.name]
        others = [name for name in dict.fromkeys(others) if PurePath(name).suffix.lower() == ".ipynb"]
        if others and (released.name == min(self._wanted) or len(self._wanted) == 1):
            many = {1: "Two", 2: "Three"}.get(len(others), str(len(others) + 1))
            verb = "was" if len(others) == 1 else "were"
            graded = shown(best.name)
            yield f"{many} notebooks were handed in: {graded} was graded, {listed(others)} {verb} not."

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
