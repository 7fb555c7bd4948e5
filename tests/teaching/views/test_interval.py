"""The interval explorer: its numbers are the library's, its words the picture's, and presets are sourced."""

from __future__ import annotations

import random
import re
from html import escape
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest

from lastgood.recovery import interval
from lastgood.recovery.faults import PRESETS
from lastgood.teaching.views.interval import CASES, OWN, IntervalExplorer, in_words, interval_explorer
from lastgood.teaching.views.interval_picture import FLAT, Choice, curve, percent, span
from lastgood.teaching.views.style import INK

BLOOM = Choice(save=40 / 3600, mtbf=7 * 24.0, restart=0.0, mine=100 * 105 / 3600)


def drawn(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iterfind(".//{*}text")]


def words(explorer: IntervalExplorer) -> str:
    return re.sub(r"<[^>]+>", " ", explorer.view.words.value)


@pytest.fixture
def explorer() -> IntervalExplorer:
    explorer = IntervalExplorer()
    explorer.view.now()
    return explorer


# Numbers


@pytest.mark.parametrize("restart", [0.0, 2.0])
@pytest.mark.parametrize("mine", [0.01, 1.0, 30.0])
def test_a_cost_is_the_expected_time_beyond_the_work(mine: float, restart: float) -> None:
    choice = Choice(save=0.1, mtbf=14.0, restart=restart, mine=mine)
    longer = float(interval.expected_time(1_000.0, mine, 0.1, 14.0, restart))
    best = float(interval.expected_time(1_000.0, choice.best, 0.1, 14.0, restart))
    assert choice.cost(mine) == pytest.approx(longer / 1_000.0 - 1.0)
    assert choice.excess == pytest.approx(longer / best - 1.0)
    assert choice.cost(1e-4 * choice.mtbf) > choice.restarts


def test_the_shaded_stretch_ends_where_the_run_takes_one_per_cent_longer() -> None:
    for end in BLOOM.flat:
        assert float(interval.excess(end, BLOOM.save, BLOOM.mtbf)) == pytest.approx(FLAT)


def test_blooms_published_intervals_cost_what_the_lesson_prints() -> None:
    at_250 = BLOOM.two_prices(250 * 105 / 3600)
    assert [percent(at_250), percent(BLOOM.two_prices(BLOOM.mine))] == ["2.32 %", "1.25 %"]
    assert percent(BLOOM.two_prices(BLOOM.best)) == "1.15 %"


# Picture and words


def test_the_picture_marks_the_best_young_and_yours_with_their_costs() -> None:
    texts = drawn(curve(BLOOM, "A curve."))
    best = f"● best: {span(BLOOM.best)}, {percent(BLOOM.cost(BLOOM.best))}"
    young, mine = f"◇ Young: {span(BLOOM.young)}", f"■ yours: {span(BLOOM.mine)}"
    assert {best, young, mine, "within 1 % of the best"} <= set(texts)
    assert percent(BLOOM.cost(BLOOM.mine)) in texts


def test_words_say_what_the_picture_shows() -> None:
    sentence, more = in_words(BLOOM)
    assert sentence == f"Yours costs {percent(BLOOM.excess)} more time than the best."
    times = (BLOOM.best, BLOOM.mine, BLOOM.young, BLOOM.mtbf, *BLOOM.flat)
    assert [span(time) for time in times if span(time) not in more] == []


@pytest.mark.parametrize(
    ("mine", "said"),
    [
        (BLOOM.best, "no more than the best"),
        (150 * BLOOM.best, "times as long as with the best"),
        (1e6, "never ends"),
    ],
)
def test_the_best_and_the_hopeless_have_words_of_their_own(mine: float, said: str) -> None:
    choice = Choice(BLOOM.save, BLOOM.mtbf, BLOOM.restart, mine)
    assert said in in_words(choice)[0]
    curve(choice, "A curve.")


@pytest.mark.parametrize(
    ("hours", "said"),
    [
        (0.005, "18 s"),
        (0.05, "3 min"),
        (0.552, "33 min"),
        (1.0, "1 h"),
        (13.71, "13.7 h"),
        (168, "7 days"),
    ],
)
def test_times_are_said_as_people_say_them(hours: float, said: str) -> None:
    assert span(hours) == said


# The explorer


