"""Each odd submission becomes a notebook that can be graded, and sentences that say what was odd."""

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.nbgraderformat import MetadataValidator

from autograder.intake import Taken, rebuilding, take_in
from autograder.intake.reading import notebook_in
from autograder.intake.released import Released
from autograder.intake.released import released as as_of

from .odd import ODD
from .small_lab import LAB, RIGHT, answered, as_released, at, code, marks, release, write

ROUNDS = 12  # with each seed
_NAN = float("nan")
ODD_VALUES = (
    None,
    True,
    -1,
    1e300,
    _NAN,
    "",
    "\ud83d",
    "x" * 300,
    [],
    [[]],
    ["a", 1],
    {},
    {"": 0},
    {"grade_id": 3},
)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Released:
    return as_released(tmp_path_factory.mktemp("release"))


def taken(folder: Path, released: Released, lab: str = "") -> Taken:
    return take_in(folder, {LAB: released}, lambda claims: lab)[LAB]


def well_formed(made: Taken, released: Released) -> None:
    """The notebook is valid, and each cell that nbgrader knows stands in it once, as released."""
    nbformat.validate(made.notebook)
    MetadataValidator().validate_nb(made.notebook)
    json.dumps(made.notebook, ensure_ascii=False, allow_nan=False).encode()
    json.dumps(made.notes, ensure_ascii=False).encode()
    cells = [cell for cell in made.notebook.cells if "nbgrader" in cell.metadata]
    assert sorted(cell.metadata.nbgrader.grade_id for cell in cells) == sorted(released.places)
    for cell in cells:
        ours = released.cells[released.places[cell.metadata.nbgrader.grade_id]]
        assert cell.metadata == ours.metadata
        assert cell.cell_type == ours.kind
        assert cell.metadata.nbgrader.solution or cell.source == ours.source
        assert cell.id == ours.id
    ids = [cell.id for cell in made.notebook.cells]
    assert len(set(ids)) == len(ids)
    assert all(set(cell.metadata) <= {"nbgrader", "tags"} for cell in made.notebook.cells)


@pytest.mark.parametrize("name", ODD)
def test_an_odd_submission_is_graded_or_explained(name: str, tmp_path: Path, released: Released) -> None:
    odd = ODD[name]
    odd.hand_in(tmp_path / name)
    made = taken(tmp_path / name, released)
    well_formed(made, released)
    said = "\n".join(made.notes)
    assert [part for part in odd.says if part not in said] == []
    assert bool(made.notes) == bool(odd.says)
    assert made.handed_in == odd.graded


def test_an_honest_notebook_comes_out_as_it_was_handed_in(tmp_path: Path, released: Released) -> None:
    write(tmp_path, answered())
    cells = taken(tmp_path, released).notebook.cells
    assert [(c.id, c.source) for c in cells] == [(c["id"], c["source"]) for c in answered()["cells"]]


def test_where_nothing_can_be_read_the_release_stands_in_its_place(
    tmp_path: Path, released: Released
) -> None:
    made = taken(tmp_path, released)
    assert [c.source for c in made.notebook.cells] == [c["source"] for c in release()["cells"]]


@pytest.mark.parametrize("seed", range(4))
def test_no_damage_to_the_bytes_raises(seed: int, tmp_path: Path, released: Released) -> None:
    dice = random.Random(seed)
    path = write(tmp_path, answered())
    whole = path.read_bytes()
    for _ in range(ROUNDS):
        path.write_bytes(_damaged(whole, dice))
        well_formed(taken(tmp_path, released), released)


@pytest.mark.parametrize("seed", range(4))
def test_no_value_in_any_place_raises(seed: int, tmp_path: Path, released: Released) -> None:
    dice = random.Random(seed)
    for _ in range(ROUNDS):
        made = answered()
        for _ in range(dice.randint(1, 6)):
            holder, key = dice.choice(list(_places(made)))
            holder[key] = copy.deepcopy(dice.choice(ODD_VALUES))
        write(tmp_path, made)
        well_formed(taken(tmp_path, released), released)


