"""A report on a lab: points, what was hard and why, the distribution, and who is not done."""

import io
import json
import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pytest
from nbformat import NotebookNode
from rich.console import Console
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course import Course
from autograder.intake.notes import Notes
from autograder.report import Report, ReportError, as_json_data, hardest, histogram, read_report
from autograder.report_page import page, picture
from autograder.report_view import show_report
from autograder.results import Exercise, Mark, Results, Row
from lastgood.teaching.checks.report import Part
from lastgood.teaching.checks.report import Report as CheckReport

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
Enrol = Callable[..., None]
NASTY = "<script>alert(1)</script> [bold]no[/bold] [/x]"


def notebook(*, why: str = "", answer: str = "It is.") -> NotebookNode:
    """The lab as released, or with the report of a check that lost all its points."""
    check = {"nbgrader": {"grade": True, "grade_id": "check-it", "points": 10, "solution": False}}
    written = {"nbgrader": {"grade": True, "grade_id": "why", "points": 3, "solution": True}}
    cell = nbformat.v4.new_code_cell("check.it()", metadata=check)
    if why:
        html = CheckReport("A It", (Part("A It", 0, 10, why),))._repr_html_()
        data = {"text/plain": "0", "text/html": html}
        cell.outputs = [nbformat.v4.new_output("execute_result", data, execution_count=1)]
    cells = [
        nbformat.v4.new_markdown_cell("## A. It"),
        cell,
        nbformat.v4.new_markdown_cell(answer, metadata=written),
    ]
    return nbformat.v4.new_notebook(cells=cells)


@pytest.fixture
def course(gradebook: Any, enrol: Enrol, tmp_path: Path) -> Course:
    """All points, a wait, a late one; then a grading that failed, one not begun, and nothing handed in."""
    (tmp_path / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.CourseDirectory.root = {str(tmp_path)!r}\n"
    )
    found = Course(tmp_path)
    enrol("ada", 10, 3)
    enrol("bob", 0, None)
    enrol("cy", 0, 3, penalty=2, again=True)
    enrol("dee", None, None)
    enrol("fay", handed_in=False)
    released = found.folder("release", "lab18")
    released.mkdir(parents=True)
    nbformat.write(notebook(), released / "lab18.ipynb")
    for student in ("ada", "bob", "cy", "dee", "eve"):
        found.folder("submitted", "lab18", student).mkdir(parents=True)
    for student, why in (("ada", ""), ("bob", NASTY), ("cy", NASTY)):
        folder = found.folder("autograded", "lab18", student)
        folder.mkdir(parents=True)
        nbformat.write(notebook(why=why), folder / "lab18.ipynb")
    return found


def printed(report: Report, reasons: bool | None = None) -> str:
    screen = io.StringIO()
    show_report(report, Console(file=screen, width=100), reasons)
    assert max(map(len, screen.getvalue().splitlines())) <= 100
    return " ".join(screen.getvalue().split())


def test_everybody_stands_in_one_list_or_another(course: Course) -> None:
    report = read_report(course, "lab18")
    assert [(total.student, total.score) for total in report.totals] == [("ada", 13), ("bob", 0), ("cy", 1)]
    assert report.missing == ("fay",)
    assert report.waiting == {"bob": ("A2 why",), "cy": ("A2 why (again)",)}
    assert list(report.ungraded) == ["dee", "eve"]
    assert "could not be graded" in report.ungraded["dee"]
    assert "not graded yet" in report.ungraded["eve"]


def test_what_was_odd_about_the_files_is_said_on_the_screen_on_the_page_and_in_json(course: Course) -> None:
    said = f"The file is called {NASTY}.ipynb. It was taken for lab18."
    folder = course.folder("autograded", "lab18", "bob")
    graded, _ = Notes([said]).preprocess(nbformat.read(folder / "lab18.ipynb", as_version=4), {})
    nbformat.write(graded, folder / "lab18.ipynb")
    report = read_report(course, "lab18")
    assert f"odd files: 1 bob: {said}" in printed(report)
    assert f"bob: {escape(said)}" in page(report)
    assert [row["notes"] for row in as_json_data(report)["students"]] == [[], [said], [], [], []]


def test_the_hardest_exercise_comes_first_with_the_reasons_that_most_heard(course: Course) -> None:
    first, second = read_report(course, "lab18").hardest
    assert (first.exercise.grade_id, first.students, first.graded) == ("check-it", 2, 3)
    assert first.share == pytest.approx(2 / 3)
    assert first.reasons == ((NASTY, 2),)
    assert (second.exercise.grade_id, second.share, second.graded) == ("why", 0, 2)


def test_extra_credit_and_answers_that_wait_make_nothing_harder() -> None:
    exercise = Exercise("why", "A", "why", 3, by_person=True)
    marks = [Mark(5, 3), Mark(None, 3), Mark(0, 3, "Not answered.")]
    rows = tuple(Row(f"s{n}", {"why": mark}) for n, mark in enumerate(marks))
    (hard,) = hardest(Results("lab", (exercise,), rows))
    assert (hard.share, hard.students, hard.graded) == (0.5, 1, 2)


