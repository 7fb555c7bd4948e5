"""Which lab a notebook of another one is of."""

from pathlib import Path
from typing import Any

import pytest
from nbformat import write
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.expected import lab_with


@pytest.fixture
def directory(tmp_path: Path) -> Any:
    """Two released labs, and a file that is none."""
    for lab, names in {"lab1": "abc", "lab2": "cde"}.items():
        cells = [new_code_cell("", metadata={"nbgrader": {"grade_id": name}}) for name in names]
        (tmp_path / "labs" / lab).mkdir(parents=True)
        write(new_notebook(cells=cells), tmp_path / "labs" / lab / f"{lab}.ipynb")
    (tmp_path / "labs/lab1/broken.ipynb").write_bytes(b"{")
    where = {"root": str(tmp_path), "release_directory": "labs"}
    return CourseDirectory(config=Config({"CourseDirectory": where}))


@pytest.mark.parametrize(
    ("claims", "lab"), [("ab", "lab1"), ("cd", "lab2"), ("bde", "lab2"), ("axyz", ""), ("", "")]
)
def test_it_is_the_one_that_has_most_of_the_names_and_at_least_half(
    claims: str, lab: str, directory: Any
) -> None:
    assert lab_with(directory, frozenset(claims), but="lab3") == lab


def test_the_lab_itself_is_not_another(directory: Any) -> None:
    assert lab_with(directory, frozenset("ab"), but="lab1") == ""
