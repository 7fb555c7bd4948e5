"""The child that calls nbgrader's API."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.formgrader.worker import call

CONFIG = """
print("settings that say something")
c = get_config()
c.CourseDirectory.course_id = "course"
c.CourseDirectory.root = {root!r}
c.Exchange.root = {exchange!r}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "exchange").mkdir()
    config = CONFIG.format(root=str(tmp_path), exchange=str(tmp_path / "exchange"))
    (tmp_path / "nbgrader_config.py").write_text(config)
    return tmp_path


@pytest.mark.parametrize("method", ["generate_feedback", "generate_assignment", "release_assignment"])
def test_an_unknown_assignment_is_no_success(root, monkeypatch, method):
    monkeypatch.chdir(root)
    reply = call(method, "nowhere")
    assert not reply["success"]
    assert "nowhere" in f"{reply['error']}{reply.get('log')}"


def test_a_method_that_says_nothing_is_no_success(root, monkeypatch):
    from nbgrader.apps import NbGraderAPI

    monkeypatch.chdir(root)
    monkeypatch.setattr(NbGraderAPI, "collect", lambda *_: None)
    assert not call("collect", "lab18")["success"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["generate_feedback", "nowhere"], "nowhere"),
        (["grade", "--json", "--", "nowhere"], "nobody has submitted nowhere"),
    ],
)
def test_it_does_what_its_command_line_says(root, arguments, words):
    command = [sys.executable, "-m", "autograder.formgrader.worker", str(os.getpid()), *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60, check=False)
    if arguments[0] == "grade":
        assert done.returncode == 1
        assert words in done.stdout
    else:
        assert words in json.dumps(json.loads(done.stdout))  # nothing else stands there
