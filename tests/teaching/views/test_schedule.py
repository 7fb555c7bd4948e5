"""The schedule explorer: its rates are the library's, each mistake its own curve, and words say the cost."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from lastgood.teaching.views.schedule import ScheduleExplorer, in_words, schedule_explorer
from lastgood.teaching.views.schedule_picture import (
    LONGER,
    MISTAKES,
    NOTHING,
    ONE_OFF,
    STEP,
    STEPS_LEFT,
    TWICE,
    Restart,
    schedule_curve,
)
from lastgood.teaching.views.style import INK
from lastgood.training.run import RunConfig
from lastgood.training.schedule import Schedule

SCHEDULE = RunConfig().schedule


def words(explorer: ScheduleExplorer) -> str:
    return re.sub(r"<[^>]+>", " ", explorer.view.words.value)


@pytest.fixture(scope="module")
def first() -> tuple[str, str]:
    """Picture and words as it begins. Drawn once: a picture takes longer than all the rest of a test."""
    explorer = ScheduleExplorer()
    explorer.view.now()
    return explorer.view.picture.value, explorer.view.words.value


@pytest.fixture
def explorer(first: tuple[str, str]) -> ScheduleExplorer:
    explorer = ScheduleExplorer()
    explorer.view.picture.value, explorer.view.words.value = first
    return explorer


# Rates


@pytest.mark.parametrize(
    ("mistake", "rate"),
    [
        (NOTHING, SCHEDULE.lr(200)),
        (STEP, SCHEDULE.lr(0)),
        (STEPS_LEFT, Schedule(3e-3, 30, 400, 3e-4).lr(200)),
        (LONGER, Schedule(3e-3, 30, 900, 3e-4).lr(200)),
        (TWICE, SCHEDULE.lr(400)),
        (ONE_OFF, SCHEDULE.lr(199)),
    ],
)
def test_each_mistake_is_the_curve_it_claims(mistake: str, rate: float) -> None:
    restart = Restart(SCHEDULE, 200, mistake)
    assert restart.used[0] == rate
    assert len(restart.used) == len(restart.left) == 400
    assert restart.first_wrong == (None if mistake == NOTHING else 200)


def test_every_mistake_on_the_menu_is_tried_above() -> None:
    assert set(MISTAKES) == {NOTHING, STEP, STEPS_LEFT, LONGER, TWICE, ONE_OFF}


def test_another_horizon_is_another_rate_from_the_second_step_of_the_decay_on() -> None:
    """At its first the cosine has not moved yet: both are at the peak."""
    assert Restart(SCHEDULE, 5, LONGER).first_wrong == SCHEDULE.warmup + 1


def test_a_restart_with_its_step_forgotten_climbs_to_the_peak_again() -> None:
    assert max(Restart(SCHEDULE, 500, STEP).used) == SCHEDULE.peak


def test_on_a_level_schedule_the_position_matters_only_for_the_warm_up() -> None:
    level = Schedule(3e-3, 30, 600, 3e-3)
    wrong = [mistake for mistake in MISTAKES if Restart(level, 200, mistake).first_wrong is not None]
    assert wrong == [STEP]


# Words and picture


def test_words_give_the_first_wrong_step_the_ratio_and_the_sum() -> None:
    restart = Restart(SCHEDULE, 200, STEP)
    sentence, more = in_words(restart)
    used, right = SCHEDULE.lr(0), SCHEDULE.lr(200)
    assert sentence == (
        f"The first wrong step is 200: {used:.3g} instead of {right:.3g}, {used / right:.2g} times as high."
    )
    due, spent = sum(restart.left) / SCHEDULE.peak, sum(restart.used) / SCHEDULE.peak
    assert f"steps left should add up to {due:.1f} peaks, but come to {spent:.1f}" in more
    assert f"{spent / due - 1:.1%} too much" in more


def test_a_horizon_too_short_trains_too_little() -> None:
    assert "too little" in in_words(Restart(SCHEDULE, 200, STEPS_LEFT))[1]


def test_a_position_one_behind_is_seen_in_the_words_where_the_picture_shows_nothing() -> None:
    assert "1.00244 times as high" in in_words(Restart(SCHEDULE, 200, ONE_OFF))[0]


def test_a_right_restart_is_told_so_and_a_mistake_without_effect_too() -> None:
    assert in_words(Restart(SCHEDULE, 200))[0] == "The resumed run goes on along its curve."
    level = Schedule(3e-3, 30, 600, 3e-3)
    assert in_words(Restart(level, 200, TWICE))[0].endswith("along its curve, this time.")


def test_the_picture_names_the_restart_and_the_ends_of_warm_up_and_decay() -> None:
    svg = schedule_curve(Restart(SCHEDULE, 200, STEP), "Two curves.")
    drawn = [text.text for text in ElementTree.fromstring(svg).iterfind(".//{*}text")]
    assert {"killed and resumed at step 200", "warm-up ends", "floor, at the horizon"} <= set(drawn)


# The explorer


def test_it_begins_with_the_schedule_of_the_courses_run(explorer: ScheduleExplorer) -> None:
    assert explorer.restart.right == pytest.approx([SCHEDULE.lr(step) for step in range(600)])
    assert "goes on along its curve" in words(explorer)


@pytest.mark.parametrize("mistake", [mistake for mistake in MISTAKES if mistake != NOTHING])
def test_every_mistake_redraws_the_picture_and_its_words(explorer: ScheduleExplorer, mistake: str) -> None:
    before = explorer.view.picture.value
    explorer.mistake.value = mistake
    assert explorer.view.picture.value != before
    assert "The first wrong step is 200" in words(explorer)


@pytest.mark.parametrize("name", ["peak", "warmup", "horizon", "floor", "at"])
def test_every_slider_redraws_the_picture(explorer: ScheduleExplorer, name: str) -> None:
    before, control = explorer.view.picture.value, getattr(explorer, name)
    if name == "peak":
        control.index += 1
    else:
        control.value += control.step
    assert explorer.view.picture.value != before


def test_a_shorter_horizon_pulls_the_restart_before_its_end(explorer: ScheduleExplorer) -> None:
    explorer.at.value = 500
    explorer.horizon.value = 200
    assert explorer.at.value == 190
    assert "could not be computed" not in words(explorer)


@pytest.mark.parametrize("end", ["min", "max"])
def test_at_the_ends_of_the_sliders_every_mistake_has_words_and_there_is_a_picture(end: str) -> None:
    explorer = ScheduleExplorer(later=lambda seconds, action: None)
    for name in ("warmup", "horizon", "floor", "at"):
        control = getattr(explorer, name)
        control.value = getattr(control, end)
    for mistake in MISTAKES:
        explorer.mistake.value = mistake
        assert "steps left should add up to" in in_words(explorer.restart)[1]
    explorer.mistake.value = STEPS_LEFT  # another horizon, into which the warm-up may not fit
    explorer.view.now()
    assert explorer.view.picture.value.startswith("<svg"), words(explorer)


def test_a_floor_of_zero_at_a_restart_near_the_end_still_has_words() -> None:
    restart = Restart(Schedule(1.0, 10, 20, 0.0), 19, TWICE)
    assert "instead of" in in_words(restart)[0]


def test_the_picture_follows_the_theme_and_tells_its_numbers_to_those_who_do_not_see_it() -> None:
    box = schedule_explorer()
    svg = next(child.value for child in box.children if "<svg" in str(getattr(child, "value", "")))
    assert "var(--jp-content-font-color1" in svg
    assert INK not in svg
    alt = ElementTree.fromstring(svg).get("aria-label") or ""
    assert "The resumed run goes on along its curve." in alt
