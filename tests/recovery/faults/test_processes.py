import numpy as np
import pytest

from lastgood.recovery.faults import (
    KILLED,
    OPT_175B,
    OPT_175B_OUTAGE,
    TOLD_TO_LEAVE,
    Correlated,
    Exponential,
    FaultError,
    Mixed,
    Preemption,
    Trace,
    Weibull,
)

DAYS = 24.0
EXPONENTIAL = OPT_175B.process()
WEIBULL = Weibull(124, OPT_175B.per_1000_host_days, shape=0.6)
PROCESSES = [
    EXPONENTIAL,
    WEIBULL,
    Correlated(124, mtbf_hours=100.0, size=5),
    Preemption(124, mtbf_hours=30.0, notice_hours=0.5),
    Mixed((EXPONENTIAL, OPT_175B_OUTAGE, WEIBULL)),
    Trace(tuple(EXPONENTIAL.schedule(90 * DAYS, seed=1))),
]
every_process = pytest.mark.parametrize("process", PROCESSES, ids=lambda process: type(process).__name__)


def drawn(process, hours=20 * DAYS, runs=50, seed=3):
    return process.times(hours, runs, np.random.default_rng(seed))


@every_process
def test_times_ascend_and_end_in_inf_and_no_column_is_empty(process):
    times = drawn(process)
    assert times.shape[0] == 50
    finite = np.isfinite(times)
    assert (times[finite] >= 0).all()
    assert (times[finite] < 20 * DAYS).all()
    assert all(row.tolist() == sorted(row.tolist()) for row in times)
    assert finite.any(axis=0).all()


@every_process
def test_the_same_seed_draws_the_same_and_a_longer_draw_begins_with_the_shorter(process):
    short, long = drawn(process, 7 * DAYS), drawn(process, 70 * DAYS)
    for few, many in zip(short, long, strict=True):
        few = few[np.isfinite(few)]
        assert few.tolist() == many[: len(few)].tolist()
        assert (many[len(few) :] >= 7 * DAYS).all()
    schedule = process.schedule(70 * DAYS, seed=3)
    assert schedule == process.schedule(70 * DAYS, seed=3)
    brief = process.schedule(7 * DAYS, seed=3)
    assert brief == schedule[: len(brief)]
    assert [fault.time_hours for fault in schedule] == sorted(fault.time_hours for fault in schedule)


@every_process
def test_drawing_leaves_numpys_global_generator_alone(process):
    before = np.random.get_state()[1].tolist()
    drawn(process)
    process.schedule(20 * DAYS, seed=1)
    assert np.random.get_state()[1].tolist() == before


@every_process
def test_no_time_at_all_is_refused(process):
    for hours in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(FaultError):
            drawn(process, hours)
        with pytest.raises(FaultError):
            process.schedule(hours, 1)


def counts_within_error(times, expected):
    counts = np.isfinite(times).sum(axis=1)
    assert counts.mean() == pytest.approx(expected, abs=4.5 * counts.std() / len(counts) ** 0.5)


def test_the_exponential_process_has_its_rate_and_memoryless_gaps():
    times = drawn(EXPONENTIAL, hours=60 * DAYS, runs=4_000)
    counts_within_error(times, 105)
    counts = np.isfinite(times).sum(axis=1)
    assert counts.var() == pytest.approx(105, rel=0.1)  # a Poisson count's variance is its mean
    first = times[:, 0]
    assert np.mean(first < EXPONENTIAL.mtbf_hours) == pytest.approx(1 - np.exp(-1), abs=0.03)
    assert Exponential.with_mtbf(3.09, hosts=2_048).mtbf_hours == pytest.approx(3.09)


def test_weibull_hosts_die_young_and_again_while_shape_1_is_exponential():
    young = np.isfinite(drawn(WEIBULL, hours=10 * DAYS, runs=400)).sum(axis=1).mean()
    assert young > 1.5 * 10 * DAYS / WEIBULL.mtbf_hours
    counts_within_error(drawn(Weibull(124, OPT_175B.per_1000_host_days, 1.0), 60 * DAYS, 1_000), 105)


@pytest.mark.parametrize("shape", [0.6, 1.0, 2.0])
def test_a_weibull_host_lives_for_its_mtbf_on_average_whatever_the_shape(shape):
    host = Weibull(hosts=1, per_1000_host_days=100.0, shape=shape)
    lives = drawn(host, hours=200 * host.mtbf_hours, runs=4_000)[:, 0]
    assert host.mtbf_hours == 240.0
    assert lives.mean() == pytest.approx(240.0, abs=4.5 * lives.std() / 4_000**0.5)


def test_a_host_that_failed_is_likelier_to_fail_soon_where_the_shape_is_below_1():
    def repeats(shape):
        process = Weibull(124, OPT_175B.per_1000_host_days, shape)
        hosts = [fault.host for fault in process.schedule(60 * DAYS, seed=2)]
        return len(hosts) / len(set(hosts))

    assert repeats(0.4) > 1.3 * repeats(1.0)


def test_hosts_of_a_weibull_run_come_in_one_draw_however_many_runs(monkeypatch):
    from lastgood.recovery.faults import processes

    monkeypatch.setattr(processes, "_AT_ONCE", 1_000)
    times = drawn(WEIBULL, runs=37)
    assert times.shape[0] == 37
    assert len({row[0] for row in times}) == 37


def test_an_outage_takes_neighbouring_hosts_at_one_moment():
    faults = OPT_175B_OUTAGE.schedule(400 * DAYS, seed=4)
    assert len(faults) % 5 == 0
    assert len(faults) > 5
    for start in range(0, len(faults), 5):
        outage = faults[start : start + 5]
        assert len({fault.time_hours for fault in outage}) == 1
        assert [f.host - outage[0].host for f in outage] == [0, 1, 2, 3, 4]
        assert 0 <= outage[0].host <= 119
    times = drawn(OPT_175B_OUTAGE, hours=400 * DAYS, runs=3)
    assert (times[0, :5] == times[0, 0]).all()


def test_a_preemption_is_announced():
    faults = Preemption(8, mtbf_hours=5.0, notice_hours=0.5).schedule(10 * DAYS, seed=1)
    assert {(fault.kind, fault.lasts_hours) for fault in faults} == {(TOLD_TO_LEAVE, 0.5)}


def test_a_mixture_has_the_failures_of_all_its_parts():
    mixed = Mixed((EXPONENTIAL, Preemption(124, mtbf_hours=20.0, notice_hours=0.5)))
    counts_within_error(drawn(mixed, hours=60 * DAYS, runs=2_000), 105 + 60 * DAYS / 20.0)
    assert {fault.kind for fault in mixed.schedule(60 * DAYS, seed=1)} == {KILLED, TOLD_TO_LEAVE}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Exponential(124, -14.0), "per_1000_host_days is -14"),
        (lambda: Exponential.with_mtbf(0.0), "mtbf_hours is 0"),
        (lambda: Exponential(0, 14.0), "hosts is 0"),
        (lambda: Weibull(124, 14.0, shape=-1.0), "shape is -1"),
        (lambda: Correlated(4, 100.0, size=5), "5 hosts is more than there are, 4"),
        (lambda: Preemption(4, 100.0, notice_hours=float("nan")), "notice_hours is nan"),
        (lambda: Mixed(()), "at least one"),
    ],
)
def test_a_process_that_cannot_be_is_refused(make, words):
    with pytest.raises(FaultError, match=words):
        make()
