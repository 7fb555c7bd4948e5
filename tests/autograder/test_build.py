"""The notebooks that learners open: derived from their text twins, steady, and without an answer in them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from autograder import build, lint, notebooks
from autograder.cli import app
from autograder.nbgrader_env import environment, run_nbgrader
from lastgood.teaching.study.identity import LEDGER

REPO_ROOT = Path(__file__).resolve().parents[2]
LESSON, MASTER = Path("course/lessons/01_first.md"), Path("solutions/lab99/lab99.py")
RELEASED = Path("labs/lab99/lab99.ipynb")

LESSON_TEXT = """\
# What a run is

A run is a loop.

<a id="state"></a>
## State

```python
step = 3
```

It has a `step`.

## Check

<details><summary>How many steps?</summary>

## Not a section

Three.

</details>
"""


def cell(kind: str, source: str, **meta: object) -> str:
    """A cell in py:percent format, with nbgrader metadata where `meta` is given."""
    keys = {"schema_version": 3, "grade": False, "solution": False, "locked": False, **meta}
    header = "# %%" + (" [markdown]" if kind == "markdown" else "")
    body = source if kind == "code" else "\n".join(f"# {line}".rstrip() for line in source.split("\n"))
    return f"{header} nbgrader={json.dumps(keys)}\n{body}\n" if meta else f"{header}\n{body}\n"


SOLUTION = """\
def double(x):
    ### BEGIN SOLUTION
    return 2 * x  # the-secret
    ### END SOLUTION"""
