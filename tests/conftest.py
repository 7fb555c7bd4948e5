"""What tests share: what they may ask of the machine, notebooks, and a tiny course."""

import itertools
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from glob import glob
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from lastgood.recovery.supervise.outcome import Outcome

pytest_plugins = ["pytester"]

# A marker, the tool that it asks for, and the names that the tool goes by.
TOOLS = {
    "browser": ("chromium", ("chromium", "chromium-browser", "google-chrome")),
    "needs_bwrap": ("bwrap", ("bwrap",)),
    # Debian keeps PostgreSQL's server off PATH.
    "needs_postgres": ("postgres", ("initdb", "/usr/lib/postgresql/*/bin/initdb")),
    # Not commands: packages, all of which must be there.
    "needs_frameworks": ("frameworks", ("transformers", "accelerate", "lightning")),
}


def pytest_configure() -> None:
    """Let Ctrl-C reach what tests start: whatever runs behind a shell's `&` ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def tool_path(marker: str) -> str | None:
    """Where a tool is; for the frameworks a word, if all of them can be imported."""
    if marker == "needs_frameworks":
        return "installed" if all(map(find_spec, TOOLS[marker][1])) else None
    names = (found for name in TOOLS[marker][1] for found in (glob(name) if "/" in name else [name]))
    return next(filter(None, map(shutil.which, names)), None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, (tool, _) in TOOLS.items():
        if item.get_closest_marker(marker) and tool_path(marker) is None:
            pytest.skip(f"{tool} is not installed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Fail what was skipped for whatever reason though LASTGOOD_REQUIRE names the tool that it needs."""
    report = yield
    required = os.environ.get("LASTGOOD_REQUIRE", "").split(",")
    needed = [tool for marker, (tool, _) in TOOLS.items() if item.get_closest_marker(marker)]
    if report.skipped and not hasattr(report, "wasxfail") and set(needed) & set(required):
        report.outcome = "failed"
        report.longrepr = f"skipped, but LASTGOOD_REQUIRE asks for {', '.join(needed)}: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def repository() -> Path:
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def ended() -> Callable[..., "Outcome"]:
    """A function that makes the outcome of a supervised run: hit twice, stopped, and whatever is given."""
    from lastgood.recovery.faults import KILLED
    from lastgood.recovery.supervise.outcome import Failure, Outcome

    def ended(**changes: Any) -> "Outcome":
        hits = ((24, 20), (66, 60))  # step, and the one resumed at
        fields = {
            "identical": False,
            "steps": 128,
            "reached": 60,
            "executed_steps": 70,
            "kills": 2,
            "failures": tuple(Failure(KILLED, 3, float(step), step, at, 12, 0.0) for step, at in hits),
            "first_mismatch": None,
            "error": None,
            "wall_seconds": 3.0,
            "hours": {"work": 60.0, "redone": 10.0},
        }
        return Outcome(**fields | changes)

    return ended


@pytest.fixture(autouse=True)
def _no_grading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nbgrader leaves its mark in the environment of whoever validates in this process."""
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


@pytest.fixture(scope="session", autouse=True)
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Path]]:
    """No test writes into the learner's home of whoever runs it, nor does a process that one starts."""
    folder = tmp_path_factory.mktemp("homes")
    numbers = itertools.count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LASTGOOD_HOME", str(folder / "session"))
        yield lambda: folder / str(next(numbers))


@pytest.fixture(autouse=True)
def home(_homes: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The learner's home for the course: this test's own, not made yet."""
    home = _homes()
    monkeypatch.setenv("LASTGOOD_HOME", str(home))
    return home


@pytest.fixture(scope="session")
def chromium() -> str:
    path = tool_path("browser")
    assert path, "a test that uses this fixture bears the marker `browser`"
    return path


@pytest.fixture(scope="session")
def initdb() -> Path:
    """The command that makes a database cluster; the others of PostgreSQL's server lie beside it."""
    path = tool_path("needs_postgres")
    assert path, "a test that uses this fixture bears the marker `needs_postgres`"
    return Path(path)


class Notebooks:
    """Makes notebooks. A fixture, because tests cannot import from this file; nbformat takes a while."""

    @staticmethod
    def code(source: str) -> "NotebookNode":
        """A plain code cell."""
        from nbformat import v4

        return v4.new_code_cell(source)

    @staticmethod
    def text(source: str) -> "NotebookNode":
        """A Markdown cell."""
        from nbformat import v4

        return v4.new_markdown_cell(source)

    @classmethod
    def graded(cls, source: str, points: float = 1) -> "NotebookNode":
        """A locked test cell."""
        cell = cls.code(source)
        name = re.sub(r"\W+", "-", source)[:40]
        tags = {"schema_version": 3, "grade": True, "solution": False, "locked": True, "task": False}
        cell.metadata["nbgrader"] = {**tags, "grade_id": name, "points": points, "cell_type": "code"}
        return cell

    @staticmethod
    def write(path: Path, *cells: "NotebookNode") -> Path:
        """Write a notebook that Python's kernel runs."""
        import nbformat

        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = nbformat.v4.new_notebook(cells=list(cells), metadata={"kernelspec": kernel})
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)
        return path


