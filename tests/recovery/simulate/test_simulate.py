import math
from dataclasses import replace

import numpy as np
import pytest

from lastgood.recovery.faults import (
    OPT_175B,
    Correlated,
    Exponential,
    Fault,
    Mixed,
    Preemption,
    Trace,
    Weibull,
)
from lastgood.recovery.interval import expected_time, optimum
from lastgood.recovery.simulate import (
    DETECTION,
    DIAGNOSIS,
    LOST,
    PARTS,
    RESTARTS,
    ROLLBACKS,
    SAVES,
    SPARES,
    WORK,
    Life,
    SimulationError,
    event_loop,
    simulate,
)
from lastgood.recovery.simulate.fleet import CORRUPTING, ROLLBACK
from lastgood.recovery.simulate.lives import drawn

MTBF = 5.0
EXPONENTIAL = Exponential.with_mtbf(MTBF)
PROCESSES = {
    "exponential": EXPONENTIAL,
    "weibull": Weibull(hosts=40, per_1000_host_days=120.0, shape=0.6),
    "outages": Mixed((Exponential.with_mtbf(8.0), Correlated(40, mtbf_hours=30.0, size=5))),
    "preemption": Preemption(40, mtbf_hours=6.0, notice_hours=0.5),
    "trace": Trace(tuple(Fault(0.37 * number**1.8, number % 7) for number in range(60))),
}
FULL = Life(
    work_hours=40.4,
    interval_hours=1.5,
    save_hours=0.2,
    restart_hours=0.4,
    detection_hours=0.1,
    diagnosis_hours=0.3,
    spares=2,
    repair_hours=4.0,
    corrupted=0.1,
    rollback_every_hours=20.0,
    rollback_saves=2,
    rollback_hours=0.7,
    checkpoint_bytes=10,
    keep_last=6,
)
LIVES = {
    "plain": Life(100.0, 1.5, 0.1),
    "one save": Life(8.0, 8.0, 0.5),
    "restarts": Life(60.0, 1.5, 0.1, restart_hours=2.0, detection_hours=0.3, diagnosis_hours=0.5),
    "no spare": Life(60.0, 1.5, 0.1, restart_hours=0.2, diagnosis_hours=0.4, spares=0, repair_hours=1.5),
    "spares": Life(60.0, 1.5, 0.1, restart_hours=0.2, detection_hours=0.1, spares=2, repair_hours=9.0),
    "overlapped": Life(60.4, 1.5, 1.4, stall_hours=0.05, restart_hours=0.3, keep_last=2, checkpoint_bytes=7),
    "keeps one, corrupted": Life(20.0, 1.5, 0.1, restart_hours=0.2, corrupted=0.3, keep_last=1),
    "keeps all, corrupted": Life(60.0, 1.5, 0.1, restart_hours=0.2, corrupted=0.3),
    "everything": FULL,
    "everything, overlapped": replace(FULL, save_hours=1.2, stall_hours=0.1),
}


def alone(life, draw, row):
    """The same run under the same events, in the plain event loop."""
    times = draw.times[row]
    kinds = np.zeros(times.shape) if draw.kinds is None else draw.kinds[row]
    failure = kinds != ROLLBACK
    return event_loop(life, times[failure], kinds[failure] == CORRUPTING, times[~failure])


# --- against the event loop, run for run --------------------------------------------------------


@pytest.mark.parametrize("process", PROCESSES.values(), ids=PROCESSES)
@pytest.mark.parametrize("life", LIVES.values(), ids=LIVES)
def test_every_run_is_the_one_that_the_event_loop_lives(life, process):
    runs, seed = 6, 20
    lives = simulate(life, process, runs, seed)
    hours = 1.001 * lives.wall_hours.max()
    draw = drawn(life, process, hours, runs, np.random.SeedSequence(seed).spawn(1)[0])
    for row in range(runs):
        one = alone(life, draw, row)
        assert lives.restarts[row] == one.restarts == len(one.lost_hours)
        assert lives.saves[row] == one.saves
        assert lives.bytes_written[row] == one.saves * life.checkpoint_bytes
        assert lives.peak_bytes[row] == one.most_stored * life.checkpoint_bytes
        assert lives.wall_hours[row] == pytest.approx(one.wall_hours, rel=1e-12)
        lost = lives.lost_hours[row]
        assert lost[~np.isnan(lost)] == pytest.approx(one.lost_hours, abs=1e-9)
        assert {part: hours[row] for part, hours in lives.parts.items()} == pytest.approx(one.parts, abs=1e-9)


