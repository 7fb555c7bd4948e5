"""JupyterLab as a learner sees it, in Chromium."""

import pytest
from playwright.sync_api import expect

from lastgood.workspace import start

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_a_lesson_opens_ready_to_run_with_nothing_in_the_way(page, jupyter, open_notebook):
    start(jupyter.root)
    open_notebook(page, jupyter, "lastgood")
    page.locator(".jp-Notebook .jp-Cell").first.click()
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".jp-OutputArea-output").first).to_have_text("42")
    for obstacle in (".jp-Dialog", ".Toastify__toast", "text=Formgrader", "text=Create Assignment"):
        expect(page.locator(obstacle)).to_have_count(0)
    expect(page.locator(".jp-DirListing-itemText", has_text="glossary.md")).to_be_visible()


def test_validate_shows_the_report_that_a_check_shows(page, jupyter, notebooks, open_notebook):
    report = "class Report:\n    __repr__ = lambda _: '0'\n    _repr_html_ = lambda _: '<em>sees row 4</em>'"
    cells = [notebooks.code(report), notebooks.graded("Report()")]
    notebooks.write(jupyter.root / "work/seen.ipynb", *cells)
    open_notebook(page, jupyter, "lab/tree/work/seen.ipynb?reset")
    page.get_by_role("button", name="Validate").click()
    expect(page.locator(".jp-Dialog em")).to_have_text("sees row 4")


def test_what_the_course_ships_can_be_read_but_not_changed(page, jupyter, open_notebook):
    original = jupyter.root / "labs/lab18/lab18.ipynb"
    before = original.read_bytes()
    open_notebook(page, jupyter, "lab/tree/labs/lab18/lab18.ipynb?reset")
    page.locator(".jp-Notebook .jp-Cell").first.click()
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("labs/lab18/lab18.ipynb is read-only")).to_be_visible()
    assert original.read_bytes() == before