def test_every_published_preset_is_there_with_its_rate_its_source_and_what_is_assumed() -> None:
    explorer = IntervalExplorer(later=lambda seconds, action: None)
    assert {case.preset.name for case in CASES} == set(PRESETS)
    for case in CASES:
        explorer.preset.value = case.title
        assert explorer.choice.mtbf == pytest.approx(case.preset.mtbf_hours)
        assert escape(case.preset.source) in explorer.note.value
        assert "<b>Assumed:</b>" in explorer.note.value
        assert f"One failure in {span(case.preset.mtbf_hours)}." in in_words(explorer.choice)[1]
    assert "MegaScale" in explorer.note.value


def test_a_save_four_times_as_dear_moves_the_best_by_two(explorer: IntervalExplorer) -> None:
    before = explorer.choice.best
    picture = explorer.view.picture.value
    explorer.save.value *= 4
    assert explorer.choice.best == pytest.approx(2 * before, rel=0.02)
    assert explorer.view.picture.value != picture
    assert explorer.preset.value == OWN


def test_a_slower_restart_lifts_the_curve_and_leaves_the_best_where_it_is(explorer: IntervalExplorer) -> None:
    before = explorer.choice
    explorer.restart.value += 25
    assert explorer.choice.best == before.best
    assert explorer.choice.cost(before.best) > before.cost(before.best)


def test_your_own_interval_keeps_the_preset_and_moves_nothing_else(
    explorer: IntervalExplorer,
) -> None:
    before, said = explorer.choice, words(explorer)
    explorer.mine.value = 4.0
    assert explorer.preset.value == CASES[0].title
    assert (explorer.choice.best, explorer.choice.mtbf) == (before.best, before.mtbf)
    assert words(explorer) != said


def test_back_from_your_own_numbers_a_preset_returns(explorer: IntervalExplorer) -> None:
    explorer.hosts.value = 10.0
    assert "yours" in explorer.note.value
    explorer.preset.value = "BLOOM"
    assert (explorer.hosts.value, explorer.mine.value) == (48.0, pytest.approx(100 * 105 / 3600))


def test_an_error_is_shown_and_not_the_old_picture(
    explorer: IntervalExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lastgood.teaching.views.interval.job_mtbf", lambda hosts, rate: -1.0)
    explorer.hosts.value = 10.0
    assert explorer.view.picture.value == ""
    assert "IntervalError: mtbf is -1" in words(explorer)


def at_ends(ends: str) -> IntervalExplorer:
    """Hosts, rate, save, restart and interval, each at its min or max."""
    explorer = IntervalExplorer(later=lambda seconds, action: None)
    for name, end in zip(("hosts", "rate", "save", "restart", "mine"), ends.split(), strict=True):
        control = getattr(explorer, name)
        if name == "restart":
            control.value = getattr(control, end)
        else:
            control.index = {"min": 0, "max": len(control.options) - 1}[end]
    explorer.view.now()
    return explorer


@pytest.mark.parametrize("ends", ["min min min min min", "min min max max max", "max max min min max"])
def test_at_the_ends_of_the_sliders_there_is_a_picture(ends: str) -> None:
    explorer = at_ends(ends)
    assert explorer.view.picture.value.startswith("<svg"), words(explorer)


@pytest.mark.parametrize("ends", ["max max max max max", "max max min max min"])
def test_a_job_that_no_interval_helps_is_told_so(ends: str) -> None:
    explorer = at_ends(ends)
    assert explorer.view.picture.value == ""
    assert "No interval helps this job" in words(explorer)


def test_the_picture_follows_the_theme_and_tells_its_numbers_to_those_who_do_not_see_it() -> None:
    box = interval_explorer()
    svg = next(child.value for child in box.children if "<svg" in str(getattr(child, "value", "")))
    assert "var(--jp-content-font-color1" in svg
    assert INK not in svg
    alt = ElementTree.fromstring(svg).get("aria-label") or ""
    assert "Yours costs 0.76 % more time than the best." in alt
    assert "33 min" in alt


def test_a_look_leaves_the_kernel_as_it_was() -> None:
    settings, state, numpy_state = dict(mpl.rcParams), random.getstate(), np.random.get_state()[1].copy()  # type: ignore[index,union-attr]
    interval_explorer()
    assert dict(mpl.rcParams) == settings
    assert random.getstate() == state
    assert (np.random.get_state()[1] == numpy_state).all()  # type: ignore[index]


def test_every_sliders_steps_are_in_order_and_named_apart(explorer: IntervalExplorer) -> None:
    for control in (explorer.hosts, explorer.rate, explorer.save, explorer.mine):
        names, values = zip(*control.options, strict=True)
        assert list(values) == sorted(set(values))
        assert len(set(names)) == len(names), [name for name in names if names.count(name) > 1]
