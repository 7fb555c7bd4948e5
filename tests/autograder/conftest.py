"""What the tests of grading share."""

from pathlib import Path

import pytest

from autograder.course import Course
from autograder.demo import prepare
from autograder.sample_class import lab18_class


@pytest.fixture(scope="session")
def sample_class(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Lab 18's sample class, handed in and not graded. It takes seconds to make: read it or copy it."""
    root = Path(__file__).resolve().parents[2]
    return prepare(root, tmp_path_factory.mktemp("sample") / "class", lab18_class())
