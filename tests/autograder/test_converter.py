"""Every command and button of nbgrader's that autogrades does it by this course's class."""

import nbgrader.apps.api
import nbgrader.apps.autogradeapp
import nbgrader.converters
import pytest
from nbgrader.coursedir import CourseDirectory

from autograder.converter import Autograde, adopt

PLACES = (nbgrader.apps.api, nbgrader.apps.autogradeapp, nbgrader.converters)


def test_nbgraders_command_and_the_formgrader_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in PLACES:
        monkeypatch.setattr(module, "Autograde", module.Autograde)  # put back afterwards
    monkeypatch.setattr(CourseDirectory, "get_existing_timestamp", CourseDirectory.get_existing_timestamp)
    for _ in range(2):
        adopt()
        assert [module.Autograde for module in PLACES] == [Autograde] * len(PLACES)
