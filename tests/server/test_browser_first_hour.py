"""A learner's first hour, in Chromium: the welcome, lesson 18, its cards, lab 18 wrong and then right.

Leaves a picture of every station in `screenshots/`.
"""

import json
import re
from pathlib import Path

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from lastgood.workspace import WORK, lab_notebook

from .conftest import TROUBLE, Server, Shoot, bring_up, choose, put_on_theme

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LESSON = WORK / "lessons/18_what_a_checkpoint_has_to_hold.ipynb"
LAB = lab_notebook("lab18")
WRONG = "return restarts * interval"
# What is ours on the page: JupyterLab's own menus, editors and frames are not.
SHOWN = ".jp-NotebookPanel:not(.lm-mod-hidden)"
CARDS = [f"{SHOWN} .lastgood-cards"]
TEXT_AND_OUTPUTS = [f"{SHOWN} .jp-MarkdownOutput", f"{SHOWN} .jp-OutputArea-output"]


def serious(page: Page, within: list[str]) -> list[str]:
    """What the accessibility scan found that keeps people out, as sentences."""
    found = Axe().run(page, context={"include": [[part] for part in within]}).response["violations"]
    return [
        f"{one['id']}: {one['help']}: {[node['html'][:160] for node in one['nodes'][:3]]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def cards_of(notebook: Locator) -> Locator:
    """The cards of a notebook that runs to its end, brought into sight."""
    cards = notebook.locator(".lastgood-cards")
    outer = notebook.locator(".jp-WindowedPanel-outer")
    for _ in range(600):  # they are in the page only near to where it is scrolled to
        if cards.count():
            break
        outer.evaluate("e => e.scrollTop > 0 ? e.scrollBy(0, -300) : e.scrollTo(0, e.scrollHeight)")
        notebook.page.wait_for_timeout(200)
    bring_up(cards, "center")
    expect(cards).to_be_in_viewport()
    return cards


def focused(page: Page) -> str:
    """The words on what has the focus."""
    return page.evaluate("document.activeElement.innerText || document.activeElement.placeholder || ''")


@pytest.fixture(scope="module")
def welcome(real_jupyter, lasting_page, open_notebook, shoot) -> Locator:
    welcome = open_notebook(lasting_page, real_jupyter, "lastgood")
    choose(lasting_page, "Run", "Run All Cells")
    expect(welcome.locator(".lastgood-progress")).to_be_visible()
    expect(welcome.locator(".lastgood-cards")).to_be_attached()
    expect(welcome.locator(TROUBLE)).to_have_count(0)
    shoot(lasting_page, "hour-welcome")
    return welcome


def test_the_welcome_keeps_nobody_out(welcome: Locator) -> None:
    assert serious(welcome.page, TEXT_AND_OUTPUTS) == []


@pytest.fixture(scope="module")
def lesson(welcome, shoot) -> Locator:
    page = welcome.page
    welcome.get_by_role("link", name="what a checkpoint has to hold").first.click()
    lesson = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)", has_text="Lesson 18. What a checkpoint")
    expect(lesson).to_be_visible()
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
    choose(page, "Run", "Run All Cells")
    return lesson


def test_a_card_is_answered_revealed_and_rated_by_keys_alone_and_the_next_one_comes(
    lesson: Locator, real_jupyter: Server, shoot: Shoot
) -> None:
    page, cards = lesson.page, cards_of(lesson)
    first = cards.inner_text()
    assert re.search(r"Card 1 of \d+, from", first)
    cards.get_by_role("textbox", name="Your answer").focus()
    page.keyboard.type("A lower one.")
    page.keyboard.press("Tab")
    assert focused(page) == "Reveal the Check"
    shoot(page, "hour-card-asked")
    assert serious(page, CARDS) == []
    page.keyboard.press("Enter")
    expect(cards.get_by_role("status").filter(has_text="Check")).to_be_visible()
    expect(cards.get_by_role("textbox", name="Your answer")).to_have_value("A lower one.")
    page.wait_for_function("document.activeElement.innerText.startsWith('Again')")
    shoot(page, "hour-card-revealed")
    assert serious(page, CARDS) == []
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert focused(page).startswith("Good")
    page.keyboard.press("Enter")
    expect(cards).to_contain_text("Card 2 of")
    (kept,) = real_jupyter.home.glob("*.json")
    assert json.loads(kept.read_text())["reviews"]


