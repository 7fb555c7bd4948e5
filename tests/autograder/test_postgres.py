"""A gradebook in PostgreSQL: two graders at once leave in it what one alone leaves in SQLite."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url

from autograder.course import Course
from autograder.runner.places import place
from autograder.runner.run import grade

from .gradebooks import rows
from .postgres import Server, server
from .sandbox.conftest import GRADED, small_class

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own, in this process

ANSWERS = {"ada": "y = 2", "bob": "y = 1", "chi": "raise ValueError", "dov": "y = 2\nz = 4"}
# Both come to `bob` and `chi`, and one after the other to their rows.
SHARES = ("ada", "bob", "chi"), ("dov", "chi", "bob")
# A grader: begins when it reads a line, like the other one.
SHARE = """
import sys
from pathlib import Path
from autograder.course import Course
from autograder.runner.places import place
from autograder.runner.run import Wish, grade

if __name__ == "__main__":
    course = Course(Path(sys.argv[1]))
    print("ready", flush=True)
    sys.stdin.readline()
    with place(course, "lab", 1) as workers:
        begun, *done = grade(course, "lab", workers, Wish(tuple(sys.argv[2:])))
    print("left", [each.fault for each in done], flush=True)
"""
# One that prints nbgrader's log, and stops before it enters a row until it reads a line.
STOP = "about to"
STOPS = f"""
import sys
from pathlib import Path
from autograder.course import Course
from nbgrader.api import Gradebook

def stop_before(name):
    def stopping(self, *arguments, enter=getattr(Gradebook, name), **columns):
        print("{STOP}", name, flush=True)
        sys.stdin.readline()
        return enter(self, *arguments, **columns)
    setattr(Gradebook, name, stopping)

stop_before("add_student")
stop_before("add_submission")
Course(Path(sys.argv[1])).autograde("lab", "ada", Path("/dev/stdout"))
print("left", flush=True)
"""


class Grader:
    """A grader's process, a line at a time."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process, self.said = process, ""

    def until(self, words: str) -> str:
        """Read up to a line with these words; returns what was read."""
        began = len(self.said)
        for line in self._process.stdout:
            self.said += line
            if words in line:
                return self.said[began:]
            if line.startswith(STOP):  # and goes on when it is told to: waiting would be for ever
                break
        pytest.fail(f"the grader said nothing of {words!r}:\n{self.said}")

    def go_on(self) -> None:
        print(file=self._process.stdin, flush=True)


@contextmanager
def grader(script: str, *arguments: str | Path) -> Iterator[Grader]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen([sys.executable, script, *arguments], **pipes) as process:
        try:
            yield Grader(process)
        finally:
            process.kill()


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    """A function that writes a program for Python and returns its path, which spawned workers need."""

    def script(text: str) -> str:
        path = tmp_path / "grader.py"
        path.write_text(text)
        return str(path)

    return script


@pytest.fixture(scope="module")
def postgres(initdb: Path) -> Iterator[Server]:
    with server(initdb) as running:
        yield running


@pytest.fixture(scope="module")
def class_at(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Path], Course]:
    """A function that makes a small class, handed in, whose gradebook has this address."""
    handed_in = small_class(tmp_path_factory.mktemp("handed-in") / "course", ANSWERS)

    def class_at(url: str, root: Path) -> Course:
        shutil.copytree(handed_in, root, ignore=shutil.ignore_patterns("gradebook.db", "labs"))
        with (root / "nbgrader_config.py").open("a") as settings:
            settings.write(f"c.CourseDirectory.db_url = {url!r}\n")
        course = Course(root)
        course.generate_assignment("lab", root / "release.log")
        return course

    return class_at


def points(course: Course) -> dict[str, str]:
    with course.gradebook() as gradebook:
        return {
            submission.student.id: "".join(
                f"{score:g}"
                for name in GRADED
                for notebook in submission.notebooks
                for score in [grade.auto_score for grade in notebook.grades if grade.name == name]
            )
            for submission in gradebook.assignment_submissions("lab")
        }


def pages(course: Course) -> list[Any]:
    """What the Formgrader's pages ask of the gradebook."""
    with course.gradebook() as gradebook:
        asked = (
            gradebook.student_dicts(),
            gradebook.submission_dicts("lab"),
            gradebook.notebook_submission_dicts("lab", "lab"),
        )
        averages = gradebook.average_assignment_score("lab"), gradebook.average_notebook_score("lab", "lab")
    without_keys = [
        sorted(
            str({key: value for key, value in row.items() if key != "id" or value in ANSWERS}) for row in each
        )
        for each in asked
    ]
    return [*without_keys, averages]


