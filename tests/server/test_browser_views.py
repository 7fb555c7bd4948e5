"""The views of lessons 08, 17, 19 and 20 in Chromium: they answer to the mouse and to keys, in both themes.

Leaves a picture of every station in `screenshots/`.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from lastgood.workspace import WORK

from .conftest import TROUBLE, bring_up, choose, put_on_theme

pytestmark = [pytest.mark.slow, pytest.mark.browser]

WIDE, NARROW = {"width": 1280, "height": 850}, {"width": 800, "height": 850}
LESSONS = WORK / "lessons"

Shoot = Callable[[str], None]


@pytest.fixture
def shoot(repository: Path, lasting_page) -> Shoot:
    folder = repository / "screenshots"
    folder.mkdir(exist_ok=True)
    return lambda name: lasting_page.screenshot(path=folder / f"{name}.png")


def run_lesson(page: Page, server, open_notebook, name: str) -> Locator:
    page.set_viewport_size(WIDE)
    lesson = open_notebook(page, server, f"lab/tree/{LESSONS}/{name}.ipynb?reset")
    choose(page, "Run", "Run All Cells")
    return lesson


def view_of(lesson: Locator, control: str) -> Locator:
    """The output of the cell that has a button or a label of these words, once it is there."""
    view = lesson.locator(".jp-OutputArea-output", has=lesson.page.get_by_text(control, exact=True))
    expect(view.locator("svg[role='img']")).to_be_visible()
    bring_up(view)
    return view


def handle(view: Locator, slider: str) -> Locator:
    """What of a slider takes the keys."""
    return view.locator(".widget-hslider", has_text=slider).locator(".noUi-handle")


def assert_nothing_is_cut_off(lesson: Locator, view: Locator) -> None:
    panel, shown = lesson.bounding_box(), view.bounding_box()
    assert shown["x"] + shown["width"] <= panel["x"] + panel["width"]
    assert view.evaluate("element => element.scrollWidth - element.clientWidth") <= 1


@pytest.fixture(scope="module")
def lesson_08(real_jupyter, lasting_page, open_notebook) -> Locator:
    return run_lesson(lasting_page, real_jupyter, open_notebook, "08_what_the_optimizer_remembers")


@pytest.fixture(scope="module")
def lesson_17(real_jupyter, lasting_page, open_notebook) -> Locator:
    return run_lesson(lasting_page, real_jupyter, open_notebook, "17_warm_up_decay_and_clipping")


@pytest.fixture(scope="module")
def lesson_19(real_jupyter, lasting_page, open_notebook) -> Locator:
    return run_lesson(lasting_page, real_jupyter, open_notebook, "19_when_a_node_fails_mid_run")


@pytest.fixture(scope="module")
def lesson_20(real_jupyter, lasting_page, open_notebook) -> Locator:
    return run_lesson(lasting_page, real_jupyter, open_notebook, "20_how_often_to_save")


@pytest.fixture
def dark_and_narrow(lasting_page) -> Iterator[None]:
    page = lasting_page
    put_on_theme(page, "JupyterLab Dark", light=False)
    page.set_viewport_size(NARROW)
    yield
    page.set_viewport_size(WIDE)
    put_on_theme(page, "JupyterLab Light", light=True)


# Lesson 08: bytes of memory, and moments around a restart


def test_lesson_08s_views_answer_to_menus_and_to_a_slider(lesson_08, shoot):
    view_of(lesson_08, "restart after update")  # the last cell has run: the kernel is free to answer
    sizes = view_of(lesson_08, "parameters")
    words, preset = sizes.get_by_role("status"), sizes.get_by_label("Numbers of", exact=True)
    expect(words).to_contain_text("1.75 TB, which is 1.59 TiB: 10 bytes a parameter")
    shoot("memory-opt")
    preset.select_option("the lab's GPT")
    expect(words).to_contain_text("1.27 MB, which is 1.21 MiB: 12 bytes a parameter")
    sizes.get_by_label("Optimizer", exact=True).select_option("SGD with momentum")
    expect(words).to_contain_text("844 kB, which is 824 KiB: 8 bytes a parameter")
    expect(preset).to_have_value("your own model")
    handle(sizes, "parameters").press("End")
    expect(words).to_contain_text("16.0 TB")
    moments = view_of(lesson_08, "restart after update")
    words, picture = moments.get_by_role("status"), moments.locator("svg[role='img']")
    expect(words).to_contain_text("the first update has size 1.00, undisturbed 0.")
    shoot("moments-start")
    handle(moments, "restart after update").press("End")
    expect(picture).to_contain_text("200")
    moments.get_by_label("Lost", exact=True).select_option("the moments only")
    expect(words).to_contain_text("the first update has size 0.45, undisturbed 0.")
    moments.get_by_label("β₁ and β₂", exact=True).select_option("0.9, 0.999: torch")
    expect(words).to_contain_text("the first update has size 1.1")
    shoot("moments-only")
    expect(lesson_08.locator(TROUBLE)).to_have_count(0)


def test_at_800_px_in_the_dark_theme_memory_and_moments_are_whole(lesson_08, dark_and_narrow, shoot):
    for control, name in (("parameters", "memory"), ("restart after update", "moments")):
        view = view_of(lesson_08, control)
        expect(view.locator("svg text").first).to_have_css("fill", "rgb(255, 255, 255)")
        shoot(f"dark-{name}")
        assert_nothing_is_cut_off(lesson_08, view)


# Lesson 19: the player


def test_the_player_steps_to_a_failure_and_the_line_falls_only_at_the_next_event(lesson_19, shoot):
    player = view_of(lesson_19, "Next event ▶")
    words, picture = player.get_by_role("status"), player.locator("svg[role='img']")
    expect(words).to_contain_text("step 0 of 120")
    shoot("player-start")
    player.get_by_role("button", name="Next failure").click()
    expect(words).to_contain_text("How far will the line fall?")
    expect(picture).to_contain_text("killed")
    expect(picture).not_to_contain_text("killed −8")  # noqa: RUF001
    expect(player.locator("tr[aria-current]")).to_contain_text("kill 1 after step 28")
    shoot("player-failure")
    player.get_by_role("button", name="Next event").click()
    expect(words).to_contain_text("fell from step 28 to 20, 8 steps to do again")
    expect(picture).to_contain_text("killed −8")  # noqa: RUF001
    player.get_by_role("button", name="Previous").click()
    expect(words).to_contain_text("How far will the line fall?")
    expect(lesson_19.locator(TROUBLE)).to_have_count(0)


def test_the_player_can_be_worked_with_keys_and_plays_by_itself(lesson_19, shoot):
    player = view_of(lesson_19, "Next event ▶")
    words = player.get_by_role("status")
    handle(player, "event").focus()
    lesson_19.page.keyboard.press("Home")
    expect(words).to_contain_text("step 0 of 120")
    lesson_19.page.keyboard.press("ArrowRight")
    expect(words).to_contain_text("step 10 of 120")
    player.get_by_role("button", name="Next failure").press("Enter")
    expect(words).to_contain_text("step 28 of 120")
    handle(player, "event").press("Home")
    expect(words).to_contain_text("step 0 of 120")
    player.locator(".widget-play button").first.click()
    expect(words).to_contain_text("step 20 of 120")
    player.locator(".widget-play button").first.click()
    handle(player, "event").press("End")
    expect(words).to_contain_text("7 failures")
    expect(player.locator("tr[aria-current]")).to_contain_text("bit-identical")
    shoot("player-end")


def test_at_800_px_in_the_dark_theme_the_log_stands_below_and_nothing_is_cut_off(
    lesson_19, dark_and_narrow, shoot
):
    player = view_of(lesson_19, "Next event ▶")
    expect(player.locator("svg text").first).to_have_css("fill", "rgb(255, 255, 255)")
    shoot("dark-player")
    assert_nothing_is_cut_off(lesson_19, player)
    picture, log = (
        player.locator("svg[role='img']").bounding_box(),
        player.get_by_role("table").bounding_box(),
    )
    assert log["y"] >= picture["y"] + picture["height"]


# Lesson 17: the schedule and the clipped norms


def test_schedule_and_clipping_answer_to_a_menu_a_slider_and_training_again(lesson_17, shoot):
    schedule = view_of(lesson_17, "restart at step")
    words, picture = schedule.get_by_role("status"), schedule.locator("svg[role='img']")
    expect(words).to_contain_text("The resumed run goes on along its curve.")
    shoot("schedule-start")
    schedule.get_by_role("combobox").select_option("the step is forgotten")
    expect(words).to_contain_text("The first wrong step is 200: 0.0001 instead of")
    shoot("schedule-step-forgotten")
    handle(schedule, "restart at step").press("ArrowRight")
    expect(words).to_contain_text("The first wrong step is 210")
    expect(picture).to_contain_text("killed and resumed at step 210")
    clipping = view_of(lesson_17, "threshold")
    words = clipping.get_by_role("status")
    expect(words).to_contain_text(re.compile(r"\d+ of 150 steps are clipped at 1\.00, and none turns"))
    shoot("clipping-start")
    handle(clipping, "threshold").press("ArrowLeft")
    expect(words).to_contain_text("steps are clipped at 0.95")
    clipping.get_by_role("combobox").select_option("each tensor by itself")
    expect(words).to_contain_text("the arrow turns by")
    shoot("clipping-each-by-itself")
    clipping.get_by_role("button", name="Train again with this threshold").click()
    expect(clipping).to_contain_text("trained with the global norm clipped at 0.95", timeout=60_000)
    expect(lesson_17.locator(TROUBLE)).to_have_count(0)


def test_at_800_px_in_the_dark_theme_schedule_and_clipping_are_whole(lesson_17, dark_and_narrow, shoot):
    for control, name in (("restart at step", "schedule"), ("threshold", "clipping")):
        view = view_of(lesson_17, control)
        expect(view.locator("svg text").first).to_have_css("fill", "rgb(255, 255, 255)")
        shoot(f"dark-{name}")
        assert_nothing_is_cut_off(lesson_17, view)


# Lesson 20: the explorer and the waterfall


def test_the_explorer_answers_to_a_preset_and_to_a_slider(lesson_20, shoot):
    explorer = view_of(lesson_20, "your interval")
    words, preset = explorer.get_by_role("status"), explorer.get_by_role("combobox")
    expect(words).to_contain_text("Yours costs 0.76 % more time than the best.")
    expect(preset).to_have_value("OPT-175B")
    shoot("interval-opt")
    preset.select_option("BLOOM")
    expect(words).to_contain_text("1.25 % of the work with yours")
    expect(explorer.locator("svg[role='img']")).to_contain_text("best: 1.9 h")
    shoot("interval-bloom")
    save = handle(explorer, "one save")
    for _ in range(3):
        save.press("ArrowRight")
    expect(preset).to_have_value("your own numbers")
    expect(words).not_to_contain_text("1.25 % of the work with yours")
    expect(explorer).to_contain_text("These numbers are yours.")


def test_the_waterfall_meets_the_ends_and_a_slider_moves_it_off_again(lesson_20, shoot):
    waterfall = view_of(lesson_20, "people find the fault, hours")
    words = waterfall.get_by_role("status")
    expect(words).to_contain_text("days are not explained yet")
    shoot("waterfall-start")
    waterfall.get_by_role("button", name="One way to meet").click()
    expect(words).to_contain_text("The ends meet")
    expect(words).to_contain_text("Once saves are cheap, the restart is what costs.")
    shoot("waterfall-met")
    people = handle(waterfall, "people find the fault, hours")
    for _ in range(5):
        people.press("ArrowLeft")
    expect(words).to_contain_text(re.compile(r"4\.2 days are not explained yet"))
    expect(waterfall.locator("svg[role='img']")).to_contain_text("80 × 1.25 h")  # noqa: RUF001
    expect(lesson_20.locator(TROUBLE)).to_have_count(0)


def test_at_800_px_in_the_dark_theme_explorer_and_waterfall_are_whole(lesson_20, dark_and_narrow, shoot):
    for control, name in (
        ("your interval", "interval"),
        ("people find the fault, hours", "waterfall"),
    ):
        view = view_of(lesson_20, control)
        expect(view.locator("svg text").first).to_have_css("fill", "rgb(255, 255, 255)")
        shoot(f"dark-{name}")
        assert_nothing_is_cut_off(lesson_20, view)
