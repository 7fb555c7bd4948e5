"""JupyterLab as a learner sees it, in Chromium."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from lastgood.workspace import start

pytestmark = [pytest.mark.slow, pytest.mark.browser]
PATIENCE = 60_000  # ms; a loaded machine takes many seconds to bring JupyterLab up
expect.set_options(timeout=PATIENCE)

# Chromium needs no sandbox for our own pages, which root could not have, and has no business elsewhere.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser(chromium) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser, jupyter) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1300, "height": 850})
    page.set_default_timeout(PATIENCE)
    yield page
    page.close()


def open_notebook(page: Page, server, url: str) -> None:
    """Open a page of the server, logged in, and wait until its notebook can run."""
    page.goto(f"{server.url}{url}&token={server.token}")
    expect(page.locator(".jp-Notebook .jp-Cell").first).to_be_visible()
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()


def test_a_lesson_opens_ready_to_run_with_nothing_in_the_way(page, jupyter):
    start(jupyter.root)
    open_notebook(page, jupyter, "lastgood?")
    page.locator(".jp-Notebook .jp-Cell").first.click()
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".jp-OutputArea-output").first).to_have_text("42")
    for obstacle in (".jp-Dialog", ".Toastify__toast", "text=Formgrader", "text=Create Assignment"):
        expect(page.locator(obstacle)).to_have_count(0)
    expect(page.locator(".jp-DirListing-itemText", has_text="glossary.md")).to_be_visible()


def test_validate_shows_the_report_that_a_check_shows(page, jupyter, notebooks):
    report = "class Report:\n    __repr__ = lambda _: '0'\n    _repr_html_ = lambda _: '<em>sees row 4</em>'"
    cells = [notebooks.code(report), notebooks.graded("Report()")]
    notebooks.write(jupyter.root / "work/seen.ipynb", *cells)
    open_notebook(page, jupyter, "lab/tree/work/seen.ipynb?reset")
    page.get_by_role("button", name="Validate").click()
    expect(page.locator(".jp-Dialog em")).to_have_text("sees row 4")


def test_what_the_course_ships_can_be_read_but_not_changed(page, jupyter):
    original = jupyter.root / "labs/lab18/lab18.ipynb"
    before = original.read_bytes()
    open_notebook(page, jupyter, "lab/tree/labs/lab18/lab18.ipynb?reset")
    page.locator(".jp-Notebook .jp-Cell").first.click()
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("labs/lab18/lab18.ipynb is read-only")).to_be_visible()
    assert original.read_bytes() == before
