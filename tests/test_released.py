"""Putting released cells back into a learner's copy."""

import copy
import errno
import json
import os
import shutil
import stat

import pytest

from lastgood import released, workspace
from lastgood.exercises import exercises, find, grade_id, source
from lastgood.released import ReleasedError, restore_exercise, restore_lab

COPY = "work/lab18/lab18.ipynb"


@pytest.fixture
def root(tmp_path, repository):
    """A course with the real lab 18, begun."""
    root = tmp_path / "course"
    (root / "course/lessons").mkdir(parents=True)
    shutil.copytree(repository / "labs/lab18", root / "labs/lab18")
    workspace.start(root)
    return root


@pytest.fixture
def cells(root):
    """The learner's cells; changed in place, they are saved by `save`."""
    return json.loads((root / COPY).read_text())["cells"]


@pytest.fixture
def save(root):
    def save(cells, **changes):
        content = json.loads((root / COPY).read_text())
        (root / COPY).write_text(json.dumps({**content, "cells": cells, **changes}))

    return save


@pytest.fixture
def restore(root):
    """Restores one exercise and returns what was done, with the cells that there are then."""

    def restore(name="causal_mask"):
        done = restore_exercise(root, "lab18", find(exercises(root, "lab18"), name, "lab18"))
        return done, json.loads((root / COPY).read_text())["cells"]

    return restore


def at(cells, name):
    [place] = [place for place, cell in enumerate(cells) if grade_id(cell) == name]
    return place


def fresh(root):
    return json.loads(workspace.as_copied(root / "labs/lab18/lab18.ipynb"))["cells"]


def text(source):
    return {"cell_type": "markdown", "id": "mine", "metadata": {}, "source": source}


def code(source):
    return {
        "cell_type": "code",
        "id": "own",
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": 1,
    }


def test_a_whole_lab_is_as_it_was_at_first_and_the_learners_version_lies_beside_it(root):
    as_copied = (root / COPY).read_bytes()
    (root / COPY).write_bytes(mine := as_copied.replace(b"# YOUR CODE HERE", b"# mine"))
    done = restore_lab(root, "lab18")
    assert (root / COPY).read_bytes() == as_copied
    assert (root / done.aside).read_bytes() == mine
    assert done.aside.name.startswith("lab18.before-reset-20")
    assert sorted(path.name for path in (root / "work/lab18").iterdir()) == sorted(
        ["lab18.ipynb", done.aside.name]
    )


def test_a_reset_within_the_same_second_overwrites_no_version(root):
    asides = []
    for word in ("first", "second", "third"):
        (root / COPY).write_text(word)
        asides.append(restore_lab(root, "lab18").aside)
    assert [(root / aside).read_text() for aside in asides] == ["first", "second", "third"]


def test_a_lab_that_is_as_released_is_left_alone(root):
    assert not restore_lab(root, "lab18").changed
    assert len(list((root / "work/lab18").iterdir())) == 1


@pytest.mark.parametrize("exercise", [None, "causal_mask"])
def test_a_copy_that_is_missing_is_made(root, restore, exercise):
    (root / COPY).unlink()
    done = restore_lab(root, "lab18") if exercise is None else restore()[0]
    assert done.changed
    assert done.aside is None
    assert not restore_lab(root, "lab18").changed


def test_one_exercise_comes_back_and_everything_else_stays(root, cells, save, restore):
    mine = "def causal_mask(length):\n    return 3  # ```"
    cells[at(cells, "causal-mask")]["source"] = mine
    cells[at(cells, "save-load")]["source"] = "def save(state, folder): pass"
    cells.insert(at(cells, "check-causal-mask"), code("my_own_try()"))
    cells.insert(3, text("my thoughts"))
    save(cells, metadata={"mine": 1})
    done, now = restore()
    assert done.noted
    note = now.pop(at(now, "check-causal-mask") + 1)
    expected = copy.deepcopy(cells)
    expected[at(cells, "causal-mask")] = fresh(root)[at(fresh(root), "causal-mask")]
    assert now == expected
    assert note["cell_type"] == "markdown"
    assert f"````python\n{mine}\n````" in source(note)
    assert json.loads((root / COPY).read_text())["metadata"] == {"mine": 1}