def exported(course: Course) -> list[str]:
    """The lines of nbgrader's export, which have no order where students have no names."""
    course.export_csv("lab", course.root / "grades.csv", course.root / "export.log")
    return sorted((course.root / "grades.csv").read_text().splitlines())


@pytest.mark.slow
@pytest.mark.needs_bwrap
@pytest.mark.needs_postgres
def test_two_graders_at_once_leave_what_one_leaves_in_sqlite(
    postgres: Server, tmp_path: Path, class_at: Callable[[str, Path], Course], script: Callable[[str], str]
) -> None:
    alone = class_at(f"sqlite:///{tmp_path / 'alone.db'}", tmp_path / "alone")
    with place(alone, "lab", 1) as workers, closing(grade(alone, "lab", workers)) as events:
        _, *done = events
    assert [each.fault for each in done] == [""] * len(ANSWERS)
    both = class_at(postgres.create("both"), tmp_path / "both")
    shutil.copytree(both.root, tmp_path / "other")
    program = script(SHARE)
    with (
        grader(program, both.root, *SHARES[0]) as one,
        grader(program, tmp_path / "other", *SHARES[1]) as other,
    ):
        for each in one, other:
            each.until("ready")
        for each in one, other:
            each.go_on()
        for each in one, other:
            assert each.until("left").endswith("left ['', '', '']\n")
    assert points(both) == {"ada": "111", "bob": "101", "chi": "101", "dov": "111"}
    assert rows(both) == rows(alone)
    assert pages(both) == pages(alone)
    assert exported(both) == exported(alone)


@pytest.mark.slow
@pytest.mark.needs_bwrap
@pytest.mark.needs_postgres
def test_two_who_enter_a_submission_at_the_same_moment_both_grade_it(
    postgres: Server, tmp_path: Path, class_at: Callable[[str, Path], Course], script: Callable[[str], str]
) -> None:
    """Each in a folder of their own. nbgrader's own second one fails, and says nothing of why."""
    course = class_at(postgres.create("entered"), tmp_path / "one")
    shutil.copytree(course.root, tmp_path / "other")
    program = script(STOPS)
    with grader(program, tmp_path / "one") as one, grader(program, tmp_path / "other") as other:
        for row in "student", "submission":
            for each in one, other:
                each.until(f"about to add_{row}")
            for each in one, other:
                each.go_on()
        said = one.until("left") + other.until("left")
    assert said.count("Another grader entered the same row") >= 1
    assert_graded_once(course)
    assert (tmp_path / "other/autograded/ada/lab/lab.ipynb").is_file()


@pytest.mark.slow
@pytest.mark.needs_bwrap
@pytest.mark.needs_postgres
def test_the_second_to_come_to_a_submission_in_a_folder_waits_and_finds_it_graded(
    postgres: Server, tmp_path: Path, class_at: Callable[[str, Path], Course], script: Callable[[str], str]
) -> None:
    course = class_at(postgres.create("waited"), tmp_path / "course")
    program = script(STOPS)
    with grader(program, course.root) as one:
        one.until("about to add_student")
        with grader(program, course.root) as other:  # begun only now: either could come first
            other.until("Another grader is at this submission")
            one.go_on()
            one.until("about to add_submission")
            one.go_on()
            assert "Skipping existing assignment" not in one.until("left")
            assert "Skipping existing assignment" in other.until("left")
    assert_graded_once(course)


def assert_graded_once(course: Course) -> None:
    found = rows(course)
    counts = [
        len(found[table]) for table in ("student", "submitted_assignment", "submitted_notebook", "grade")
    ]
    assert counts == [1, 1, 1, len(GRADED)]
    assert points(course) == {"ada": "111"}
    assert (course.root / "autograded/ada/lab/lab.ipynb").is_file()


def test_the_address_that_the_settings_suggest_has_a_driver_here(repository: Path) -> None:
    text = (repository / "nbgrader_config.py").read_text()
    (suggested,) = re.findall(r'^# +c\.CourseDirectory\.db_url = "(.+)"$', text, re.MULTILINE)
    assert make_url(suggested).get_dialect().import_dbapi().paramstyle == "pyformat"


def test_the_gradebook_is_a_file_by_default(repository: Path) -> None:
    assert make_url(Course(repository).config.CourseDirectory.db_url).get_backend_name() == "sqlite"
