"""What a learner does, in Chromium: read lesson 18, move its explorer, validate lab 18 and put it on trial.

Leaves a picture of every station in `screenshots/`.
"""

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from playwright.sync_api import Locator, Page, expect

from lastgood.teaching.checks.lab18 import CHECKS
from lastgood.workspace import WORK, lab_notebook

from .conftest import TROUBLE, bring_up, choose, put_on_theme

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LESSON = WORK / "lessons/18_what_a_checkpoint_has_to_hold.ipynb"
LAB = lab_notebook("lab18")
ONLY_MODEL_AND_STEP = """
def capture(run):
    return {"model": copy.deepcopy(run.model.state_dict()), "step": run.step}

def restore(run, state):
    run.model.load_state_dict(state["model"])
    run.step = state["step"]
"""


def code_cells(notebook: Path) -> list[NotebookNode]:
    return [cell for cell in nbformat.read(notebook, 4).cells if cell.cell_type == "code"]


def run_all(page: Page, notebook: Locator, cells: int) -> None:
    """Run every cell and wait until all code cells are done. JupyterLab shows them bit by bit: how many?"""
    choose(page, "Run", "Run All Cells")
    finished = notebook.locator(".jp-CodeCell .jp-InputPrompt", has_text=re.compile(r"\[\d+\]:"))
    expect(finished).to_have_count(cells)


# Lesson 18


@pytest.fixture(scope="module")
def lesson(real_jupyter, lasting_page, open_notebook, shoot) -> Locator:
    """Lesson 18, reached from the welcome and run to its end."""
    page = lasting_page
    welcome = open_notebook(page, real_jupyter, "lastgood")
    shoot(page, "welcome")
    welcome.get_by_role("link", name="what a checkpoint has to hold").click()
    lesson = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)", has_text="Lesson 18. What a checkpoint")
    expect(lesson).to_be_visible()
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
    shoot(page, "lesson-top")
    run_all(page, lesson, len(code_cells(real_jupyter.root / LESSON)))
    return lesson


@pytest.fixture
def explorer(lesson) -> Locator:
    return lesson.locator(".jp-OutputArea-output", has=lesson.page.get_by_role("checkbox", name="RNG state"))


def test_every_cell_of_the_lesson_runs_without_an_error(lesson):
    expect(lesson.locator(".jp-CodeCell .jp-OutputArea-output").first).to_be_attached()
    expect(lesson.locator(TROUBLE)).to_have_count(0)


def test_a_check_opens_and_shows_its_answer_as_text_with_links(lesson, shoot):
    check = lesson.locator("details").first
    answer = check.get_by_text("In that family the maximum learning rate falls")
    expect(answer).to_be_hidden()
    check.locator("summary").click()
    expect(answer).to_be_visible()
    expect(answer.get_by_role("link", name="Scaling Language Models")).to_be_visible()
    shoot(lesson.page, "lesson-check")


def test_no_markdown_is_left_unrendered(lesson):
    words = lesson.locator(".jp-MarkdownOutput").all_text_contents()
    assert len(words) > 10
    assert [word for word in words if re.search(r"\*\*|\]\(|^#|\$", word)] == []


def test_the_table_and_the_bytes_of_each_component_are_shown(lesson, shoot):
    table = lesson.locator("table").first
    assert table.locator("tbody tr").count() == 5
    bring_up(table)
    shoot(lesson.page, "lesson-table")
    weights = lesson.get_by_role("img", name="What the state of this run weighs")
    bring_up(weights)
    expect(weights.get_by_text("optimizer state")).to_be_visible()
    shoot(lesson.page, "lesson-weights")


def test_unticking_changes_picture_and_sentence_and_ticking_by_key_brings_them_back(lesson, explorer, shoot):
    picture, sentence = explorer.locator("svg"), explorer.get_by_role("status")
    box = explorer.get_by_role("checkbox", name="RNG state")
    expect(sentence).to_contain_text("equal, bit for bit")
    expect(picture).to_contain_text("losses are exactly equal")
    bring_up(explorer)
    shoot(lesson.page, "explorer-before")
    box.uncheck()
    expect(sentence).to_contain_text("Missing: RNG state. First step that differs: 80")
    expect(picture).not_to_contain_text("losses are exactly equal")
    shoot(lesson.page, "explorer-after")
    box.focus()
    lesson.page.keyboard.press("Space")
    expect(box).to_be_checked()
    expect(sentence).to_contain_text("equal, bit for bit")
    expect(picture).to_contain_text("losses are exactly equal")


