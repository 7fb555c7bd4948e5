"""Finding the course, and the copies that learners work on."""

import os
from pathlib import Path

import pytest

from lastgood import workspace
from lastgood.workspace import WorkspaceError, find_root, lab_name, labs, start

COPIES = [
    Path("work/glossary.md"),
    Path("work/lessons/00_welcome.ipynb"),
    Path("work/lab18/lab18.ipynb"),
    Path("work/lab18/trace.csv"),
]


def test_the_course_is_found_from_any_folder_of_it(course):
    assert find_root(course / "labs/lab18") == course


def test_the_clone_that_one_stands_in_comes_before_the_installed_one(course, monkeypatch):
    monkeypatch.chdir(course)
    assert find_root() == course


def test_from_elsewhere_the_installed_clone_is_found(tmp_path, repository):
    assert find_root(tmp_path) == repository


def test_an_installed_wheel_without_a_course_says_where_it_looked(tmp_path, monkeypatch):
    monkeypatch.setattr(workspace, "__file__", str(tmp_path / "site-packages/lastgood/workspace.py"))
    with pytest.raises(WorkspaceError, match=str(tmp_path)):
        find_root(tmp_path)


def test_everything_a_learner_opens_is_copied(course):
    started = start(course)
    assert started.copied == COPIES
    assert started.kept == []
    lab = "lab18/lab18.ipynb"
    assert (course / "work" / lab).read_bytes() == (course / "labs" / lab).read_bytes()


def test_the_learners_own_file_is_kept(course):
    mine = course / "work/lab18/lab18.ipynb"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    started = start(course)
    assert mine.read_text() == "mine"
    assert started.kept == [Path("work/lab18/lab18.ipynb")]
    assert started.copied == [path for path in COPIES if path not in started.kept]


def test_a_second_start_copies_nothing(course):
    start(course)
    assert start(course).copied == []


def test_a_link_to_nowhere_is_kept_too(course, tmp_path):
    link = course / "work/glossary.md"
    link.parent.mkdir()
    link.symlink_to(tmp_path / "elsewhere.md")
    start(course)
    assert link.is_symlink()


def test_one_lab_leaves_the_others(course, notebooks):
    notebooks.write(course / "labs/lab03/lab03.ipynb")
    start(course, ["lab03"])
    assert (course / "work/lab03/lab03.ipynb").is_file()
    assert not (course / "work/lab18").exists()


@pytest.mark.parametrize("clutter", [".ipynb_checkpoints/a-checkpoint.ipynb", "__pycache__/a.pyc", ".hidden"])
def test_clutter_beside_a_lab_is_not_copied(course, clutter):
    file = course / "labs/lab18" / clutter
    file.parent.mkdir(exist_ok=True)
    file.touch()
    assert start(course).copied == COPIES


def test_a_copy_that_broke_off_leaves_no_half_file(course, monkeypatch):
    def disk_full(self, data):
        with open(self, "wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "write_bytes", disk_full)
    with pytest.raises(WorkspaceError, match="No space left"):
        start(course, ["lab18"])
    assert not any((course / path).exists() for path in COPIES)


@pytest.mark.parametrize("text", ["18", "lab18", "Lab 18", " LAB-18 "])
def test_a_lab_goes_by_its_number_or_its_name(course, text):
    assert lab_name(course, text) == "lab18"


def test_a_small_number_needs_no_zero(course, notebooks):
    notebooks.write(course / "labs/lab03/lab03.ipynb")
    assert lab_name(course, "3") == "lab03"
    assert labs(course) == ["lab03", "lab18"]


@pytest.mark.parametrize("text", ["19", "lab", "../lab18", "1800"])
def test_an_unknown_lab_is_refused_with_those_that_there_are(course, text):
    with pytest.raises(WorkspaceError, match=r"The labs there: 18\."):
        lab_name(course, text)
