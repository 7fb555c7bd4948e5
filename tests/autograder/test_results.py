"""A gradebook and its autograded notebooks, read into a table of points and reasons."""

import io
import shutil

import nbformat
import pytest
from nbformat import NotebookNode
from rich.console import Console

from autograder.course import Course
from autograder.results import Exercise, Mark, Results, ResultsError, Row, exercises_of, read_results
from autograder.results_view import show
from lastgood.teaching.checks.report import Part, Report

MASK, DISK, WRITTEN = "check-causal-mask", "check-save-load", "looks-fine"
# nbgrader adds a submission in a way that SQLAlchemy warns of.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
FAULT = "off by [bold]one[/bold]"


@pytest.fixture(scope="module")
def course(sample_class: Course, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course of three: Ada was graded, Bob's grading failed, and Cy's was not begun."""
    found = Course(tmp_path_factory.mktemp("class") / "course")
    shutil.copytree(sample_class.root, found.root, ignore=shutil.ignore_patterns("submitted"))
    for student in ("ada", "bob", "cy"):
        found.folder("submitted", "lab18", student).mkdir(parents=True)
    released = nbformat.read(found.folder("release", "lab18") / "lab18.ipynb", as_version=4)
    graded = found.folder("autograded", "lab18", "ada")
    graded.mkdir(parents=True)
    report = Report("A1 Causal mask", (Part("A1 Causal mask", 0, 2, FAULT),))
    data = {"text/plain": "0", "text/html": report._repr_html_()}
    cells = {cell.id: cell for cell in released.cells}
    cells[MASK].outputs = [nbformat.v4.new_output("execute_result", data, execution_count=1)]
    released.cells = [cell for cell in released.cells if cell.id != DISK]
    nbformat.write(released, graded / "lab18.ipynb")
    with found.gradebook() as gradebook:
        for student in ("ada", "bob"):
            gradebook.add_student(student)
            gradebook.add_submission("lab18", student)
        (book,) = gradebook.find_submission("lab18", "ada").notebooks
        for grade in book.grades:
            points = {MASK: 0.0, DISK: 0.0, WRITTEN: None}.get(grade.name, grade.max_score)
            grade.auto_score, grade.needs_manual_grade = points, points is None
        gradebook.db.commit()
    return found


def released_lab(*sources: str) -> NotebookNode:
    """A notebook with a heading for each source that begins with ##, and a check for every other."""
    notebook = nbformat.v4.new_notebook()
    for source in sources:
        if source.startswith("##"):
            notebook.cells.append(nbformat.v4.new_markdown_cell(source))
            continue
        meta = {"nbgrader": {"grade": True, "grade_id": source, "points": 2, "solution": False}}
        notebook.cells.append(nbformat.v4.new_code_cell(f"check.{source}()", metadata=meta))
    return notebook


def test_exercises_are_labelled_by_the_lettered_part_that_they_stand_in(course: Course) -> None:
    found = read_results(course, "lab18").exercises
    assert " ".join(e.label for e in found) == "A1 A2 B C D1 D2 D3 D4 D5 D6"
    assert [e.title for e in found][:3] == ["causal mask", "next token loss", "capture restore"]
    assert [e.label for e in found if e.by_person] == ["D5", "D6"]
    assert sum(e.worth for e in found) == 30


def test_exercises_outside_lettered_parts_are_numbered() -> None:
    found = exercises_of(released_lab("one", "two", "## B. Part", "three"))
    assert [e.label for e in found] == ["1", "2", "B"]


def test_points_are_the_gradebooks_and_reasons_the_notebooks(course: Course) -> None:
    ada = read_results(course, "lab18").rows[0]
    assert ada.marks[MASK] == Mark(0.0, 2.0, FAULT)
    assert ada.marks[DISK] == Mark(0.0, 6.0, "The cell was deleted from the notebook.")
    assert ada.marks["check-symptom"] == Mark(1.0, 1.0)
    assert ada.points == 30 - 2 - 6 - 3


def test_a_written_answer_waits_until_a_person_has_read_it(course: Course) -> None:
    assert read_results(course, "lab18").rows[0].marks[WRITTEN] == Mark(None, 3.0)
    with course.gradebook() as gradebook:
        gradebook.find_grade(WRITTEN, "lab18", "lab18", "ada").manual_score = 1.0
        gradebook.db.commit()
    assert read_results(course, "lab18").rows[0].marks[WRITTEN] == Mark(1.0, 3.0, "A person's judgement.")
    with course.gradebook() as gradebook:
        gradebook.find_grade(WRITTEN, "lab18", "lab18", "ada").manual_score = None
        gradebook.db.commit()


def test_who_could_not_be_graded_is_in_the_table_without_marks(course: Course) -> None:
    rows = read_results(course, "lab18").rows
    assert [(row.student, len(row.marks)) for row in rows] == [("ada", 10), ("bob", 0), ("cy", 0)]


def test_a_lab_that_was_never_released_is_an_error_that_says_what_releases_it(course: Course) -> None:
    with pytest.raises(ResultsError, match="nbgrader generate_assignment lab99"):
        read_results(course, "lab99")


def test_the_table_fits_80_columns_and_prints_reasons_as_they_are(course: Course) -> None:
    console = Console(file=io.StringIO(), width=80)
    show(read_results(course, "lab18"), console, {"ada": "says so"})
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue()
    assert "ada 0 2 10 0 1 1 1 1 … 3 19" in " ".join(said.split())
    assert "C -6 The cell was deleted" in " ".join(said.split())
    assert FAULT in said
    assert max(map(len, said.splitlines())) <= 80


def test_reasons_that_are_equal_are_printed_once() -> None:
    exercises = tuple(Exercise(n, n.upper(), n, 2, False) for n in ("a", "b"))
    row = Row("ada", {n: Mark(0, 2, "Not written yet.") for n in ("a", "b")})
    console = Console(file=io.StringIO(), width=80)
    show(Results("lab", exercises, (row,)), console)
    assert isinstance(console.file, io.StringIO)
    assert "A -2, B -2 Not written yet." in " ".join(console.file.getvalue().split())