@pytest.mark.parametrize("process", PROCESSES.values(), ids=PROCESSES)
@pytest.mark.parametrize("life", LIVES.values(), ids=LIVES)
def test_the_parts_of_every_run_sum_to_its_wall_time(life, process):
    lives = simulate(life, process, 50, seed=3)
    assert tuple(lives.parts) == PARTS
    assert sum(lives.parts.values()) == pytest.approx(lives.wall_hours, rel=1e-12)
    assert all((hours >= -1e-9).all() for hours in lives.parts.values())
    assert lives.parts[WORK] == pytest.approx(life.work_hours)
    assert lives.ettr == pytest.approx(life.work_hours / lives.wall_hours)
    undone = np.nansum(lives.lost_hours, axis=1)
    assert (undone <= lives.parts[LOST] + lives.parts[ROLLBACKS] + 1e-9).all()


# --- against the closed form --------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [0.2, 1.0, 3.0])
@pytest.mark.parametrize(
    "costs",
    [(0.02, 0.0, 0.0), (0.2, 0.5, 0.0), (0.2, 2.0, 0.0), (0.2, 0.5, 1.5)],
    ids=["cheap", "restarts", "slow restarts", "delay"],
)
def test_the_exponential_case_is_the_closed_form_within_the_monte_carlo_error(ratio, costs):
    """|z| <= 4 for each of 12 means of 10,000 runs: a right simulation fails one in 1,300 seeds."""
    save, restart, delay = costs
    interval = ratio * optimum(save, MTBF)
    work = 16 * interval  # whole intervals, so that the formula is exact
    life = Life(work, interval, save, None, restart, detection_hours=delay / 3, diagnosis_hours=delay * 2 / 3)
    wall = simulate(life, EXPONENTIAL, 10_000, seed=20).wall_hours
    error = wall.std() / len(wall) ** 0.5
    expected = expected_time(work, interval, save, MTBF, restart, delay)
    assert error < 0.015 * expected
    assert abs(wall.mean() - expected) <= 4 * error


def test_restarts_come_as_often_as_failures_that_can_strike():
    life = Life(100.0, 1.0, 0.1, restart_hours=0.5)
    lives = simulate(life, EXPONENTIAL, 8_000, seed=1)
    struck = lives.restarts - lives.wall_hours / MTBF  # all the time is exposed: a martingale
    assert abs(struck.mean()) <= 4 * struck.std() / len(struck) ** 0.5


# --- by hand ------------------------------------------------------------------------------------


def test_a_run_by_hand():
    """Work of 10 h in intervals of 4, 4 and 2 h, saves of 1 h; failures at 7, 8 and 10 h."""
    life = Life(10.0, 4.0, 1.0, restart_hours=2.0, detection_hours=0.5, diagnosis_hours=1.0, keep_last=2)
    one = event_loop(life, [7.0, 8.0, 10.0, 1_000.0])
    # 0-5 work and save; 5-7 lost; 7-8.5 down, in which the failure at 8 changes nothing; 8.5-10 a restart in
    # vain; 10-11.5 down; 11.5-13.5 restart; 13.5-18.5 and 18.5-21.5 work and saves.
    assert one.wall_hours == 21.5
    assert one.restarts == 2
    assert one.lost_hours == [2.0, 0.0]
    assert one.saves == 3
    assert one.most_stored == 3
    assert one.parts == {
        WORK: 10.0,
        SAVES: 3.0,
        LOST: 2.0,
        DETECTION: 1.0,
        DIAGNOSIS: 2.0,
        SPARES: 0.0,
        RESTARTS: 3.5,
        ROLLBACKS: 0.0,
    }