def test_at_800_px_in_the_dark_theme_nothing_is_cut_off_and_the_picture_follows(lesson, explorer, shoot):
    page = lesson.page
    put_on_theme(page, "JupyterLab Dark", light=False)
    words, white = explorer.locator("svg text").first, "rgb(255, 255, 255)"
    try:
        expect(words).to_have_css("fill", white)
        page.set_viewport_size({"width": 800, "height": 850})
        for what, name in ((lesson.locator("table").first, "table"), (explorer, "explorer")):
            bring_up(what)
            shoot(page, f"dark-{name}")
            panel, shown = lesson.bounding_box(), what.bounding_box()
            assert shown["x"] + shown["width"] <= panel["x"] + panel["width"]
            assert what.evaluate("element => element.scrollWidth - element.clientWidth") <= 1
    finally:
        page.set_viewport_size({"width": 1300, "height": 850})
        put_on_theme(page, "JupyterLab Light", light=True)
    expect(words).not_to_have_css("fill", white)


def test_a_term_leads_to_its_entry_in_the_learners_glossary(lesson, shoot):
    page = lesson.page
    lesson.get_by_role("link", name="data-loader position").first.click()
    entry = page.get_by_role("heading", name="Data-loader position")
    expect(entry).to_be_in_viewport()
    assert page.url.endswith("/work/glossary.md")
    shoot(page, "glossary")
    page.get_by_role("tab", name="18_what_a_checkpoint").click()
    expect(lesson).to_be_visible()


# Lab 18


def place(source: Path, server) -> None:
    """Put a notebook where the learner's copy of the lab lies."""
    shutil.copy(source, server.root / LAB)


def validated(page: Page) -> Locator:
    """Press Validate and return its dialog."""
    page.get_by_role("button", name="Validate").click()
    dialog = page.locator(".jp-Dialog", has_text="Validation Results")
    expect(dialog).to_be_visible()
    return dialog


def test_validate_tells_what_an_untouched_lab_lacks(page, real_jupyter, open_notebook, shoot):
    place(real_jupyter.root / "labs/lab18/lab18.ipynb", real_jupyter)
    open_notebook(page, real_jupyter, f"lab/tree/{LAB}?reset")
    shoot(page, "lab-top")
    dialog = validated(page)
    shoot(page, "validate-untouched")
    for check in CHECKS:
        expect(dialog).to_contain_text(f"check.{check.name}(")
        expect(dialog).to_contain_text(f"{check.exercise}: 0 of {check.worth:g} points")
    expect(dialog.locator(".lastgood-report")).to_have_count(len(CHECKS))
    expect(dialog.get_by_text("There is no answer here yet")).to_have_count(2)
    expect(dialog.get_by_text("The following cell failed")).to_have_count(len(CHECKS) + 2)
    expect(dialog).not_to_contain_text("Traceback")


def test_the_master_passes_and_its_trial_ticks_and_ends_bit_identical(
    page, real_jupyter, repository, open_notebook, shoot
):
    place(repository / "solutions/lab18/lab18.ipynb", real_jupyter)
    lab = open_notebook(page, real_jupyter, f"lab/tree/{LAB}?reset")
    dialog = validated(page)
    expect(dialog).to_contain_text("Success! Your notebook passes all the tests.")
    shoot(page, "validate-master")
    dialog.get_by_role("button", name="Ok").click()

    choose(page, "Run", "Run All Cells")
    trial = lab.locator(".jp-CodeCell", has_text="from lastgood.teaching.views.trial")
    expect(trial).to_contain_text(re.compile(r"step \d+ of 128 · \d of 8 kills"))
    early = trial.inner_text()
    assert "Bit-identical" not in early
    expect(trial).not_to_have_text(early)
    expect(trial).to_contain_text("Bit-identical. Killed 8 times")
    expect(trial).to_contain_text("step 128 of 128 · 8 of 8 kills")
    bring_up(trial)
    shoot(page, "trial")
    expect(lab.locator(TROUBLE)).to_have_count(0)
    expect(lab.locator(".lastgood-report strong", has_text="✓")).to_have_count(len(CHECKS))


def test_a_check_that_fails_shows_what_was_lost_and_both_curves(
    page, real_jupyter, repository, notebooks, open_notebook, shoot
):
    imports = code_cells(repository / "solutions/lab18/lab18.ipynb")[0]
    check = notebooks.code("check.capture_restore(capture, restore)")
    written = notebooks.code(ONLY_MODEL_AND_STEP)
    notebooks.write(real_jupyter.root / "work/partial.ipynb", imports, written, check)
    notebook = open_notebook(page, real_jupyter, "lab/tree/work/partial.ipynb?reset")
    run_all(page, notebook, 3)
    report = notebook.locator(".lastgood-report")
    expect(report).to_contain_text("B Capture and restore: 4 of 10 points")
    marks = ["✓ ok", "✗ lost", "✓ ok", "✗ lost", "✗ lost"]
    expect(report.locator("tr td:first-child")).to_have_text(marks)
    expect(report.get_by_role("img").get_by_text("resumed")).to_be_visible()
    bring_up(report)
    shoot(page, "check-failed")
