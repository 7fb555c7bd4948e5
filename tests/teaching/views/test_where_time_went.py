"""Explain 0.61: published ends, assumed parts, sums that come out, and words that say how far off it is."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from xml.etree import ElementTree

import matplotlib as mpl
import pytest

from lastgood.recovery import interval, simulate
from lastgood.recovery.faults import Exponential
from lastgood.teaching.views.style import INK
from lastgood.teaching.views.where_time_went import Explain061, explain_061, in_words
from lastgood.teaching.views.where_time_went_account import (
    ALL_RESTARTS,
    BEST,
    LOST_DAYS,
    NEAR_DAYS,
    ONE_WAY,
    TITLES,
    WALL_DAYS,
    WORK_DAYS,
    Account,
    Assumptions,
    how,
)
from lastgood.teaching.views.where_time_went_picture import waterfall

BIG = Assumptions(save_s=600, interval_h=1.0, detection_min=120, diagnosis_h=6, spare_h=6, restart_h=6)


def drawn(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iterfind(".//{*}text")]


@pytest.fixture
def explorer() -> Explain061:
    explorer = Explain061()
    explorer.view.now()
    return explorer


def words(explorer: Explain061) -> str:
    return re.sub(r"<[^>]+>", " ", explorer.view.words.value)


# The account


def test_the_ends_are_the_chronicles_and_the_ratio_is_061() -> None:
    assert (WALL_DAYS, ALL_RESTARTS) == (56, 90)
    assert f"{WORK_DAYS:.1f} {WORK_DAYS / WALL_DAYS:.2f}" == "34.1 0.61"


def test_each_part_is_the_sum_that_it_says() -> None:
    a = Assumptions(40, 2.0, 30, 1.5, 0.5, 0.75, 10, 12)
    parts = Account(a).parts
    assert parts[simulate.LOST] == pytest.approx(80 * 1.0 / 24)
    assert parts[simulate.SAVES] == pytest.approx((WORK_DAYS + 80 / 24) / 2.0 * 40 / 3600)
    assert parts[simulate.DETECTION] == pytest.approx(80 * 0.5 / 24)
    assert parts[simulate.DIAGNOSIS] == pytest.approx(80 * 1.5 / 24)
    assert parts[simulate.SPARES] == pytest.approx(80 * 0.5 / 24)
    assert parts[simulate.RESTARTS] == pytest.approx(90 * 0.75 / 24)
    assert parts[simulate.ROLLBACKS] == pytest.approx(10 * 12 / 24)
    assert Account(a).explained == pytest.approx(sum(parts.values()))
    assert how(simulate.DIAGNOSIS, a) == "80 × 1.5 h"  # noqa: RUF001


def test_a_simulated_life_of_as_many_failures_has_the_same_parts() -> None:
    """The account is first-order; failure by failure, with nothing left out, little changes."""
    a = replace(ONE_WAY, rollbacks=0, restart_h=0.1)  # a failure during a restart would lose no work
    delay = a.diagnosis_h + a.spare_h  # a pool that makes each wait alike is no pool
    life = simulate.Life(
        work_hours=WORK_DAYS * 24,
        interval_hours=a.interval,
        save_hours=a.save_s / 3600,
        detection_hours=a.detection_min / 60,
        diagnosis_hours=delay,
        restart_hours=a.restart_h,
    )
    up = WORK_DAYS * 24 + ALL_RESTARTS * a.restart_h  # while down, no failure of its own
    lives = simulate.simulate(life, Exponential.with_mtbf(up / ALL_RESTARTS), runs=60, seed=61)
    means = {part: hours / 24 for part, hours in lives.mean_parts().items()}
    account = Account(a).parts
    assert lives.restarts.mean() == pytest.approx(ALL_RESTARTS, rel=0.08)
    a_restart = ALL_RESTARTS / lives.restarts.mean()
    assert means[simulate.SAVES] == pytest.approx(account[simulate.SAVES], rel=0.03)
    assert means[simulate.LOST] * a_restart == pytest.approx(account[simulate.LOST], rel=0.06)
    assert means[simulate.DETECTION] * a_restart == pytest.approx(account[simulate.DETECTION])
    people = account[simulate.DIAGNOSIS] + account[simulate.SPARES]
    assert means[simulate.DIAGNOSIS] * a_restart == pytest.approx(people)
    assert means[simulate.RESTARTS] * a_restart == pytest.approx(account[simulate.RESTARTS], rel=0.12)


def test_the_best_interval_is_the_librarys_and_another_costs_more() -> None:
    assert Assumptions().interval == pytest.approx(float(interval.optimum(40 / 3600, 60 * 24 / 105)))
    assert Account(Assumptions(interval_h=6.0)).saving > Account(Assumptions(interval_h=BEST)).saving


def test_at_first_the_ends_do_not_meet_and_one_way_of_meeting_does() -> None:
    assert Account(Assumptions()).missing > 5
    assert Account(ONE_WAY).meets
    assert Account(ONE_WAY).ettr == pytest.approx(WORK_DAYS / WALL_DAYS, abs=0.005)


def test_work_lost_by_rare_saves_alone_can_meet_too() -> None:
    """The lesson's 11.8 h: 22 days over 90 restarts, twice."""
    rare = Assumptions(interval_h=11.8, detection_min=0, diagnosis_h=0, spare_h=0, restart_h=0, rollbacks=0)
    assert Account(rare).meets
    assert "because of the interval that you assume" in in_words(Account(rare))[1]


