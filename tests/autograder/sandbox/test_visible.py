"""What is shown of this machine, what is covered, and in what order."""

import sys
from pathlib import Path

import pytest

import autograder
import lastgood
from autograder.sandbox import visible
from autograder.sandbox.visible import View, view

ROOT = Path(__file__).resolve().parents[3]


def bound(arguments: list[str]) -> list[str]:
    return [arguments[n + 1] for n, word in enumerate(arguments) if word == "--ro-bind"]


def test_the_environment_and_the_library_are_shown_and_nothing_else_of_the_course() -> None:
    paths = bound(view(ROOT).arguments())
    assert str(Path(lastgood.__file__).parent) in paths
    assert str(Path(sys.prefix) / "lib") in paths
    assert str(Path(sys.base_prefix) / "lib") in paths
    of_the_course = [path for path in map(Path, paths) if path.is_relative_to(ROOT)]
    allowed = (Path(sys.prefix), Path(lastgood.__file__).parent)
    assert all(any(path.is_relative_to(place) for place in allowed) for path in of_the_course)
    assert not any(Path.home() == Path(path) for path in paths)


def test_only_paths_that_are_there_are_bound() -> None:
    assert all(Path(path).exists() for path in bound(view(ROOT).arguments()))


def test_a_grader_that_is_installed_beside_the_library_is_covered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "env/lib/site-packages"
    for name in ("lastgood", "autograder"):
        (packages / name).mkdir(parents=True)
        (packages / name / "__init__.py").touch()
    monkeypatch.setattr(autograder, "__file__", str(packages / "autograder/__init__.py"))
    monkeypatch.setattr(lastgood, "__file__", str(packages / "lastgood/__init__.py"))
    for name in ("prefix", "exec_prefix", "base_prefix", "base_exec_prefix"):
        monkeypatch.setattr(sys, name, str(tmp_path / "env"))
    seen = view(tmp_path / "course")
    assert seen.covered == (packages / "autograder",)


def test_a_course_within_an_environment_is_covered_and_its_library_shown_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = tmp_path / "env/share/course"
    library = course / "course/lastgood"
    library.mkdir(parents=True)
    (library / "__init__.py").touch()
    monkeypatch.setattr(lastgood, "__file__", str(library / "__init__.py"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "env"))
    arguments = view(course).arguments()
    order = [arguments.index(str(path)) for path in (tmp_path / "env/share", course, library)]
    assert order == sorted(order)
    assert arguments[arguments.index(str(course)) - 1] == "--tmpfs"
    assert arguments[-2:] == ["--remount-ro", str(course)]


def test_a_relative_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib64").symlink_to("lib")
    assert View((tmp_path / "lib64",)).arguments() == ["--symlink", "lib", str(tmp_path / "lib64")]


def test_a_kernel_finds_matplotlibs_list_of_fonts() -> None:
    assert visible.font_lists()