@pytest.mark.parametrize("name", ["causal-mask", "check-causal-mask"])
@pytest.mark.parametrize(
    "way", ["edited", "deleted", "duplicated", "unmarked", "retyped", "moved up", "moved down"]
)
def test_cells_of_an_exercise_come_back_as_released_where_they_were(root, cells, save, restore, name, way):
    place = at(cells, name)
    cell = cells[place]
    if way == "edited":
        cell["source"] = "check.everything()"
    elif way == "deleted":
        del cells[place]
    elif way == "duplicated":
        cells.insert(place + 1, {**copy.deepcopy(cell), "id": "another", "source": "pass"})
    elif way == "unmarked":
        cell["metadata"], cell["source"] = {}, "pass"
    elif way == "retyped":
        cells[place] = {key: cell[key] for key in ("id", "metadata", "source")} | {"cell_type": "markdown"}
    else:
        cells.insert(0 if way == "moved up" else len(cells), cells.pop(place))
    save(cells)
    done, now = restore()
    assert done.changed
    theirs = [cell for cell in now if "before the reset" not in source(cell)]
    assert theirs == fresh(root)
    assert at(now, "check-causal-mask") == at(now, "causal-mask") + 1


def test_what_comes_back_has_the_marks_that_nbgrader_checks(root, cells, save, restore):
    import nbformat
    from nbgrader.utils import compute_checksum

    for name in ("causal-mask", "check-causal-mask"):
        cells[at(cells, name)] = text("gone")
    save(cells)
    restore()
    notebook = nbformat.read(root / COPY, as_version=4)
    nbformat.validate(notebook)
    marked = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("locked")]
    assert len(marked) == sum(
        bool(cell["metadata"].get("nbgrader", {}).get("locked")) for cell in fresh(root)
    )
    assert all(cell.metadata.nbgrader.checksum == compute_checksum(cell) for cell in marked)


def test_grading_finds_nothing_odd_in_what_came_back(root, cells, save, restore):
    from autograder.intake.matching import match
    from autograder.intake.reading import notebook_in
    from autograder.intake.released import Marked, released

    cells[at(cells, "causal-mask")]["source"] = "def causal_mask(length): pass"
    del cells[at(cells, "check-causal-mask")]
    save(cells)
    restore()
    file = notebook_in(root / "labs/lab18/lab18.ipynb")
    marked = {
        cell.claim: Marked(cell.claim, cell.kind, cell.source, cell.marks["checksum"], cell.marks["locked"])
        for cell in file.cells
        if cell.claim
    }
    handed = notebook_in(root / COPY)
    found = match(handed.cells, released("lab18", file, marked))
    assert handed.notes == ()
    assert found.recognised == len(marked)
    assert (found.found, found.copies, found.unknown) == ([], {}, [])


def test_a_written_answer_comes_back_and_is_kept(root, cells, save, restore):
    cells[at(cells, "looks-fine")]["source"] = ["It looks\n", "fine."]
    save(cells)
    _, now = restore("looks-fine")
    place = at(now, "looks-fine")
    assert now[place] in fresh(root)
    assert "```text\nIt looks\nfine.\n```" in source(now[place + 1])


def test_a_cell_that_was_only_run_counts_as_released(root, cells, save, restore):
    cells[at(cells, "causal-mask")].update(execution_count=3, outputs=[])
    save(cells)
    before = (root / COPY).read_bytes()
    done, _ = restore()
    assert not done.changed
    assert (root / COPY).read_bytes() == before


def test_an_older_format_gets_no_ids(root, cells, save, restore):
    for cell in cells:
        cell.pop("id")
    cells[at(cells, "causal-mask")]["source"] = "pass"
    save(cells, nbformat_minor=4)
    _, now = restore()
    assert not [cell for cell in now if "id" in cell]


