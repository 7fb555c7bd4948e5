"""Of what lies in a submission's folder, ordinary files are copied, and the lab's own come first."""

import os
from pathlib import Path

import pytest

from autograder.intake import folder
from autograder.intake.folder import looked_at, to_copy

IGNORE = (".ipynb_checkpoints", "*.pyc")


def lay(root: Path, *names: str, content: str = "x") -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content, encoding="utf-8")


def test_files_are_copied_and_notebooks_and_ignored_ones_are_not(tmp_path: Path) -> None:
    lay(tmp_path, "a.py", "data/b.csv", "lab.ipynb", "c.pyc", ".ipynb_checkpoints/d.py", "timestamp.txt")
    assert to_copy(tmp_path, IGNORE, []) == (["a.py", "data/b.csv", "timestamp.txt"], [])


def test_what_is_no_file_of_this_folder_is_not_copied(tmp_path: Path) -> None:
    lay(tmp_path / "mine", "a.py")
    lay(tmp_path / "theirs", "b.py")
    (tmp_path / "mine/link.py").symlink_to(tmp_path / "theirs/b.py")
    (tmp_path / "mine/links").symlink_to(tmp_path / "theirs")
    os.mkfifo(tmp_path / "mine/pipe")
    assert to_copy(tmp_path / "mine", IGNORE, []) == (["a.py"], ["link.py", "links", "pipe"])


def test_a_folder_that_is_a_link_is_not_entered(tmp_path: Path) -> None:
    lay(tmp_path / "theirs", "lab.ipynb")
    (tmp_path / "mine").symlink_to(tmp_path / "theirs")
    assert looked_at(tmp_path / "mine").notebooks == ()
    assert "a link and not a folder" in looked_at(tmp_path / "mine").fault


@pytest.mark.parametrize(("theirs", "ours"), [("data", "data/a.csv"), ("data/a.csv", "data")])
def test_what_stands_in_the_way_of_the_labs_own_files_is_not_copied(
    theirs: str, ours: str, tmp_path: Path
) -> None:
    lay(tmp_path, theirs)
    assert to_copy(tmp_path, IGNORE, [ours]) == ([], [theirs])


def test_no_more_is_copied_than_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "COPIED_BYTES", 10)
    lay(tmp_path, "a", "c", content="four")
    lay(tmp_path, "b", content="seven b")
    assert to_copy(tmp_path, IGNORE, []) == (["a", "c"], ["b"])


def test_only_so_many_files_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "ENTRIES", 3)
    lay(tmp_path, *map(str, range(9)))
    seen = looked_at(tmp_path)
    assert (len(seen.others), seen.refused) == (3, (("the rest", "more than 3 files"),))


def test_a_name_that_is_no_text_is_named_and_not_read(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"lab\xff.ipynb")).write_bytes(b"x")
    assert [why for _, why in looked_at(tmp_path).refused] == ["a name that is not UTF-8"]
    assert looked_at(tmp_path).notebooks == ()