# Picture and words


@pytest.mark.parametrize("assumed", [Assumptions(), ONE_WAY, BIG], ids=["too little", "met", "too much"])
def test_every_assumed_part_is_named_so_and_has_its_days_and_its_sum(assumed: Assumptions) -> None:
    account = Account(assumed)
    texts = drawn(waterfall(account, "A waterfall."))
    for part, days in account.parts.items():
        assert f"{TITLES[part]} (assumed)" in texts
        assert f"{days:.1f} = {how(part, assumed)}" in texts
    assert {"the run took (chronicles)", "56 days", "work in it (estimate)", "34 days"} <= set(texts)


def test_words_say_how_far_off_it_is_and_in_which_direction() -> None:
    little, much = Account(Assumptions()), Account(BIG)
    assert f"{little.missing:.1f} days are not explained yet" in in_words(little)[0]
    assert f"{little.missing:.1f} days" in drawn(waterfall(little, "A."))
    assert f"{-much.missing:.1f} days too much" in in_words(much)[0]
    assert "too much" in drawn(waterfall(much, "A."))
    assert f"{much.ettr:.2f}, not 0.61" in in_words(much)[1]


def test_at_a_meeting_the_restart_is_what_costs() -> None:
    account = Account(ONE_WAY)
    verdict, more = in_words(account)
    assert "The ends meet" in verdict
    assert "Once saves are cheap, the restart is what costs." in more
    cheaper = account.explained - Account(replace(ONE_WAY, save_s=20)).explained
    faster = account.explained - Account(replace(ONE_WAY, diagnosis_h=1.25)).explained
    assert f"give back {cheaper:.1f} days" in more
    assert f"find a fault {faster:.1f}" in more
    assert faster > 5 * cheaper


# The explorer


def test_a_slider_changes_its_own_part_alone(explorer: Explain061) -> None:
    before = Account(explorer.assumed).parts
    picture = explorer.view.picture.value
    explorer.controls["diagnosis_h"].value = 2.0
    after = Account(explorer.assumed).parts
    assert [part for part in before if after[part] != before[part]] == [simulate.DIAGNOSIS]
    assert after[simulate.DIAGNOSIS] == pytest.approx(2 * before[simulate.DIAGNOSIS])
    assert explorer.view.picture.value != picture


def test_the_buttons_go_to_a_meeting_and_back() -> None:
    waiting = []
    explorer = Explain061(later=lambda seconds, action: waiting.append(action))
    explorer.one_way.click()
    assert explorer.assumed == ONE_WAY
    waiting[-1]()
    assert "The ends meet" in words(explorer)
    explorer.reset.click()
    assert explorer.assumed == Assumptions()


@pytest.mark.parametrize("end", ["min", "max"])
def test_with_every_slider_at_its_end_there_is_a_picture(end: str) -> None:
    explorer = Explain061(later=lambda seconds, action: None)
    for name, control in explorer.controls.items():
        if name != "interval_h":
            control.value = getattr(control, end)
    explorer.view.now()
    assert explorer.view.picture.value.startswith("<svg"), words(explorer)


def test_an_error_is_shown_and_not_the_old_picture(
    explorer: Explain061, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(account: Account, alt: str) -> str:
        raise OSError("no <ink>")

    monkeypatch.setattr("lastgood.teaching.views.where_time_went.waterfall", fail)
    explorer.controls["restart_h"].value = 3.0
    assert explorer.view.picture.value == ""
    assert "OSError: no &lt;ink&gt;" in explorer.view.words.value


def test_what_is_published_and_what_is_not_is_said_and_told_to_those_who_do_not_see_it() -> None:
    settings, state = dict(mpl.rcParams), random.getstate()
    box = explain_061()
    assert (dict(mpl.rcParams), random.getstate()) == (settings, state)
    values = [child.value for child in box.children if hasattr(child, "value")]
    assert any("<b>An estimate:</b> 34 days" in value and "<b>Assumed:</b>" in value for value in values)
    svg = next(value for value in values if value.startswith("<svg"))
    assert INK not in svg
    alt = ElementTree.fromstring(svg).get("aria-label") or ""
    assert "Assumed, in days: saves 0.7; lost work 0.9" in alt
    assert f"of the {LOST_DAYS:.0f} days" in alt
    assert Account(Assumptions()).missing > NEAR_DAYS
