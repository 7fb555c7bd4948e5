"""A learner ticks a rep in a lesson, comes back, and sees it there and in the welcome, in Chromium.

Leaves a picture of every station in `screenshots/`.
"""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from lastgood.workspace import WORK

from .conftest import TROUBLE, bring_up, choose, put_on_theme

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LESSON = WORK / "lessons/20_how_often_to_save.ipynb"
REP = "Count the failures of a job"


def pictures(page: Page, of: Locator, folder: Path, name: str) -> None:
    """The view in the light theme and, narrow, in the dark one, where nothing may be cut off."""
    folder.mkdir(exist_ok=True)
    bring_up(of, "center")
    page.screenshot(path=folder / f"{name}.png")
    put_on_theme(page, "JupyterLab Dark", light=False)
    page.set_viewport_size({"width": 800, "height": 850})
    bring_up(of, "center")
    page.screenshot(path=folder / f"dark-{name}.png")
    assert of.evaluate("element => element.scrollWidth - element.clientWidth") <= 1
    page.set_viewport_size({"width": 1300, "height": 850})
    put_on_theme(page, "JupyterLab Light", light=True)


def boxes_of(notebook: Locator) -> Locator:
    """The boxes to tick, once the lesson was run to its end."""
    boxes = notebook.locator(".lastgood-ticks")
    expect(boxes.get_by_role("checkbox")).to_have_count(4)
    bring_up(boxes, "center")
    return boxes


def test_a_tick_is_there_when_the_lesson_is_opened_again_and_the_welcome_shows_it(
    real_jupyter, page, open_notebook, repository
):
    lesson = open_notebook(page, real_jupyter, f"lab/tree/{LESSON}?reset")
    choose(page, "Run", "Run All Cells")
    boxes = boxes_of(lesson)
    expect(boxes.get_by_role("status")).to_contain_text("Lesson not read yet, 0 of 3 reps done.")
    boxes.get_by_role("checkbox", name=REP).check()
    expect(boxes.get_by_role("status")).to_contain_text("1 of 3 reps done.")
    pictures(page, boxes, repository / "screenshots", "ticks")

    lesson = open_notebook(page, real_jupyter, f"lab/tree/{LESSON}?reset")
    choose(page, "Run", "Run All Cells")
    boxes = boxes_of(lesson)
    expect(boxes.get_by_role("checkbox", name=REP)).to_be_checked()
    expect(boxes.get_by_role("checkbox", checked=True)).to_have_count(1)

    welcome = open_notebook(page, real_jupyter, "lastgood")
    choose(page, "Run", "Run All Cells")
    panel = welcome.locator(".lastgood-progress")
    expect(panel.get_by_role("row").filter(has_text="Lesson 20.")).to_contain_text("1 of 3 reps ← next")
    expect(welcome.locator(TROUBLE)).to_have_count(0)
    pictures(page, panel, repository / "screenshots", "progress")
    page.evaluate("window.sameDocument = true")
    panel.get_by_role("link", name="Lab 20. Choose an interval").click()
    expect(page.get_by_role("tab", name=re.compile("lab20.ipynb"))).to_be_visible()
    assert page.evaluate("window.sameDocument"), "a link of the panel reloads the page"
