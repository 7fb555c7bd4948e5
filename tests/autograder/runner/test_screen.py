"""What is shown of a class being graded, and what programs read."""

import io
import json

import pytest
from rich.console import Console
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course import Course
from autograder.runner.run import Begun, Done
from autograder.runner.screen import print_lines, show

from .conftest import LAB

EVENTS = (
    Begun(("ada", "bob"), ("chi",), ("chi",)),
    Done("ada", 1.25, notes=("Two notebooks were handed in.",)),
    Done("bob", 0.5, fault="[bold] the judge stopped"),
)


def test_a_person_sees_who_was_graded_and_why_somebody_was_not() -> None:
    screen = io.StringIO()
    done = show(EVENTS, Console(file=screen, width=100))
    said = screen.getvalue()
    assert done == list(EVENTS[1:])
    for line in (
        "1 graded before, from the same files. `--force` grades them again.",
        "The late penalty has changed for chi.",
        "✓ ada 1.2 s",
        "    Two notebooks were handed in.",
        "✗ bob: not graded. [bold] the judge stopped",
        "2/2",
        "/min",
    ):
        assert line in said


def test_a_program_reads_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    print_lines(EVENTS)
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"begun": {"students": 2, "before": 1}},
        {"student": "ada", "seconds": 1.25, "fault": "", "notes": ["Two notebooks were handed in."]},
        {"student": "bob", "seconds": 0.5, "fault": "[bold] the judge stopped", "notes": []},
        {"done": {"graded": 1, "failed": 1}},
    ]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--scheduler", "tcp://127.0.0.1:1"], "no Dask scheduler answers at tcp://127.0.0.1:1"),
        (["--students", "eve"], "nobody has submitted lab18"),
    ],
)
def test_what_cannot_begin_says_why(
    course: Course, monkeypatch: pytest.MonkeyPatch, options: list[str], says: str
) -> None:
    monkeypatch.setenv("LASTGOOD_UNSAFE", "1")
    monkeypatch.setattr("autograder.runner.places.ANSWER_S", 0.2)
    text = f"c = get_config()\nc.CourseDirectory.db_url = 'sqlite:///{course.root}/gradebook.db'\n"
    (course.root / "nbgrader_config.py").write_text(text)
    done = CliRunner().invoke(app, ["grade", LAB, "--root", str(course.root), *options])
    assert done.exit_code == 1
    assert says in " ".join(done.output.split())
