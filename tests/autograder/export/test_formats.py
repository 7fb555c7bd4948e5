"""Both ways to an export: `autograder export`, and nbgrader's own command with the plugin."""

import csv
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from autograder.cli import app
from autograder.export.formats import FORMATS
from autograder.nbgrader_env import run_nbgrader

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
Enrol = Callable[..., None]


@pytest.fixture
def course(gradebook: Any, enrol: Enrol, tmp_path: Path) -> Path:
    """A course of two whose gradebook is `gradebook`."""
    enrol("ada", 10, 3, last_name="Lovelace", lms_user_id="7")
    enrol("bob", 10, None)
    (tmp_path / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.CourseDirectory.root = {str(tmp_path)!r}\n"
    )
    return tmp_path


def run(course: Path, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["export", *arguments, "--root", str(course)])
    return done.exit_code, " ".join(done.output.split())


def test_the_command_refuses_then_exports_in_part_and_says_what_to_know(course: Path) -> None:
    to = course / "canvas.csv"
    status, said = run(course, "lab18", "--format", "canvas", "--to", str(to))
    assert (status, to.exists()) == (1, False)
    assert "lab18: bob waits for a person: why" in said
    assert "--partial" in said
    status, said = run(
        course, "lab18", "--format", "canvas", "--to", str(to), "--partial", "--column", "Lab (9)"
    )
    assert status == 0, said
    assert "2 students" in said
    assert "exported all the same, bob" in said
    assert to.read_text().splitlines()[2] == "Lovelace,7,,ada,,13"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("lab18", "--format", "blackboard"),
            "there is no format 'blackboard'; there are canvas, moodle, csv",
        ),
        (("lab18", "--format", "canvas", "--id-is", "email"), "id_is"),
        (("lab18", "--format", "csv", "--id-is", "email"), "--id-is: not an option of the format csv"),
        (("lab18", "--format", "canvas", "--semicolons"), "--semicolons: not an option of the format canvas"),
        (("lab18", "--format", "csv", "--missing", "none"), "missing"),
        (("lab99", "--format", "csv"), "nbgrader generate_assignment lab99"),
        (("lab18", "--format", "csv", "--students", "ada,zoe"), "'zoe'"),
    ],
)
def test_what_cannot_be_asked_is_explained(course: Path, arguments: tuple[str, ...], said: str) -> None:
    status, output = run(course, *arguments, "--to", str(course / "x.csv"))
    assert status == 1
    assert said in output
    assert not (course / "x.csv").exists()


@pytest.mark.parametrize("name", FORMATS)
def test_students_can_be_chosen(course: Path, name: str) -> None:
    status, said = run(course, "lab18", "--format", name, "--students", "ada", "--to", str(course / "x.csv"))
    assert status == 0, said
    assert "bob" not in (course / "x.csv").read_text()


@pytest.mark.slow
def test_nbgraders_own_command_takes_the_plugin_and_its_options(course: Path) -> None:
    kind = "autograder.export.canvas.CanvasExporter"
    common = ("export", f"--exporter={kind}", "--to=x.csv", "--assignment=['lab18']")
    refused = subprocess.run(
        [sys.executable, "-m", "nbgrader", *common], cwd=course, capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1
    assert "bob waits for a person" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (course / "x.csv").exists()
    run_nbgrader(*common, "--CanvasExporter.partial=True", root=course, timeout=120)
    with open(course / "x.csv", newline="") as file:
        assert [row[3] for row in csv.reader(file)] == ["SIS Login ID", "", "ada", "bob"]