def test_a_failure_during_a_save_loses_the_interval_and_the_save():
    one = event_loop(Life(10.0, 4.0, 1.0), [4.5])
    assert one.lost_hours == [4.0]
    assert one.parts[SAVES] == 3.5
    assert one.wall_hours == 4.5 + 13.0


def test_an_overlapped_save_in_flight_is_lost_with_the_process():
    life = Life(12.0, 4.0, 3.0, stall_hours=0.5)
    # The first save begins at 4 h and is complete at 7 h.
    assert event_loop(life, [6.9]).lost_hours == pytest.approx([4.0 + 2.4])
    assert event_loop(life, [7.1]).lost_hours == pytest.approx([2.6])


def test_without_failures_both_kinds_of_saves_take_what_they_stall():
    never = Trace((Fault(1e6, 0),))
    for life, hours in [
        (Life(12.0, 4.0, 1.0), 15.0),
        (Life(12.0, 4.0, 3.0, stall_hours=0.5), 12.0 + 2 * 0.5 + 3.0),
        # A last interval of 1 h: the last save waits 1.5 h for the one before it.
        (Life(9.0, 4.0, 3.0, stall_hours=0.5), 9.0 + 2 * 0.5 + 1.5 + 3.0),
    ]:
        assert life.hours_without_failures == pytest.approx(hours)
        assert simulate(life, never, 3, seed=1).wall_hours == pytest.approx([hours] * 3)


def test_a_corrupted_checkpoint_costs_one_interval_more_and_everything_where_it_was_the_only_one():
    life = Life(20.0, 1.0, 0.0, corrupted=1.0)
    assert event_loop(life, [5.5], [True]).lost_hours == [1.5]
    assert event_loop(replace(life, keep_last=1), [5.5], [True]).lost_hours == [5.5]
    assert event_loop(replace(life, keep_last=2), [5.5, 6.0], [True, True]).lost_hours == [1.5, 4.5]


def test_a_rollback_undoes_work_on_purpose_and_is_booked_apart():
    life = Life(20.0, 1.0, 0.0, restart_hours=0.25, rollback_saves=3, rollback_hours=2.0)
    one = event_loop(life, [], rollback_times=[5.5, 6.0])  # nothing trains at 6 h that could diverge
    assert one.lost_hours == [3.5]
    assert one.parts[ROLLBACKS] == 5.5
    assert one.parts[LOST] == one.parts[DETECTION] == 0.0
    assert one.wall_hours == 20.0 + 5.5 + 0.25


def test_a_run_short_of_spares_waits_for_repairs():
    life = Life(20.0, 1.0, 0.0, spares=1, repair_hours=5.0)
    # At 3 h the spare goes in; at 4 h the host of 3 h is still in repair until 8 h.
    assert event_loop(life, [3.0, 4.0]).parts[SPARES] == 4.0
    assert event_loop(replace(life, spares=2), [3.0, 4.0]).parts[SPARES] == 0.0
    assert event_loop(replace(life, spares=None), [3.0, 4.0]).parts[SPARES] == 0.0
    # Five hosts at once with four spares, as OPT's team had: the fifth waits for a repair.
    assert event_loop(replace(life, spares=4), [3.0] * 5).parts[SPARES] == 5.0


# --- what it shows ------------------------------------------------------------------------------


def test_more_spares_never_hurt_and_keeping_more_stores_more():
    lives = [simulate(replace(FULL, spares=spares), EXPONENTIAL, 200, 5) for spares in (0, 1, 4, None)]
    waits = [run.parts[SPARES].mean() for run in lives]
    assert waits == sorted(waits, reverse=True)
    assert waits[0] > 1.0
    assert waits[-1] == 0.0
    stored = [
        simulate(replace(FULL, keep_last=keep), EXPONENTIAL, 50, 5).peak_bytes.max() for keep in (3, 4, 7)
    ]
    assert stored == [40, 50, 80]
    assert simulate(replace(FULL, keep_last=None), EXPONENTIAL, 50, 5).peak_bytes.max() == FULL.intervals * 10