def test_no_two_cells_have_the_same_id_and_a_released_one_has_its_own(cells, save, restore):
    marks = {"nbgrader": {"grade_id": "of another lab"}}
    cells[at(cells, "causal-mask")] = text("a")
    cells = [{**text("claims its id"), "id": "causal-mask", "metadata": marks}, *cells, text("b")]
    save(cells)
    _, now = restore()
    assert len({cell["id"] for cell in now}) == len(now)
    assert now[at(now, "causal-mask")]["id"] == "causal-mask"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe\x00", b"[]", b"{}", b'{"cells": [1]}', b'{"cells": []}']
)
def test_of_what_is_no_notebook_an_exercise_cannot_be_reset_but_the_lab_can(root, restore, content):
    (root / COPY).write_bytes(content)
    with pytest.raises(ReleasedError, match="`lastgood reset 18` puts the whole lab back"):
        restore()
    assert (root / COPY).read_bytes() == content
    assert (root / restore_lab(root, "lab18").aside).read_bytes() == content


@pytest.mark.parametrize("whole", [True, False])
class TestWhatIsOdd:
    @pytest.fixture
    def reset(self, root, restore, whole):
        return lambda: restore_lab(root, "lab18") if whole else restore()[0]

    @pytest.fixture(autouse=True)
    def _mine(self, cells, save):
        cells[at(cells, "causal-mask")]["source"] = "mine"
        save(cells)

    def test_a_link_stays_a_link(self, root, tmp_path, reset):
        elsewhere = tmp_path / "elsewhere.ipynb"
        (root / COPY).rename(elsewhere)
        (root / COPY).symlink_to(elsewhere)
        assert reset().changed
        assert (root / COPY).is_symlink()
        assert b'"mine"' not in elsewhere.read_bytes()

    def test_a_link_that_leads_nowhere_is_told(self, root, reset):
        (root / COPY).unlink()
        (root / COPY).symlink_to("nowhere.ipynb")
        with pytest.raises(ReleasedError, match=r"is a link to nowhere\.ipynb, which is not there"):
            reset()

    def test_a_read_only_file_is_left_as_it_is(self, root, reset):
        before = (root / COPY).read_bytes()
        (root / COPY).chmod(0o444)
        with pytest.raises(ReleasedError, match="read-only"):
            reset()
        assert (root / COPY).read_bytes() == before

    def test_a_folder_in_its_place_is_told(self, root, reset):
        (root / COPY).unlink()
        (root / COPY).mkdir()
        with pytest.raises(ReleasedError, match="cannot be read"):
            reset()

    def test_its_rights_stay(self, root, reset):
        (root / COPY).chmod(0o640)
        reset()
        assert stat.S_IMODE((root / COPY).stat().st_mode) == 0o640

    def test_a_full_disk_leaves_it_as_it_was(self, root, reset, monkeypatch):
        def full(path, content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        before = (root / COPY).read_bytes()
        monkeypatch.setattr(released, "write_synced", full)
        with pytest.raises(ReleasedError, match="No space left"):
            reset()
        assert (root / COPY).read_bytes() == before

    def test_what_jupyterlab_saves_meanwhile_is_not_lost(self, root, reset, monkeypatch):
        def saved_meanwhile(path, content):
            path.write_bytes(content)
            (root / COPY).write_bytes(b"saved just now")

        monkeypatch.setattr(released, "write_synced", saved_meanwhile)
        with pytest.raises(ReleasedError, match="saved by somebody else just now"):
            reset()
        assert (root / COPY).read_bytes() == b"saved just now"


def test_where_the_learners_version_cannot_be_kept_nothing_is_changed(root, monkeypatch):
    (root / COPY).write_text("mine")
    monkeypatch.setattr(os, "fsync", fails := lambda descriptor: (_ for _ in ()).throw(OSError(28, "full")))
    assert fails
    with pytest.raises(ReleasedError, match="could not be kept"):
        restore_lab(root, "lab18")
    assert [path.name for path in (root / "work/lab18").iterdir()] == ["lab18.ipynb"]
    assert (root / COPY).read_text() == "mine"
