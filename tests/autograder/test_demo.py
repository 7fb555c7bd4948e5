"""The sample class: how its submissions are made, how it is graded, and that a wrong grade is noticed."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from rich.console import Console
from typer.testing import CliRunner

from autograder import demo
from autograder.cli import app
from autograder.course import Course
from autograder.mutants import VariantError, master_text
from autograder.results import Exercise, Mark, Results, Row
from autograder.sample_class import BLANK, ENDLESS, RIGHT, SampleError, Student, lab18_class, submission

ROOT = Path(__file__).resolve().parents[2]
STUDENTS = lab18_class()
NAMES = [student.name for student in STUDENTS]


def released(course: Course) -> Path:
    return course.folder("release", "lab18") / "lab18.ipynb"


def notebook(sample_class: Course, student: str) -> NotebookNode:
    return nbformat.read(sample_class.folder("submitted", "lab18", student) / "lab18.ipynb", as_version=4)


def source(sample_class: Course, student: str, name: str) -> str:
    (found,) = [cell.source for cell in notebook(sample_class, student).cells if cell.id == name]
    assert isinstance(found, str)
    return found


def test_the_class_has_nine_students_or_more_and_five_mutants_or_more() -> None:
    assert len(STUDENTS) == len(set(NAMES)) >= 9
    assert sum(bool(student.loses) for student in STUDENTS) >= 5
    assert {RIGHT, BLANK, ENDLESS} < set(NAMES)
    assert {bool(student.answers) for student in STUDENTS} == {True, False}


def test_the_demos_release_is_the_courses_release(sample_class: Course) -> None:
    assert released(sample_class).read_bytes() == (ROOT / "labs/lab18/lab18.ipynb").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_a_submission_has_the_released_cells_with_their_metadata_and_no_markers(
    sample_class: Course, name: str
) -> None:
    release = nbformat.read(released(sample_class), as_version=4)
    handed_in = notebook(sample_class, name)
    assert handed_in.metadata == release.metadata
    for got, expected in zip(handed_in.cells, release.cells, strict=True):
        assert (got.id, got.cell_type, got.metadata) == (expected.id, expected.cell_type, expected.metadata)
        if got.metadata.get("nbgrader", {}).get("locked"):
            assert got.source == expected.source
        assert not got.get("outputs")
        assert "SOLUTION" not in got.source


def test_the_blank_submission_is_the_release_byte_for_byte(sample_class: Course) -> None:
    handed_in = sample_class.folder("submitted", "lab18", BLANK) / "lab18.ipynb"
    assert handed_in.read_bytes() == released(sample_class).read_bytes()


def test_a_mutant_hands_in_its_patch_and_the_right_student_the_masters_code(sample_class: Course) -> None:
    assert ".tril()" in source(sample_class, RIGHT, "causal-mask")
    assert ".tril(1)" in source(sample_class, "mask-off-by-one", "causal-mask")
    assert "while True:" in source(sample_class, ENDLESS, "causal-mask")
    assert '"optimizer"' in source(sample_class, RIGHT, "capture-restore")
    assert '"optimizer"' not in source(sample_class, "no-optimizer-state", "capture-restore")


def test_written_answers_are_the_students_own_or_stay_blank(sample_class: Course) -> None:
    blank = source(sample_class, BLANK, "looks-fine")
    assert "YOUR ANSWER HERE" in blank
    for student in STUDENTS:
        expected = student.answers[0] if student.answers else blank
        assert source(sample_class, student.name, "looks-fine") == expected


def test_a_submission_bears_what_nbgraders_submit_leaves_beside_it(sample_class: Course) -> None:
    secrets = set()
    for name in NAMES:
        folder = sample_class.folder("submitted", "lab18", name)
        assert {path.name for path in folder.iterdir()} == {
            "lab18.ipynb",
            "timestamp.txt",
            "submission_secret.txt",
        }
        assert (folder / "timestamp.txt").read_text().endswith(" UTC")
        secrets.add((folder / "submission_secret.txt").read_text())
    assert len(secrets) == len(NAMES)


def test_code_outside_solutions_is_written_where_a_variant_changes_it(sample_class: Course) -> None:
    release = nbformat.read(released(sample_class), as_version=4)
    master = master_text(ROOT, "lab18")
    right = STUDENTS[NAMES.index(RIGHT)]
    assert right.variant is not None
    with_import = replace(right.variant, edits=(("import copy\n", "import copy\nimport json\n"),))
    handed_in = submission(release, master, replace(right, variant=with_import))
    changed = [
        cell.source
        for cell, before in zip(handed_in.cells, submission(release, master, right).cells, strict=True)
        if cell.source != before.source
    ]
    assert len(changed) == 1
    assert changed[0].startswith("import copy\nimport json\n")


def test_a_patch_that_is_stale_or_makes_other_cells_is_an_error(sample_class: Course) -> None:
    release = nbformat.read(released(sample_class), as_version=4)
    master = master_text(ROOT, "lab18")
    right = STUDENTS[NAMES.index(RIGHT)]
    assert right.variant is not None
    stale = replace(right, variant=replace(right.variant, edits=(("no such text", ""),)))
    with pytest.raises(VariantError, match="stands 0 times"):
        submission(release, master, stale)
    torn = replace(right, variant=replace(right.variant, edits=(("import os\n", "# %%\nimport os\n"),)))
    with pytest.raises(SampleError, match="not those of the release"):
        submission(release, master, torn)


def results_of(student: str, *points: float | None) -> Results:
    exercises = (
        Exercise("check-it", "A", "it", 2, by_person=False),
        Exercise("check-that", "B", "that", 4, by_person=False),
        Exercise("why", "C", "why", 3, by_person=True),
    )
    marks = {e.grade_id: Mark(p, e.worth) for e, p in zip(exercises, points, strict=False)}
    return Results("lab", exercises, (Row(student, marks),))


@pytest.mark.parametrize(
    ("student", "points", "expected"),
    [
        (Student("ada", None, {"check-it": 2}, ("x",)), (0, 4, None), []),
        (Student("ada", None, {"check-it": 2}, ("x",)), (2, 4, None), ["ada: A it: 2, expected 0"]),
        (Student("ada", None, {"check-it": 2}, ("x",)), (0, 3, None), ["ada: B that: 3, expected 4"]),
        (Student("ada", None, {}, ()), (2, 4, None), ["ada: C why: waits for a person, expected 0"]),
        (Student("ada", None, None, ()), (0, 1, 0), ["ada: B that: 1, expected 0"]),
        (Student("ada", None, {}, ()), (), ["ada: not graded. The disk is full."]),
    ],
)
def test_a_grade_that_a_variant_does_not_declare_is_named(
    student: Student, points: tuple[float | None, ...], expected: list[str]
) -> None:
    faults = {} if points else {"ada": "The disk is full."}
    assert list(demo.differences(results_of("ada", *points), [student], faults)) == expected


def test_a_wrong_grade_makes_the_command_fail(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for wrong, status in ((["ada: A it: 2, expected 0"], 1), ([], 0)):
        monkeypatch.setattr(demo, "run", lambda *_, wrong=wrong, **__: wrong)
        done = CliRunner().invoke(app, ["demo", "--root", str(ROOT), "--folder", str(tmp_path / "demo")])
        assert done.exit_code == status
        assert all(line in done.output for line in wrong)


def test_a_folder_that_no_demo_made_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    done = CliRunner().invoke(app, ["demo", "--root", str(ROOT), "--folder", str(tmp_path)])
    assert done.exit_code == 1
    assert "no demo made it" in " ".join(done.output.split())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_formgrader_needs_a_class_to_open(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["demo", "--formgrader", "--root", str(ROOT), "--folder", str(tmp_path)])
    assert done.exit_code == 1
    assert "run `autograder demo` first" in " ".join(done.output.split())


def test_make_demo_runs_the_command() -> None:
    recipe = (ROOT / "Makefile").read_text().partition("\ndemo:")[2].splitlines()[1]
    assert recipe.strip() == "$(BIN)/autograder demo"


@pytest.mark.slow
@pytest.mark.needs_bwrap
def test_a_class_is_graded_from_release_to_feedback_and_one_without_end_does_not_hold_it_up(
    tmp_path: Path,
) -> None:
    names = [ENDLESS, BLANK, "by-hand", "no-rng"]
    students = [student for student in STUDENTS if student.name in names]
    real = ROOT / "gradebook.db"
    before = real.stat().st_mtime_ns if real.exists() else None
    folder, screen = tmp_path / "demo", io.StringIO()

    assert demo.run(ROOT, folder, Console(file=screen, width=100), students=students) == []

    said = " ".join(screen.getvalue().split())
    for line in (
        "endless 0 2 10 6 1 1 1 1 … … 22",
        "blank 0 0 0 0 0 0 0 0 0 0 0",
        "by-hand 2 2 10 6 1 1 1 1 … … 24",
        "no-rng 2 2 8 6 1 1 1 1 0 0 22",
        "It did not end in time and was stopped. It was at line 3: while True:",
        "RNG state: restore left it as the new run had it: Python's random, NumPy's and torch's generators",
    ):
        assert line in said
    with open(folder / "grades.csv", newline="") as file:
        assert {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)} == {
            "endless": 22.0,
            "blank": 0.0,
            "by-hand": 24.0,
            "no-rng": 22.0,
        }
    for name in (student.name for student in students):
        assert {path.name for path in (folder / "feedback" / name / "lab18").iterdir()} == {
            "lab18.html",
            "timestamp.txt",
            "submission_secret.txt",
        }
    for step in ("autograded", "feedback", "labs", "submitted"):
        assert not list((folder / step).rglob("*.py"))
    assert (real.stat().st_mtime_ns if real.exists() else None) == before
    trial = json.loads((folder / "autograded/by-hand/lab18/lab18.ipynb").read_text())["cells"][-2]
    assert "No trial while" in json.dumps(trial["outputs"])
