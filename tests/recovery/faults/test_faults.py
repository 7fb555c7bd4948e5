import itertools
import random
from collections import Counter
from statistics import fmean, pstdev

import pytest

from lastgood.recovery.faults import (
    CORRUPTED,
    HUNG,
    KILLED,
    KINDS,
    KOKOLIS_RSC_1,
    KOKOLIS_RSC_2,
    LLAMA_3_405B,
    OPT_175B,
    PRESETS,
    STORAGE_FULL,
    TOLD_TO_LEAVE,
    Fault,
    FaultError,
    Preset,
    exponential_schedule,
    mixed_schedule,
    mtbf_hours,
    per_1000_host_days,
    preset_named,
    restarts,
    schedule_of,
)


def test_opt_175b_was_restarted_once_in_13_7_hours():
    assert OPT_175B.restarts == 105
    assert OPT_175B.mtbf_hours == pytest.approx(13.7, abs=0.05)
    assert OPT_175B.per_1000_host_days == pytest.approx(14, abs=0.2)


def test_llama_3_was_interrupted_once_in_3_09_hours():
    """Llama 3, Table 5: 419 unexpected interruptions in 54 days."""
    assert LLAMA_3_405B.mtbf_hours == pytest.approx(3.09, abs=0.005)


def test_kokolis_rates_are_the_published_ones():
    assert KOKOLIS_RSC_1.per_1000_host_days == pytest.approx(6.50)
    assert KOKOLIS_RSC_2.per_1000_host_days == pytest.approx(2.34)
    assert KOKOLIS_RSC_1.mtbf_hours == pytest.approx(1.8, abs=0.05)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_a_presets_three_rates_agree(preset):
    assert mtbf_hours(preset.hosts, preset.per_1000_host_days) == pytest.approx(preset.mtbf_hours)
    assert per_1000_host_days(preset.hosts, preset.mtbf_hours) == pytest.approx(preset.per_1000_host_days)
    assert restarts(preset.days, preset.mtbf_hours) == pytest.approx(preset.restarts)
    assert preset.restarts_in(2 * preset.days) == pytest.approx(2 * preset.restarts)
    assert preset.process().mtbf_hours == pytest.approx(preset.mtbf_hours)
    assert len(preset.source) > 20


@pytest.mark.parametrize("bad", [0, -6.5, float("nan"), float("inf")])
def test_a_rate_that_is_none_is_refused(bad):
    with pytest.raises(FaultError, match="per_1000_host_days is"):
        mtbf_hours(124, bad)
    with pytest.raises(FaultError, match="mtbf_hours is"):
        restarts(60, bad)
    with pytest.raises(FaultError, match="hosts is"):
        Preset("mine", hosts=bad, days=60, restarts=3, source="none")


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


def test_a_mixed_schedule_keeps_times_and_hosts_and_deals_out_the_kinds_most_of_them_kills():
    mixed = mixed_schedule(OPT_175B, failures=105, seed=5)
    plain = schedule_of(OPT_175B, 105, seed=5)
    assert [(f.time_hours, f.host) for f in mixed] == [(f.time_hours, f.host) for f in plain]
    counts = Counter(fault.kind for fault in mixed)
    assert set(counts) == set(KINDS)
    assert counts[KILLED] == 84
    assert {fault.kind for fault in mixed if fault.lasts_hours} == {TOLD_TO_LEAVE, STORAGE_FULL}


def test_a_mixed_schedule_of_days_is_the_exponential_one():
    mixed = mixed_schedule(OPT_175B, days=5, seed=175)
    plain = exponential_schedule(OPT_175B, 5, seed=175)
    assert [fault.time_hours for fault in mixed] == [fault.time_hours for fault in plain]
    assert mixed == mixed_schedule(OPT_175B, days=5, seed=175)
    orders = {tuple(f.kind for f in mixed_schedule(OPT_175B, failures=20, seed=seed)) for seed in range(5)}
    assert len(orders) == 5


@pytest.mark.parametrize("failures", [1, 2, 5, 6, 33, 1_000])
def test_every_kind_comes_at_least_once_where_there_is_room(failures):
    kinds = Counter(f.kind for f in mixed_schedule(OPT_175B, failures=failures, seed=1))
    assert kinds.total() == failures
    assert len(kinds) == min(failures, 5) or failures < 5
    assert kinds[KILLED] == max(kinds.values())


def test_a_mix_of_ones_own_is_kept_to_and_another_sum_than_one_does_not_matter():
    kinds = Counter(
        f.kind for f in mixed_schedule(OPT_175B, failures=40, seed=1, mix={HUNG: 3, CORRUPTED: 1})
    )
    assert kinds == {HUNG: 30, CORRUPTED: 10}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "either failures or days"),
        ({"failures": 3, "days": 3.0}, "either failures or days"),
        ({"days": 0.0}, "positive number of days"),
        ({"failures": 3, "mix": {"melted": 1.0}}, "no kind 'melted'; there are: killed"),
        ({"failures": 3, "mix": {KILLED: -1.0, HUNG: 3.0}}, "0 or more"),
        ({"failures": 3, "mix": {}}, "one is positive"),
    ],
)
def test_a_mixed_schedule_that_cannot_be_is_refused(options, words):
    with pytest.raises(FaultError, match=words):
        mixed_schedule(OPT_175B, seed=1, **options)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((-0.1, 3), "time_hours is -0.1"),
        ((float("nan"), 3), "time_hours is nan"),
        ((1.0, -1), "counted from 0"),
        ((1.0, 3, "melted"), "no kind 'melted'"),
        ((1.0, 3, STORAGE_FULL, -2.0), "lasts_hours is -2"),
    ],
)
def test_a_fault_that_cannot_be_is_refused(arguments, words):
    with pytest.raises(FaultError, match=words):
        Fault(*arguments)