@pytest.fixture(scope="session")
def notebooks() -> Notebooks:
    return Notebooks()


@pytest.fixture(scope="session")
def make_course(notebooks: Notebooks) -> Callable[[Path], Path]:
    """Make a course with a welcome, one lab and a glossary; return its root."""

    def make_course(root: Path) -> Path:
        welcome, lab = root / "course/lessons/00_welcome", root / "labs/lab18"
        notebooks.write(welcome.with_suffix(".ipynb"), notebooks.code("6 * 7"))
        welcome.with_suffix(".md").write_text("# Welcome\n")
        cells = notebooks.code("answer = 41"), notebooks.graded("assert answer == 42")
        notebooks.write(lab / "lab18.ipynb", *cells)
        (lab / "trace.csv").write_text("hour\n3\n")
        (root / "glossary.md").write_text('# Glossary\n\n<a id="mtbf"></a>\n\n## MTBF\n')
        (root / "nbgrader_config.py").touch()
        return root

    return make_course


@pytest.fixture
def course(tmp_path: Path, make_course: Callable[[Path], Path]) -> Path:
    return make_course(tmp_path / "course")


QUESTIONS = """\
# Questions to lesson 18

Two of them.


▢ A model of 6.7 billion parameters is saved. How much is written? Answer in GB.

<details><summary>Check</summary>

**80.4 GB**, within 2 %. Twelve bytes each.

- **13.4 GB.** The moments were left out.

</details>


▢ What makes a rename last, when the power fails?

- **A.** The rename itself.
- **B.** A sync of the *folder*.

<details><summary>Check</summary>

**B.** The name stands in the folder.

- **A.** It is atomic, and that is another thing.

</details>
"""
GLOSSARY = """\
# Glossary

<a id="atomic-rename"></a>
## Atomic rename

**In plain words.** Giving a file its name in one stroke.

**Also called.** atomic replace, swap

**More exactly.** POSIX `rename` replaces the target.

**In this course.** `os.replace` in [lab 18](labs/lab18/lab18.ipynb).

**Not to be confused with.** Copying.

**See also.** [Mean time between failures (MTBF)](#mtbf)

**Used in.** Lesson 18, lab 18

**Source.** POSIX, [rename](https://pubs.opengroup.org/onlinepubs/9699919799/functions/rename.html)

<a id="mtbf"></a>
## Mean time between failures (MTBF)

**In plain words.** How long it goes well.

**More exactly.** Time over failures.

**In this course.** 13.7 h.

**Not to be confused with.** A host's own.

**See also.** [Atomic rename](#atomic-rename)

**Used in.** Lesson 20
"""


def asked(question: str, check: str) -> str:
    return f"▢ {question}\n\n<details><summary>Check</summary>\n\n{check}\n\n</details>"


@pytest.fixture
def cards(tmp_path: Path, notebooks: Notebooks, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a course with six cards, five of them to lesson 18. It is the current folder."""
    root = tmp_path / "cards"
    head = notebooks.text("# Lesson 18. What to keep\n\n**Time.** About 20 minutes.")
    check = "The [rest](../../glossary.md#rest): $m_t$ < all."
    first = notebooks.text(asked("What does a checkpoint hold, beside the weights?", check))
    last = notebooks.text(asked("Why does saving more often cost more time?", "Each save waits."))
    notebooks.write(root / "course/lessons/18_keep.ipynb", head, first, notebooks.code("1"), last)
    notebooks.write(root / "labs/lab18/lab18.ipynb", notebooks.text("# Lab 18. Kill"))
    (root / "course/questions").mkdir()
    (root / "course/questions/18.md").write_text(QUESTIONS, encoding="utf-8")
    (root / "glossary.md").write_text(GLOSSARY, encoding="utf-8")
    monkeypatch.chdir(root)
    return root