SCHEME = "A sentence.\n\n=== BEGIN MARK SCHEME ===\nthe-secret: one point\n=== END MARK SCHEME ==="
CELLS = {
    "title": cell("markdown", "# Lab 99\n\nRead me.", grade_id="title", locked=True),
    "set-up": cell(
        "code", "from types import SimpleNamespace\n\ncheck = SimpleNamespace(double=lambda f: f(2) // 4)"
    ),
    "double": cell("code", SOLUTION, grade_id="double", solution=True),
    "double-check": cell(
        "code", "check.double(double)", grade_id="double-check", grade=True, locked=True, points=2
    ),
    "why": cell("markdown", "the-secret model answer", grade_id="why", grade=True, solution=True, points=1),
    "scheme": cell("markdown", SCHEME, grade_id="scheme", task=True, locked=True, points=0),
}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course of one lesson and one lab, with the real configuration, not yet built."""
    root = tmp_path / "course root"
    for path, text in ((LESSON, LESSON_TEXT), (MASTER, "\n".join(CELLS.values()))):
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text(text)
    (root / MASTER).with_name("words.txt").write_text("a b c\n")
    shutil.copy(REPO_ROOT / "nbgrader_config.py", root)
    return root


def with_cell(course: Path, name: str, text: str) -> None:
    (course / MASTER).write_text("\n".join({**CELLS, name: text}.values()))


def ids(course: Path, path: Path = LESSON) -> list[str]:
    content = build.derived(course)[path.with_suffix(".ipynb")].decode()
    return [found.id for found in nbformat.reads(content, as_version=4).cells]


def test_every_text_twin_gets_its_notebook_and_every_lab_its_release(course: Path) -> None:
    assert build.build(course) == [
        Path("course/lessons/01_first.ipynb"),
        Path("solutions/lab99/lab99.ipynb"),
        RELEASED,
        Path("labs/lab99/words.txt"),
    ]
    assert not (course / "gradebook.db").exists()


def test_a_second_build_writes_nothing(course: Path) -> None:
    build.build(course)
    assert build.build(course) == []


def test_the_release_holds_no_answer_and_no_master(course: Path) -> None:
    build.build(course)
    for path in (course / "labs").rglob("*"):
        text = path.read_text() if path.is_file() else ""
        assert path.suffix != ".py"
        for leak in ("the-secret", "BEGIN SOLUTION", "BEGIN HIDDEN TESTS", "BEGIN MARK SCHEME"):
            assert leak not in text, path
    assert "YOUR CODE HERE" in (course / RELEASED).read_text()


def test_the_release_is_what_a_plain_nbgrader_command_makes(course: Path) -> None:
    build.build(course)
    built = (course / RELEASED).read_bytes()
    run_nbgrader("generate_assignment", "lab99", "--force", "--no-db", root=course)
    assert (course / RELEASED).read_bytes() == built


def test_notebooks_carry_no_outputs_no_jupytext_traces_and_a_kernel(course: Path) -> None:
    for path, content in build.derived(course).items():
        if path.suffix == ".ipynb":
            found = json.loads(content)
            assert found["metadata"].keys() == {"kernelspec", "language_info"}
            assert found["metadata"]["kernelspec"]["name"] == "python3"
            assert not any("lines_to_next_cell" in cell["metadata"] for cell in found["cells"])
            assert not any(cell.get("outputs") for cell in found["cells"])


def test_released_cells_keep_complete_nbgrader_metadata(course: Path) -> None:
    found = nbformat.reads(build.derived(course)[RELEASED].decode(), as_version=4)
    assert [c.id for c in found.cells] == ["title", "lab-99_1", "double", "double-check", "why", "scheme"]
    complete = {"schema_version", "grade", "solution", "locked", "task", "grade_id", "cell_type", "checksum"}
    for c in found.cells:
        assert complete <= c.metadata.get("nbgrader", dict.fromkeys(complete)).keys()
    assert found.cells[3].metadata.nbgrader.points == 2


def test_a_lesson_has_a_cell_a_section_named_for_its_heading(course: Path) -> None:
    assert ids(course) == ["what-a-run-is_1", "state_1", "state_2", "state_3", "check_1"]
    cells = nbformat.reads(build.derived(course)[LESSON.with_suffix(".ipynb")].decode(), as_version=4).cells
    assert cells[1].source == '<a id="state"></a>\n## State'
    assert "## Not a section" in cells[4].source


def test_a_new_cell_under_one_heading_leaves_the_ids_under_others_alone(course: Path) -> None:
    before = ids(course)
    text = LESSON_TEXT.replace("It has a", "```python\nstep += 1\n```\n\nIt has a")
    (course / LESSON).write_text(text)
    assert set(before) < set(ids(course))
    assert [i for i in ids(course) if not i.startswith("state")] == ["what-a-run-is_1", "check_1"]


def test_headings_with_the_same_text_get_different_ids(course: Path) -> None:
    (course / LESSON).write_text(
        "## Check\na\n\n## Check\nb\n\n```python\n1\n```\n\n## Check 2\nc\n\n## Ωμέγα\n"
    )
    assert ids(course) == ["check_1", "check__2_1", "check__2_2", "check-2_1", "section_1"]


def test_check_is_silent_when_all_is_in_step(course: Path) -> None:
    build.build(course)
    assert build.check(course) == []


def edited(course: Path) -> str:
    path = course / RELEASED
    path.write_text(path.read_text().replace("Read me", "Read us"))
    return RELEASED.as_posix()


def stale(course: Path) -> str:
    (course / LESSON).write_text(LESSON_TEXT + "\nMore.\n")
    return LESSON.with_suffix(".ipynb").as_posix()


def missing(course: Path) -> str:
    (course / "labs/lab99/words.txt").unlink()
    return "labs/lab99/words.txt: missing"


def orphan(course: Path) -> str:
    (course / "course/lessons/02_gone.ipynb").write_text("{}")
    return "course/lessons/02_gone.ipynb: has no text twin"


def leftover(course: Path) -> str:
    (course / "labs/lab99/lab99.py").write_text("answers = True\n")
    return "labs/lab99/lab99.py: has no text twin"


@pytest.mark.parametrize("spoil", [edited, stale, missing, orphan, leftover])
def test_check_reports_what_is_out_of_step_and_nothing_else(
    course: Path, spoil: Callable[[Path], str]
) -> None:
    build.build(course)
    said = spoil(course)
    found = build.check(course)
    assert len(found) == 1
    assert found[0].startswith(said)


def ask(course: Path, question: str) -> None:
    text = f"{LESSON_TEXT}\n▢ {question}\n\n<details><summary>Check</summary>\n\nSo.\n\n</details>\n"
    (course / LESSON).write_text(text)


def test_the_build_writes_down_which_question_is_which_and_knows_it_again_after_a_small_edit(
    course: Path,
) -> None:
    ask(course, "Why does a run that was killed go on where it stopped?")
    assert build.build(course)[-1] == LEDGER
    [(first, text)] = json.loads((course / LEDGER).read_text()).items()
    assert text == "Why does a run that was killed go on where it stopped?"
    assert build.build(course) == []
    ask(course, "Why does a run that was killed go on where it had stopped?")
    build.build(course)
    assert list(json.loads((course / LEDGER).read_text())) == [first]
    ask(course, "What is lost?")
    build.build(course)
    assert list(json.loads((course / LEDGER).read_text())) != [first]
    assert build.check(course) == []


def test_ids_of_questions_that_are_out_of_step_are_reported(course: Path) -> None:
    ask(course, "Why?")
    build.build(course)
    (course / LEDGER).unlink()
    assert build.check(course) == ["course/cards.json: not what the questions make; run `autograder build`"]


def test_a_malformed_question_is_named_and_stops_the_build(course: Path) -> None:
    (course / LESSON).write_text(f"{LESSON_TEXT}\n▢ Why?\n")
    with pytest.raises(build.BuildError, match=r"01_first\.ipynb, cell 5, line \d+: has no Check under it"):
        build.build(course)


def test_the_command_ends_with_status_1_and_the_list(course: Path) -> None:
    run = CliRunner()
    assert run.invoke(app, ["build", "--root", str(course)]).exit_code == 0
    assert run.invoke(app, ["build", "--check", "--root", str(course)]).exit_code == 0
    said = edited(course)
    result = run.invoke(app, ["build", "--check", "--root", str(course)])
    assert result.exit_code == 1
    assert said in result.stdout


def test_a_faulty_twin_is_named_and_not_built(course: Path) -> None:
    with_cell(course, "double", cell("code", SOLUTION))
    with pytest.raises(build.BuildError, match="not a solution cell") as caught:
        build.derived(course)
    assert caught.value.path == MASTER
    (course / LESSON).write_text("# A\n\n```bash\nls\n```\n")
    with pytest.raises(build.BuildError, match="write ```console") as caught:
        build.derived(course)
    assert caught.value.path == LESSON


def test_a_check_of_a_name_that_goes_with_the_answer_is_refused(course: Path) -> None:
    whole = "### BEGIN SOLUTION\ndef double(x):\n    return 2 * x\n### END SOLUTION"
    with_cell(course, "double", cell("code", whole, grade_id="double", solution=True))
    with pytest.raises(build.BuildError, match="reads 'double', which the released notebook never defines"):
        build.derived(course)


def test_a_master_that_the_configuration_would_release_is_refused(course: Path) -> None:
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text().replace('    "lab*.py",\n', ""))
    with pytest.raises(build.BuildError, match="with its answers"):
        build.derived(course)


def test_slugs_are_plain_and_short() -> None:
    assert notebooks.slug("The `state_dict` of [Adam](a.md) é <b>x</b>!") == "the-state-dict-of-adam-e-x"
    assert len(notebooks.slug("long " * 40)) <= 40


def test_nbgrader_finds_alembic_without_an_activated_environment() -> None:
    assert shutil.which("alembic", path=environment({"PATH": "/nowhere"})["PATH"])


def test_this_repository_is_in_step() -> None:
    assert build.check(REPO_ROOT) == []


def test_this_repository_releases_no_answer() -> None:
    for path in (REPO_ROOT / "labs").rglob("*"):
        assert path.suffix != ".py"
        for marker in lint.MARKERS if path.is_file() else ():
            assert f"BEGIN {marker}".encode() not in path.read_bytes(), path