def test_only_the_chosen_students_are_reported(course: Course) -> None:
    report = read_report(course, "lab18", ["ada", "fay"])
    assert [row.student for row in report.results.rows] == ["ada"]
    assert (report.missing, report.waiting, report.ungraded) == (("fay",), {}, {})
    nobody = read_report(course, "lab18", ["fay"])
    assert (nobody.results.rows, nobody.missing) == ((), ("fay",))
    with pytest.raises(ReportError, match="'zoe': neither in the gradebook nor among those who handed in"):
        read_report(course, "lab18", ["zoe"])


def test_a_notebook_that_the_gradebook_does_not_know_is_not_graded(course: Course) -> None:
    folder = course.folder("autograded", "lab18", "eve")
    folder.mkdir(parents=True)
    nbformat.write(notebook(), folder / "lab18.ipynb")
    assert "not graded yet" in read_report(course, "lab18").ungraded["eve"]


@pytest.mark.parametrize(
    ("scores", "worth", "counts"),
    [
        ([0, 2.9, 3, 30, 31], 30, [2, 1, 0, 0, 0, 0, 0, 0, 0, 2]),
        ([0, 1, 1, 2], 2, [1, 3]),
        ([], 30, [0] * 10),
        ([0.0], 0, [1]),
    ],
)
def test_every_score_stands_in_one_bin(scores: list[float], worth: float, counts: list[int]) -> None:
    bins = histogram(scores, worth)
    assert [count for _, _, count in bins] == counts
    assert (bins[0][0], bins[-1][1]) == (0, worth)


def test_the_terminal_shows_all_of_it_as_plain_text(course: Course) -> None:
    said = printed(read_report(course, "lab18"))
    for words in (
        "ada 10 3 13",
        "A1 it 67 % 2 of 3",
        "11.7 to 13",
        "3 graded, median 1, mean 4.67 of 13 points; late, points off: cy 2",
        "handed in nothing: 1 fay",
        "bob: A2 why",
        "dee: could not be graded",
    ):
        assert words in said
    assert "[bold]no[/bold] [/x]" in said


def test_reasons_of_each_student_are_printed_for_few_students_or_on_demand(course: Course) -> None:
    report = read_report(course, "lab18")
    assert "A1 -10" in printed(report)
    assert "A1 -10" not in printed(report, reasons=False)


def test_a_class_in_which_nobody_is_graded_still_has_a_report(course: Course) -> None:
    for students in (["dee", "eve"], ["fay"]):
        report = read_report(course, "lab18", students)
        assert "0 graded" not in printed(report)
        assert "fay" in page(report) or "eve" in page(report)
        assert "Nobody was graded" in picture(report)


def test_the_picture_is_a_file_of_its_own_and_says_what_it_shows(course: Course) -> None:
    drawn = picture(read_report(course, "lab18"))
    root = ElementTree.fromstring(drawn)
    assert root.attrib["role"] == "img"
    assert "0 to 1.3 points: 2; 11.7 to 13 points: 1" in root.attrib["aria-label"]
    assert "median 1" in drawn
    assert "http" not in re.sub(r'xmlns(:xlink)?="[^"]*"', "", drawn)


def test_the_page_is_self_contained_and_nothing_in_it_runs(course: Course) -> None:
    found = page(read_report(course, "lab18"))
    assert "<script" not in found
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in found
    assert "default-src 'none'" in found
    assert not re.findall(r'(?:src|href)="(?!#)', re.sub(r'xmlns(:xlink)?="[^"]*"', "", found))
    for words in ("fay", "bob: A2 why", "67 %", "<figure><svg"):
        assert words in found


def run(course: Course, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["report", *arguments, "--root", str(course.root)])
    return done.exit_code, done.output


def test_json_is_all_that_is_printed_and_holds_what_the_terminal_shows(course: Course) -> None:
    status, said = run(course, "lab18", "--json")
    assert status == 0, said
    found = json.loads(said)
    assert [row["score"] for row in found["students"]] == [13, 0, 1, None, None]
    assert found["students"][1]["marks"]["check-it"] == {"points": 0, "worth": 10, "reason": NASTY}
    assert found["missing"] == ["fay"]
    assert found["hardest"][0]["exercise"] == "check-it"
    assert sum(bar["students"] for bar in found["distribution"]) == 3


def test_files_are_written_for_their_owner_alone(course: Course) -> None:
    html, svg = course.root / "r.html", course.root / "r.svg"
    status, said = run(course, "lab18", "--html", str(html), "--svg", str(svg))
    assert status == 0, said
    assert html.read_text().startswith("<!doctype html>")
    assert svg.read_text().startswith("<svg")
    assert {path.stat().st_mode & 0o777 for path in (html, svg)} == {0o600}


def test_what_cannot_be_reported_is_explained(course: Course) -> None:
    status, said = run(course, "lab99")
    assert status == 1
    assert "nbgrader generate_assignment lab99" in " ".join(said.split())
