"""A class through `nbgrader autograde`: whatever a notebook does, it is graded, and so are the others."""

import asyncio
import html
import re
from pathlib import Path

import pytest

from autograder.course import Course
from autograder.nbgrader_env import NbgraderError, run_nbgrader
from autograder.sandbox.execute import WITHOUT

from .conftest import GRADED, small_class

pytestmark = [pytest.mark.slow, pytest.mark.needs_bwrap]

# A healthy cell here takes no second.
SETTINGS = """
c.Execute.timeout = 5
c.Execute.iopub_timeout = 4
c.Sandbox.disk_bytes = 50 * 10**6
c.Sandbox.processes = 64
c.Sandbox.memory_bytes = 512 * 2**20
"""
GROW = "grown = []\nwhile True:\n    grown.append(bytearray(b'x') * 10**7)"
# What is handed in, the points of the three graded cells, and words of the feedback.
CASES = {
    "right": ("y = 2", "111", ""),
    "wrong": ("y = 1", "101", "AssertionError"),
    "exits": ("import os\nos._exit(3)", "100", "Python ended in this cell with exit status 3"),
    "crashes": ("import ctypes\nctypes.string_at(0)", "100", "Python ended in this cell"),
    "endless": ("y = 2\nwhile True:\n    pass", "111", "No reply from kernel before timeout"),
    "deaf": (
        "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n    time.sleep(1)",
        "100",
        "still ran after 5 s, and its code ignored or caught the interrupt",
    ),
    "fork-bomb": ("import os\nwhile True:\n    os.fork()", "100", "more than the 64 processes and threads"),
    "memory": (GROW, "100", "needed more than the 512 MiB of memory"),
    "child": (
        f"y = 2\nimport subprocess, sys\nprint(subprocess.run([sys.executable, '-c', {GROW!r}]).returncode)",
        "111",
        "A process of this cell was killed",
    ),
    "one-output": (
        "y = 2\nprint('x' * 7 * 10**7)",
        "111",
        "output could not be read: a single output was too",
    ),
    "much-output": ("y = 2\nwhile True:\n    print('x' * 1000)", "111", "it put out more than 1 MB"),
    "disk": ("y = 2\nopen('big', 'wb').write(bytes(10**8))", "111", "A notebook may have 50 MB on disk"),
    "network": (
        "y = 2\nimport urllib.request\nurllib.request.urlopen('http://example.org')",
        "111",
        "There is no network while",
    ),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The class, graded by nbgrader's own commands."""
    answers = {name: case[0] for name, case in CASES.items()}
    root = small_class(tmp_path_factory.mktemp("class") / "course", answers, SETTINGS)
    run_nbgrader("autograde", "lab", root=root)
    run_nbgrader("generate_feedback", "lab", root=root)
    return root


def points(root: Path, student: str) -> str:
    with Course(root).gradebook() as gradebook:
        (notebook,) = gradebook.find_submission("lab", student).notebooks
        grades = {grade.name: grade for grade in notebook.grades}
        assert not any(grade.needs_manual_grade for grade in grades.values())
        return "".join(f"{grades[name].auto_score:g}" for name in GRADED)


def feedback(root: Path, student: str) -> str:
    """The words of what the student gets to read."""
    text = (root / "feedback" / student / "lab/lab.html").read_text(encoding="utf-8")
    return html.unescape(re.sub(r"<[^>]*>", "", text.partition("<body")[2]))


@pytest.mark.parametrize("student", CASES)
def test_it_keeps_what_it_earned_and_its_author_reads_why_it_lost_the_rest(
    graded: Path, student: str
) -> None:
    _, expected, words = CASES[student]
    assert points(graded, student) == expected
    read = feedback(graded, student)
    assert words in read
    assert ("This cell was not run" in read) == (expected == "100")


def test_no_report_says_that_there_was_no_sandbox(graded: Path) -> None:
    assert "without the sandbox" not in feedback(graded, "right")


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own, in this process
def test_the_formgraders_button_grades_behind_walls_too(tmp_path: Path) -> None:
    """It calls nbgrader's API where an event loop runs."""
    from nbgrader.apps import NbGraderAPI

    spy = "import os\ny = 2 if os.path.exists('/submission') else 1"
    root = small_class(tmp_path / "course", {"ada": spy})
    course = Course(root)

    async def press() -> dict[str, object]:
        api = NbGraderAPI(config=course.config)
        answer: dict[str, object] = api.autograde("lab", "ada")
        return answer

    answer = asyncio.run(press())
    assert answer["success"], answer
    assert points(root, "ada") == "111"


def test_without_bubblewrap_grading_stops_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = small_class(tmp_path / "course", {"ada": "y = 2", "bob": "y = 2"})
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NbgraderError, match="apt install bubblewrap") as stopped:
        run_nbgrader("autograde", "lab", root=root)
    assert str(stopped.value).count("No notebook was run") == 1
    assert "Traceback" not in str(stopped.value)
    assert list(root.glob("autograded/*/lab")) == []
    with Course(root).gradebook() as gradebook:
        assert list(gradebook.assignment_submissions("lab")) == []


def test_who_grades_without_it_is_told_in_every_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spy = "import os\ny = 1 if os.path.exists('/submission') else 2"
    root = small_class(tmp_path / "course", {"ada": spy})
    monkeypatch.setenv("LASTGOOD_UNSAFE", "1")
    run_nbgrader("autograde", "lab", root=root)
    run_nbgrader("generate_feedback", "lab", root=root)
    assert points(root, "ada") == "111"
    assert WITHOUT.partition("**")[2].partition("**")[0] in feedback(root, "ada")
