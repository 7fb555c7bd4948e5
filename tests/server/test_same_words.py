"""`lastgood check` in a terminal and Validate tell a learner the same, and take a reset cell as released."""

import asyncio
import html
import json
import re
import shutil

import pytest
from typer.testing import CliRunner

from lastgood import workspace
from lastgood.cli import app
from lastgood.exercises import exercises, find, grade_id
from lastgood.released import restore_exercise
from lastgood.server import validation
from lastgood.server.handlers import as_nbgrader

WRONG = {  # in lab 20: no points, some points, an error of the learner's own
    "job-mtbf": "def job_mtbf(hosts, per_1000_host_days):\n    return hosts",
    "waste": "def waste(interval, save_cost, mtbf, restart_cost):\n    return save_cost / interval",
    "expected-time": "def expected_time(*hours):\n    return hours[0] / None",
}
EDITED = "check-best-interval"  # and then reset

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def root(tmp_path_factory, repository):
    """A course whose learner has written wrong answers to the first exercises of lab 20, and has no more."""
    root = tmp_path_factory.mktemp("course")
    shutil.copytree(repository / "labs/lab20", root / "labs/lab20")
    (root / "course/lessons").mkdir(parents=True)
    shutil.copy(repository / "nbgrader_config.py", root)
    workspace.start(root)
    copy = root / workspace.lab_notebook("lab20")
    content = json.loads(copy.read_text())
    for cell in content["cells"]:
        cell["source"] = WRONG.get(grade_id(cell), cell["source"])
    names = [grade_id(cell) for cell in content["cells"]]
    content["cells"] = content["cells"][: names.index(EDITED) + 1]
    content["cells"][-1]["source"] = "1"
    copy.write_text(json.dumps(content))
    restore_exercise(root, "lab20", find(exercises(root, "lab20"), EDITED, "lab20"))
    return root


@pytest.fixture(scope="module")
def result(root):
    return asyncio.run(validation.validate(root / workspace.lab_notebook("lab20"), root))


def words(shown):
    """What is said, whatever marks and tags stand around it."""
    text = html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<svg.*?</svg>", " ", shown, flags=re.DOTALL)))
    return set(re.findall(r"[\w.%]+", re.sub(r"\bLOST\b", " ", text)))


def test_check_says_the_words_of_validate(root, result, monkeypatch):
    async def found(notebook, root):
        return result

    monkeypatch.setattr(validation, "validate", found)
    monkeypatch.chdir(root)
    terminal = CliRunner().invoke(app, ["check", "20"]).output

    dialog = as_nbgrader(result)["failed"]
    assert f"{len(dialog)} to go." in terminal
    for cell in dialog:
        assert words(cell["raw_error"]) - words(cell["error"]) == set()
        assert words(cell["raw_error"]) - words(terminal) == set()
        assert cell["source"].splitlines()[-1] in terminal


def test_a_check_that_was_edited_and_reset_is_judged_as_it_was_released(result):
    assert (result.changed, result.type_changed) == ([], [])
    assert [cell.name for cell in result.scored][-1] == EDITED
    assert [cell.source for cell in result.failed][-1].startswith("check.best_interval(")
