"""What the Makefile leaves out when it picks tests."""

import re
from pathlib import Path


def test_every_test_of_the_browser_lies_where_make_looks_for_it(repository: Path) -> None:
    recipe = re.search(r'-m "slow and browser".* (tests/\S+)$', (repository / "Makefile").read_text(), re.M)
    assert recipe
    marks = re.compile(r"mark\.browser\b")
    found = [path for path in repository.glob("tests/**/test_*.py") if marks.search(path.read_text())]
    assert found
    assert [path for path in found if repository / recipe[1] not in path.parents] == []