def _damaged(whole: bytes, dice: random.Random) -> bytes:
    raw = bytearray(whole)
    for _ in range(dice.randint(1, 5)):
        place = dice.randrange(len(raw))
        match dice.randrange(4):
            case 0:
                raw[place] = dice.randrange(256)
            case 1:
                del raw[place : place + dice.randint(1, 60)]
            case 2:
                raw[place:place] = dice.choice((b'"', b"\\", b"\0", b"}", b"[", b"\xff", b"9" * 50, b"\n"))
            case _:
                start = dice.randrange(len(raw))
                raw[place:place] = raw[start : start + dice.randint(1, 400)]
    return bytes(raw)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a parsed text that holds a value."""
    entries: Any = ()
    if isinstance(value, dict):
        entries = value.items()
    elif isinstance(value, list):
        entries = enumerate(value)
    for key, inner in entries:
        yield value, key
        yield from _places(inner)


def test_a_deleted_test_is_put_back_below_its_answer(tmp_path: Path, released: Released) -> None:
    made = answered()
    made["cells"].remove(at(made, "check-double"))
    mine = {"cell_type": "code", "source": "print(double(4))", "metadata": {}, "id": "mine"}
    made["cells"].insert(made["cells"].index(at(made, "double")) + 1, mine)
    write(tmp_path, made)
    ids = [cell.id for cell in taken(tmp_path, released).notebook.cells]
    assert ids[ids.index("double") :][:4] == ["double", "mine", "check-double", "prose"]


def test_of_an_answer_handed_in_twice_every_copy_is_run_and_one_bears_the_marks(
    tmp_path: Path, released: Released
) -> None:
    ODD["answer-twice"].hand_in(tmp_path / "x")
    cells = taken(tmp_path / "x", released).notebook.cells
    answers = [cell for cell in cells if "def double" in cell.source]
    assert ["nbgrader" in cell.metadata for cell in answers] == [True, False]


def test_cells_without_marks_or_ids_are_known_by_their_functions_and_text(
    tmp_path: Path, released: Released
) -> None:
    ODD["no-marks-no-ids"].hand_in(tmp_path / "x")
    made = taken(tmp_path / "x", released)
    assert [(c.id, c.source) for c in made.notebook.cells if "nbgrader" in c.metadata] == [
        (c["id"], c["source"]) for c in answered()["cells"] if c["metadata"]
    ]
    assert len(made.notes) == 1  # none had to be put back


def test_an_answer_that_is_gone_is_empty(tmp_path: Path, released: Released) -> None:
    ODD["answer-deleted"].hand_in(tmp_path / "x")
    (cell,) = [one for one in taken(tmp_path / "x", released).notebook.cells if one.id == "double"]
    assert cell.source == ""


def test_a_copied_test_is_run_once(tmp_path: Path, released: Released) -> None:
    ODD["test-twice"].hand_in(tmp_path / "x")
    sources = [cell.source for cell in taken(tmp_path / "x", released).notebook.cells]
    assert sources.count(at(answered(), "check-double")["source"]) == 1


def test_where_the_copy_has_the_answer_it_bears_the_marks(tmp_path: Path, released: Released) -> None:
    ODD["answer-in-copy"].hand_in(tmp_path / "x")
    cells = taken(tmp_path / "x", released).notebook.cells
    assert [cell.source for cell in cells if "def double" in cell.source] == [RIGHT["double"]]


def test_no_more_cells_are_run_than_the_most(
    tmp_path: Path, released: Released, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rebuilding, "OWN_CELLS", 5)
    made = answered()
    made["cells"][4:4] = [code(f"x = {n}") for n in range(9)]
    write(tmp_path, made)
    cells = taken(tmp_path, released).notebook.cells
    assert [cell.source for cell in cells if cell.source.startswith("x =")] == [f"x = {n}" for n in range(5)]
    assert len(cells) == len(answered()["cells"]) + 5


def test_a_notebook_of_another_lab_is_called_so(tmp_path: Path, released: Released) -> None:
    made = answered()
    for cell in made["cells"]:
        cell["metadata"].get("nbgrader", {}).update(grade_id=f"other-{cell['id']}")
    write(tmp_path, made)
    said = taken(tmp_path, released, lab="lab17").notes
    assert said[0] == f"{LAB}.ipynb is of lab17. Hand in {LAB}.ipynb of this one."


def test_marks_as_the_released_file_has_them_are_not_wrong(tmp_path: Path) -> None:
    loose = release()
    # nbgrader takes graded cells for locked all the same.
    at(loose, "check-double")["metadata"]["nbgrader"]["locked"] = False
    book = as_of(LAB, notebook_in(write(tmp_path, loose)), marks())
    made = taken(tmp_path, book)
    assert made.notes == ()
    assert made.notebook.cells[4].metadata.nbgrader.locked is True