def test_a_card_with_options_says_why_the_one_that_was_taken_is_wrong(lesson: Locator, shoot: Shoot) -> None:
    page, cards = lesson.page, cards_of(lesson)
    option = cards.get_by_role("button", name=re.compile(r"^A\. "))
    for _ in range(30):  # to the first card that has options
        if option.is_visible():
            break
        before = cards.inner_text()
        cards.get_by_role("button", name="Reveal the Check").click()
        cards.get_by_role("button", name=re.compile("^Good")).click()
        page.wait_for_function(
            "([cards, before]) => cards.innerText !== before", arg=[cards.element_handle(), before]
        )
        expect(cards.get_by_role("button", name="Reveal the Check")).to_be_visible()
    page.wait_for_function("document.activeElement.innerText.startsWith('A. ')")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(cards.get_by_role("button", name=re.compile(r"^✓ B\. "))).to_be_visible()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(cards.get_by_role("button", name=re.compile(r"^✓ A\. "))).to_be_visible()
    expect(cards.get_by_role("button", name=re.compile("^✓ "))).to_have_count(1)
    assert serious(page, CARDS) == []
    cards.get_by_role("button", name="Reveal the Check").press("Enter")
    said = cards.get_by_role("status").filter(has_text="Check")
    expect(said).to_be_visible()
    shoot(page, "hour-card-with-options")


def test_at_800_px_in_the_dark_theme_the_cards_are_whole_and_readable(lesson: Locator, shoot: Shoot) -> None:
    page, cards = lesson.page, cards_of(lesson)
    page.set_viewport_size({"width": 800, "height": 850})
    put_on_theme(page, "JupyterLab Dark", light=False)
    cards = cards_of(lesson)
    assert cards.evaluate("element => element.scrollWidth - element.clientWidth") <= 1
    assert serious(page, CARDS) == []
    shoot(page, "hour-card-dark")
    page.set_viewport_size({"width": 1300, "height": 850})
    put_on_theme(page, "JupyterLab Light", light=True)


def test_the_lab_says_what_is_wrong_and_once_it_is_mended_validate_passes(
    page: Page, real_jupyter: Server, repository: Path, open_notebook, shoot: Shoot
) -> None:
    master = nbformat.read(repository / "solutions/lab18/lab18.ipynb", as_version=4)
    named = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in master.cells}
    right = named["lost-hours"].source
    named["lost-hours"].source = re.sub(r"return .+", WRONG, right)
    assert named["lost-hours"].source != right
    nbformat.write(master, real_jupyter.root / LAB)

    lab = open_notebook(page, real_jupyter, f"lab/tree/{LAB}?reset")
    choose(page, "Run", "Run All Cells")
    check = lab.locator(".jp-CodeCell", has_text="check.lost_hours(").last
    report = check.locator(".lastgood-report")
    expect(report).to_be_attached()
    bring_up(report, "center")
    expect(report).to_contain_text("0 of")
    expect(report.locator("tr").first).to_contain_text("✗")
    shoot(page, "hour-lab-wrong")
    written = lab.locator(".jp-CodeCell", has_text="def lost_hours(").first
    written.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(right)
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")
    expect(report).to_contain_text("✓")
    shoot(page, "hour-lab-right")
    page.get_by_role("button", name="Validate").click()
    dialog = page.locator(".jp-Dialog", has_text="Validation Results")
    expect(dialog).to_contain_text("Success! Your notebook passes all the tests.")
