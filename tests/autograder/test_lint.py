"""What a text twin must keep to is told in one line, before anything is released."""

import json

import pytest

from autograder import lint, notebooks


def cell(kind: str, source: str, **meta: object) -> str:
    """A cell in py:percent format, with nbgrader metadata where `meta` is given."""
    keys = {"schema_version": 3, "grade": False, "solution": False, "locked": False, **meta}
    header = "# %%" + (" [markdown]" if kind == "markdown" else "")
    body = source if kind == "code" else "\n".join(f"# {line}".rstrip() for line in source.split("\n"))
    return f"{header} nbgrader={json.dumps(keys)}\n{body}\n" if meta else f"{header}\n{body}\n"


SOLUTION = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
SCHEME = "A sentence.\n\n=== BEGIN MARK SCHEME ===\none point\n=== END MARK SCHEME ==="
CELLS = {
    "title": cell("markdown", "# Lab 99", grade_id="title", locked=True),
    "double": cell("code", SOLUTION, grade_id="double", solution=True),
    "double-check": cell("code", "check.double(double)", grade_id="d-c", grade=True, locked=True, points=2),
    "why": cell("markdown", "model answer", grade_id="why", grade=True, solution=True, points=1),
    "scheme": cell("markdown", SCHEME, grade_id="scheme", task=True, locked=True, points=0),
}


def test_a_sound_master_has_no_faults() -> None:
    assert lint.lint_master(notebooks.master_notebook("\n".join(CELLS.values()))) == []


@pytest.mark.parametrize(
    "source", ["check.double(double)", "# comment\ncheck.answer(q1, units=['s', -1], at=net.head)"]
)
def test_a_graded_cell_of_one_check_is_accepted(source: str) -> None:
    assert lint.lint_graded_cell(source) == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "one call"),
        ("x = check.double(double)", "one call"),
        ("assert double(2) == 4", "one call"),
        ("check.double(double)\ncheck.double(double)", "one call"),
        ("double(2)", "not `double`"),
        ("judge.double(double)", "not `judge.double`"),
        ("check.double(double(2))", "not `double(2)`"),
        ("check.double(y := 2)", "not `(y := 2)`"),
        ("check.double([x for x in y])", "compute it in a cell above"),
        ("check.double(lambda x: x)", "compute it in a cell above"),
        ("check.double(double);", "semicolon"),
        ("%timeit check.double(double)", "plain Python"),
    ],
)
def test_a_graded_cell_of_anything_else_is_refused(source: str, said: str) -> None:
    assert said in " ".join(lint.lint_graded_cell(source))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "why",
            cell("markdown", "answer", grade_id="double", grade=True, solution=True, points=1),
            "duplicated",
        ),
        ("title", '# %% [markdown] nbgrader={"grade_id": "title", "locked": true}\n# hi\n', "lacks 'grade'"),
        ("title", cell("markdown", "hi", grade_id="no spaces", locked=True), "letters, digits"),
        ("double-check", cell("code", "check.double(double)", grade_id="d", grade=True), "lacks 'points'"),
        ("double-check", cell("code", "print(1)", grade_id="d", grade=True, points=1), "not `print`"),
        (
            "double",
            cell("code", "def double(x): ...", grade_id="double", solution=True),
            "needs a BEGIN SOLUTION",
        ),
        ("double", cell("code", SOLUTION), "not a solution cell"),
        (
            "double",
            cell("code", SOLUTION.replace("### END", "### NO"), grade_id="double", solution=True),
            "pair up",
        ),
        ("double", cell("code", SOLUTION, grade_id="double", solution=True, ponits=1), "no key 'ponits'"),
        ("why", cell("markdown", SCHEME, grade_id="why", locked=True), "not a task cell"),
        ("why", cell("markdown", "", grade_id="why", grade=True, solution=True, points=1), "model answer"),
    ],
)
def test_a_master_that_would_grade_wrongly_is_found_out(name: str, text: str, said: str) -> None:
    master = "\n".join({**CELLS, name: text}.values())
    assert said in " ".join(lint.lint_master(notebooks.master_notebook(master)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# A\n\n```bash\nls\n```\n", "write ```console"),
        ("# A\n\n<details>\n\n```python\n1\n```\n\n</details>\n", "<details>"),
    ],
)
def test_a_lesson_that_would_open_broken_is_found_out(text: str, said: str) -> None:
    assert said in " ".join(lint.lint_lesson(notebooks.lesson_notebook(text)))
