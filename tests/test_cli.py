"""The command `lastgood`."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lastgood.cli import app
from lastgood.server import launch, validation
from lastgood.server.doors import LEARNER, page
from lastgood.server.launch import CONFIG, Launch, can_open_browser
from lastgood.server.validation import Failed, Result, ValidationError
from lastgood.teaching.study.record import Points, so_far


@pytest.fixture
def run(course, monkeypatch):
    """Runs a command in the course's folder."""
    monkeypatch.chdir(course)
    return lambda *arguments: CliRunner().invoke(app, arguments)


@pytest.fixture
def launched(monkeypatch):
    """What `lastgood lab` would become: (arguments, environment)."""
    calls = []
    monkeypatch.setattr(os, "execve", lambda _program, *rest: calls.append(rest))
    return calls


def test_the_version_is_the_installed_one(run):
    assert run("--version").output == f"lastgood {version('lastgood')}\n"


def test_asking_for_help_imports_nothing_slow():
    slow = ["torch", "numpy", "nbformat", "nbgrader", "jupyter_server", "matplotlib", "asyncio"]
    code = f"import sys, lastgood.cli; print([name for name in {slow} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_start_says_what_it_copied_and_what_it_kept(run, course):
    first = run("start", "18")
    assert first.exit_code == 0
    assert "copied  work/lab18/lab18.ipynb" in first.output
    assert "kept    4 files" in run("start").output


def test_start_refuses_an_unknown_lab_in_one_line(run, course):
    result = run("start", "19")
    assert result.exit_code == 1
    assert result.output.startswith("There is no lab '19'")
    assert not (course / "work").exists()


def test_check_runs_the_learners_copy_and_tells_what_fails(run, course):
    run("start")
    result = run("check", "18")
    assert result.exit_code == 1
    assert "✗ assert answer == 42" in result.output
    assert "AssertionError" in result.output
    assert "1 to go." in result.output
    assert so_far().points["lab18"] == Points(0, 1)


def test_check_goes_on_where_no_points_can_be_kept(run, course, home):
    home.write_text("a file where the folder should be")
    run("start")
    result = run("check", "18")
    assert "1 to go." in result.output
    assert "Nothing could be kept" in result.output
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("result", "code", "said"),
    [
        (Result(), 0, "✓ Every check passes."),
        (Result(failed=[Failed("# 3\ncheck.mask(m)", "", "a future")]), 1, "✗ check.mask(m)\n    a future"),
        (Result(failed=[Failed("**3.** Why?\nYOUR ANSWER", "", "none")]), 1, "✗ **3.** Why?"),
        (Result(changed=["check.mask(None)"]), 1, "was changed; undo that"),
        (Result(type_changed=[{"source": "", "old_type": "code", "new_type": "raw"}]), 1, "made a raw"),
    ],
)
def test_check_tells_what_validating_found(run, monkeypatch, result, code, said):
    async def found(notebook, root):
        return result

    monkeypatch.setattr(validation, "validate", found)
    run("start")
    shown = run("check", "lab18")
    assert shown.exit_code == code
    assert said in shown.output


def test_check_before_start_says_how_to_start(run):
    result = run("check", "18")
    assert result.exit_code == 1
    assert "work/lab18/lab18.ipynb is not there yet. `lastgood start 18`" in result.output


def test_a_run_that_fails_is_told_in_plain_words(run, monkeypatch):
    async def stopped(notebook, root):
        raise ValidationError("Validation was stopped.")

    monkeypatch.setattr(validation, "validate", stopped)
    run("start")
    result = run("check", "18")
    assert result.exit_code == 1
    assert result.output.endswith("Validation was stopped.\n")


def test_lab_becomes_jupyterlab_on_copies_in_work(run, course, launched):
    assert run("lab", "--port", "9999").exit_code == 0
    [(arguments, environment)] = launched
    assert arguments[:3] == [sys.executable, "-m", "jupyterlab"]
    assert f"--ServerApp.root_dir={course}" in arguments
    assert "--port=9999" in arguments
    # This test has no terminal, so there is nobody to show a browser to.
    assert "--no-browser" in arguments
    assert "--LabApp.default_url=/lastgood" in arguments
    assert (course / "work/lessons/00_welcome.ipynb").is_file()
    assert environment["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)
    assert Path.cwd() == course


def test_an_instructor_gets_the_formgrader_and_no_learners_settings(run, launched):
    run("lab", "--instructor")
    [(arguments, environment)] = launched
    assert "--LabApp.default_url=/lastgood/instructor" in arguments
    folders = environment["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert folders[:2] == [str(CONFIG / "instructor"), str(CONFIG / "everyone")]


def test_the_users_own_settings_come_after_the_courses(course):
    environment = Launch(course).environment({"JUPYTER_CONFIG_PATH": "/their/own", "HOME": "/home/them"})
    folders = [str(CONFIG / "learner"), str(CONFIG / "everyone"), "/their/own"]
    assert environment["JUPYTER_CONFIG_PATH"] == os.pathsep.join(folders)
    assert environment["HOME"] == "/home/them"


def test_without_a_welcome_the_work_folder_opens(course):
    assert "/tree/work?reset" in page(LEARNER, course)


@pytest.mark.parametrize(("uid", "allowed"), [(0, True), (1000, False)])
def test_root_is_allowed_only_where_one_is_root(course, monkeypatch, uid, allowed):
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    assert ("--allow-root" in Launch(course).command()) is allowed


@pytest.mark.parametrize(
    ("terminal", "display", "opens"), [(True, ":0", True), (True, "", False), (False, ":0", False)]
)
def test_a_browser_opens_only_for_a_person_with_a_display(monkeypatch, terminal, display, opens):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.setattr(launch.webbrowser, "get", lambda: object())
    assert can_open_browser() is opens


@pytest.mark.parametrize("path", sorted(CONFIG.rglob("*.json")), ids=lambda path: path.name)
def test_every_setting_is_json_that_jupyter_can_read(path):
    assert json.loads(path.read_text())
