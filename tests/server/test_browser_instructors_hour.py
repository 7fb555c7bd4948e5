"""An instructor's hour in JupyterLab's Formgrader: generate, release, collect, autograde, judge, feedback.

Leaves a picture of every station in `screenshots/`.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import Browser, FrameLocator, Page, expect

from autograder.nbgrader_env import run_nbgrader

from .conftest import NO_MATH, Server, serving, watched_page

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.needs_bwrap]

ANSWER = "Because a restart has to take the next step that an unbroken run would have taken."
_ABOUT = {"schema_version": 3, "task": False, "grade": False, "solution": False, "locked": False}


def marked(cell: nbformat.NotebookNode, name: str, **about: object) -> nbformat.NotebookNode:
    cell.metadata["nbgrader"] = _ABOUT | about | {"grade_id": name}
    return cell


@pytest.fixture(scope="module")
def instructors(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Iterator[Server]:
    """A course whose one lab has an exercise that a test grades, and a question that a person does."""
    home = tmp_path_factory.mktemp("instructor")
    root = home / "course"
    master = root / "solutions/lab/lab.ipynb"
    master.parent.mkdir(parents=True)
    shutil.copy(repository / "nbgrader_config.py", root)
    (root / "work").mkdir()
    cells = [
        marked(new_code_cell("### BEGIN SOLUTION\ny = 2\n### END SOLUTION"), "answer", solution=True),
        marked(new_code_cell("assert y == 2"), "check", grade=True, locked=True, points=1),
        marked(new_markdown_cell("A model answer."), "why", grade=True, solution=True, points=3),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), master)
    with serving(root, home, instructor=True) as server:
        yield server


def hand_in(root: Path) -> None:
    """What a learner does with nbgrader's commands: fetch, answer, submit."""
    run_nbgrader("fetch_assignment", "lab", root=root)
    copy = root / "work/lab/lab.ipynb"
    notebook = nbformat.read(copy, as_version=4)
    assert "A model answer" not in notebook.cells[2].source
    notebook.cells[0].source, notebook.cells[2].source = "y = 2", ANSWER
    nbformat.write(notebook, copy)
    run_nbgrader("submit", "lab", root=root)


def without_math(page: Page) -> None:
    """Leave out what pages of nbgrader's ask of other machines."""
    page.route("https://**/*", lambda route: route.fulfill(body=NO_MATH, content_type="text/javascript"))


def done(pages: FrameLocator, words: str) -> None:
    """Wait for the dialog that says so, and close it."""
    expect(pages.locator("#success-modal")).to_contain_text(words)
    pages.locator("#success-modal .btn").click()
    expect(pages.locator("#success-modal")).to_have_count(0)


def test_a_lab_goes_from_its_master_to_feedback_by_buttons_alone(
    instructors: Server, page: Page, browser: Browser, repository: Path
) -> None:
    root, shots = instructors.root, repository / "screenshots"
    shots.mkdir(exist_ok=True)
    without_math(page)
    page.goto(f"{instructors.url}lastgood/instructor?token={instructors.token}")
    pages = page.frame_locator("iframe")
    lab = pages.locator("tr", has=pages.locator(".name", has_text="lab"))

    lab.locator(".assign a").click()
    done(pages, "Successfully created the student version of 'lab'")
    assert (root / "labs/lab/lab.ipynb").is_file()
    lab.locator(".release a").click()
    done(pages, "Successfully released 'lab'")
    hand_in(root)
    lab.locator(".collect a").click()
    done(pages, "Successfully collected submissions of 'lab'")
    expect(lab.locator(".num-submissions")).to_have_text("1")
    page.screenshot(path=shots / "instructor-collected.png")

    lab.locator(".num-submissions a").click()
    submission = pages.locator("tr", has=pages.locator(".autograde a"))
    submission.locator(".autograde a").click()
    done(pages, "Successfully autograded 'lab'")
    expect(submission.locator(".score")).to_have_text("1 / 4")
    expect(submission.locator(".status")).to_contain_text("needs manual grading")

    pages.get_by_role("link", name="Manual Grading").click()
    pages.get_by_role("link", name="lab", exact=True).click()
    pages.get_by_role("link", name="lab", exact=True).last.click()
    pages.get_by_role("link", name="Submission #1").click()
    expect(pages.get_by_text(ANSWER)).to_be_visible()
    score = pages.locator("input.score#why")
    score.fill("2")
    with page.expect_response(lambda answer: answer.request.method == "PUT") as kept:
        score.press("Tab")
    assert kept.value.ok
    page.screenshot(path=shots / "instructor-judged.png")

    page.goto(f"{instructors.url}lastgood/instructor?token={instructors.token}")
    expect(lab.locator(".status")).to_be_visible()
    lab.locator(".num-submissions a").click()
    expect(submission.locator(".score")).to_have_text("3 / 4")
    submission.locator(".generate-feedback a").click()
    done(pages, "Successfully generated feedback")
    (feedback,) = root.glob("feedback/*/lab/lab.html")
    with watched_page(browser) as opened:
        without_math(opened)
        opened.goto(feedback.as_uri())
        expect(opened.get_by_text("lab (Score: 3.0 / 4.0)")).to_be_visible()
        expect(opened.get_by_text(ANSWER)).to_be_visible()
        opened.screenshot(path=shots / "instructor-feedback.png")