def test_once_saves_are_cheap_a_run_at_opts_rate_of_failures_has_an_ettr_of_some_0_95():
    """105 restarts in 60 days of half an hour each do not explain the 0.61 that OPT's dates give."""
    life = Life(34 * 24.0, 1.0, 0.01, restart_hours=0.25, detection_hours=0.1, diagnosis_hours=0.15)
    assert 0.9 < simulate(life, OPT_175B.process(), 500, seed=1).ettr.mean() < 0.97


# --- seeds, sizes, bad input --------------------------------------------------------------------


def test_the_same_seed_gives_the_same_lives_and_leaves_the_global_generator_alone():
    before = np.random.get_state()[1].tolist()
    once, again, other = (simulate(FULL, EXPONENTIAL, 10, seed) for seed in (1, 1, 2))
    assert once.wall_hours.tolist() == again.wall_hours.tolist() != other.wall_hours.tolist()
    assert np.random.get_state()[1].tolist() == before


def test_how_far_the_first_draw_reaches_changes_nothing(monkeypatch):
    from lastgood.recovery.simulate import lives

    once = simulate(FULL, EXPONENTIAL, 50, seed=1)
    monkeypatch.setattr(lives, "_FIRST_HORIZON", 0.013)
    again = simulate(FULL, EXPONENTIAL, 50, seed=1)
    assert once.wall_hours.tolist() == again.wall_hours.tolist()
    np.testing.assert_array_equal(once.lost_hours, again.lost_hours)


def test_runs_beyond_what_is_simulated_together_are_lives_of_their_own(monkeypatch):
    from lastgood.recovery.simulate import lives

    monkeypatch.setattr(lives, "_AT_ONCE", 8)
    many = simulate(FULL, EXPONENTIAL, 20, seed=1)
    assert many.wall_hours.shape == many.restarts.shape == many.parts[WORK].shape == (20,)
    assert many.lost_hours.shape[0] == 20
    assert len(set(many.wall_hours)) == 20


def test_runs_that_never_end_are_given_up_with_a_reason(monkeypatch):
    monkeypatch.setattr("lastgood.recovery.simulate.lives._MOST_FAILURES", 500)
    with pytest.raises(SimulationError, match=r"100 runs have not ended.*save more often"):
        simulate(Life(1_000.0, 100.0, 0.1), EXPONENTIAL, 100, seed=1)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"work_hours": 0.0}, "work_hours is 0: give more than 0"),
        ({"interval_hours": 0.0}, "interval_hours is 0: give more than 0"),
        ({"interval_hours": math.nan}, "interval_hours is nan"),
        ({"interval_hours": 200.0}, "an interval of 200 h is longer than the run, 100 h"),
        ({"save_hours": -0.1}, "save_hours is -0.1: give 0 or more"),
        ({"save_hours": math.inf}, "save_hours is inf"),
        ({"stall_hours": 0.2}, "must take at least its stall"),
        ({"save_hours": 1.7, "stall_hours": 0.1}, "be done before the next"),
        ({"restart_hours": -1.0}, "restart_hours is -1"),
        ({"detection_hours": math.nan}, "detection_hours is nan"),
        ({"spares": -1}, "spares is -1"),
        ({"repair_hours": -1.0}, "repair_hours is -1"),
        ({"corrupted": 1.5}, "corrupted is 1.5: give a probability"),
        ({"rollback_every_hours": 0.0}, "rollback_every_hours is 0"),
        ({"rollback_saves": -1}, "rollback_saves is -1"),
        ({"keep_last": 0}, "keep_last is 0: give 1 or more"),
    ],
)
def test_a_life_that_cannot_be_is_refused(numbers, words):
    with pytest.raises(SimulationError, match=words):
        Life(**{"work_hours": 100.0, "interval_hours": 1.5, "save_hours": 0.1} | numbers)


def test_no_runs_are_refused():
    with pytest.raises(SimulationError, match="0 runs are none"):
        simulate(FULL, EXPONENTIAL, 0, seed=1)
