import itertools
import random
from collections import Counter
from statistics import fmean, pstdev

import pytest

from lastgood.recovery.faults import (
    OPT_175B,
    FaultError,
    exponential_schedule,
    preset_named,
    schedule_of,
)


def test_opt_175b_was_restarted_once_in_13_7_hours():
    assert OPT_175B.restarts == 105
    assert OPT_175B.mtbf_hours == pytest.approx(13.7, abs=0.05)
    assert OPT_175B.per_1000_host_days == pytest.approx(14, abs=0.2)


def test_gaps_of_a_long_schedule_are_exponential_at_the_presets_rate():
    times = [fault.time_hours for fault in exponential_schedule(OPT_175B, days=6_000, seed=18)]
    gaps = [later - earlier for earlier, later in itertools.pairwise([0.0, *times])]
    average = fmean(gaps)
    assert average == pytest.approx(OPT_175B.mtbf_hours, rel=0.03)
    assert pstdev(gaps) == pytest.approx(average, rel=0.04)  # what sets it apart from an even spacing
    assert sum(gap < average for gap in gaps) / len(gaps) == pytest.approx(0.632, abs=0.015)


def test_failures_hit_every_host_about_as_often():
    counts = Counter(fault.host for fault in exponential_schedule(OPT_175B, days=20_000, seed=18))
    average = counts.total() / OPT_175B.hosts
    assert set(counts) == set(range(OPT_175B.hosts))
    assert max(counts.values()) < 1.35 * average
    assert min(counts.values()) > 0.65 * average


def test_the_same_seed_gives_the_same_schedule_and_another_seed_another():
    schedule = exponential_schedule(OPT_175B, days=30, seed=5)
    assert schedule == exponential_schedule(OPT_175B, days=30, seed=5)
    assert schedule != exponential_schedule(OPT_175B, days=30, seed=6)


def test_a_longer_schedule_begins_with_the_shorter():
    short = exponential_schedule(OPT_175B, days=10, seed=5)
    assert exponential_schedule(OPT_175B, days=40, seed=5)[: len(short)] == short
    assert all(fault.time_hours < 240 for fault in short)


@pytest.mark.parametrize("draw", [exponential_schedule, schedule_of])
def test_drawing_a_schedule_leaves_the_global_generator_alone(draw):
    random.seed(3)
    before = random.getstate()
    draw(OPT_175B, 7, seed=5)
    assert random.getstate() == before


def test_a_schedule_of_a_given_number_keeps_the_rate():
    schedule = schedule_of(OPT_175B, 105, seed=5)
    assert len(schedule) == 105
    assert schedule == sorted(schedule, key=lambda fault: fault.time_hours)
    assert schedule[-1].time_hours <= 60 * 24
    starts = [schedule_of(OPT_175B, 105, seed=seed)[0].time_hours for seed in range(1_000)]
    assert fmean(starts) == pytest.approx(60 * 24 / 106, rel=0.1)


@pytest.mark.parametrize("days", [0, -1, float("nan"), float("inf")])
def test_a_schedule_of_no_days_is_refused(days):
    with pytest.raises(FaultError, match="positive number of days"):
        exponential_schedule(OPT_175B, days, seed=1)


def test_a_schedule_of_no_failures_is_refused():
    with pytest.raises(FaultError, match="1 or more"):
        schedule_of(OPT_175B, 0, seed=1)


def test_an_unknown_preset_is_refused_with_those_there_are():
    with pytest.raises(FaultError, match=r"'opt-176b'.*opt-175b"):
        preset_named("opt-176b")
    assert preset_named("opt-175b") is OPT_175B
