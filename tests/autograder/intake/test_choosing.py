"""Which file is which notebook, where a lab has two or a folder holds many."""

from dataclasses import replace
from pathlib import Path

import pytest

from autograder.intake import Taken, choosing, reading, take_in
from autograder.intake.choosing import CANDIDATES
from autograder.intake.reading import Handed
from autograder.intake.released import Released, released

from .small_lab import LAB, Json, answered, as_released, at, code, marks, release, write

NAMES = {"double": "triple", "check-double": "check-triple"}


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Released]:
    """The small lab's notebook, and a second one, which only the gradebook has."""
    known = marks()
    others = {new: replace(known[old], grade_id=new) for old, new in NAMES.items()}
    first = as_released(tmp_path_factory.mktemp("release"))
    return {LAB: first, "triple": released("triple", None, others)}


def triple() -> Json:
    """An answered second notebook."""
    made = answered()
    made["cells"] = [at(made, name) for name in NAMES]
    for cell in made["cells"]:
        cell["metadata"]["nbgrader"]["grade_id"] = cell["id"] = NAMES[cell["id"]]
    return made


def both(folder: Path, wanted: dict[str, Released]) -> list[Taken]:
    return list(take_in(folder, wanted, lambda claims: "").values())


def test_each_file_is_graded_as_its_own(tmp_path: Path, wanted: dict[str, Released]) -> None:
    write(tmp_path, answered())
    write(tmp_path, triple(), "triple.ipynb")
    assert [(one.handed_in, one.notes) for one in both(tmp_path, wanted)] == [(True, ()), (True, ())]


def test_one_that_is_missing_leaves_the_other_alone(tmp_path: Path, wanted: dict[str, Released]) -> None:
    write(tmp_path, answered())
    first, second = both(tmp_path, wanted)
    assert (first.handed_in, first.notes, second.handed_in) == (True, (), False)
    assert second.notes[0].startswith(f"triple.ipynb was not handed in, only {LAB}.ipynb.")


def test_a_renamed_one_is_found_by_its_cells(tmp_path: Path, wanted: dict[str, Released]) -> None:
    write(tmp_path, answered())
    write(tmp_path, triple(), "Untitled.ipynb")
    assert both(tmp_path, wanted)[1].notes == ("Untitled.ipynb was graded as triple.ipynb.",)


def test_of_one_that_is_asked_for_alone_nothing_is_said_of_the_other(
    tmp_path: Path, wanted: dict[str, Released]
) -> None:
    write(tmp_path, answered())
    write(tmp_path, triple(), "triple.ipynb")
    made = take_in(tmp_path, wanted, lambda claims: "", ["triple"])
    assert {name: taken.notes for name, taken in made.items()} == {"triple": ()}


def test_of_many_files_the_nearest_by_name_are_read(tmp_path: Path, wanted: dict[str, Released]) -> None:
    for number in range(3 * CANDIDATES):
        write(tmp_path, {"cells": [code("1")]}, f"a{number}.ipynb")
    write(tmp_path, answered(), f"my {LAB}.ipynb")
    notes = both(tmp_path, {LAB: wanted[LAB]})[0].notes
    assert notes[0] == f"my {LAB}.ipynb was graded as {LAB}.ipynb."
    assert notes[1].startswith(f"{3 * CANDIDATES + 1} notebooks were handed in")


def test_a_good_notebook_beside_a_broken_one_of_the_right_name_is_graded(
    tmp_path: Path, wanted: dict[str, Released]
) -> None:
    write(tmp_path, {}).write_bytes(b"")
    write(tmp_path, answered(), f"{LAB} (1).ipynb")
    made = both(tmp_path, {LAB: wanted[LAB]})[0]
    assert made.handed_in
    empty, graded = made.notes  # and no third that says again that the first was not graded
    assert empty.startswith(f"{LAB}.ipynb is empty.")
    assert graded == f"{LAB} (1).ipynb was graded as {LAB}.ipynb."


def test_where_none_holds_an_answer_the_right_name_counts(
    tmp_path: Path, wanted: dict[str, Released]
) -> None:
    write(tmp_path, release())
    write(tmp_path, release(), "a.ipynb")
    made = both(tmp_path, {LAB: wanted[LAB]})[0]
    assert made.notes == (f"Two notebooks were handed in: {LAB}.ipynb was graded, a.ipynb was not.",)


def test_two_that_are_renamed_are_both_graded_and_a_third_is_named(
    tmp_path: Path, wanted: dict[str, Released]
) -> None:
    write(tmp_path, answered(), f"ada {LAB}.ipynb")
    write(tmp_path, triple(), "ada triple.ipynb")
    assert [len(one.notes) for one in both(tmp_path, wanted)] == [1, 1]
    write(tmp_path, answered(), "zzz.ipynb")
    said = both(tmp_path, wanted)[0].notes[-1]
    graded = f"ada {LAB}.ipynb and ada triple.ipynb were graded"
    assert said == f"Three notebooks were handed in: {graded}, zzz.ipynb was not."


def test_where_the_right_name_holds_answers_no_other_file_is_read(
    tmp_path: Path, wanted: dict[str, Released], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def notebook_in(path: Path) -> Handed:
        read.append(path.name)
        return reading.notebook_in(path)

    monkeypatch.setattr(choosing, "notebook_in", notebook_in)
    write(tmp_path, answered())
    write(tmp_path, answered(), "a.ipynb")
    both(tmp_path, {LAB: wanted[LAB]})
    assert read == [f"{LAB}.ipynb"]
