"""Lab 20's checks: mistakes are named, near answers earn their share, the models of the judge are right."""

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lastgood.recovery import interval as library
from lastgood.recovery.interval import expected_time, job_mtbf, optimum, young
from lastgood.recovery.simulate import event_loop
from lastgood.recovery.wire import same
from lastgood.teaching.checks import lab20
from lastgood.teaching.checks.core import Check
from lastgood.teaching.checks.lab20 import bound, choices, curve, own, shown, wall
from lastgood.teaching.checks.lab20.beliefs import BELIEFS, RESTART, SAVE, WORK, Belief, Numbers, live
from lastgood.teaching.checks.lab20.best import exact_time
from lastgood.teaching.checks.lab20.credit import extra, share
from lastgood.teaching.checks.report import Report
from lastgood.training.rng import capture_rng

SEEDS = range(12)


def blank(*arguments: Any) -> Any:
    raise NotImplementedError


def words(report: Report) -> str:
    return " ".join(report.text().split())


def right_hours(work: float, interval: float, save: float, restart: float, failures: Any) -> float:
    return live(Numbers(work, interval, save, restart), failures)[0]


def right_times(mtbf: float, hours: float, generator: np.random.Generator) -> Any:
    times = generator.exponential(mtbf, size=int(2 * hours / mtbf) + 100).cumsum()
    return times[times <= hours]


def right_plan(most: float, probability: float, save_cost: float, mtbf: float, best: Any) -> float:
    return float(min(max(most / probability - save_cost, most), best(save_cost, mtbf)))


def right_interval(save_cost: float, mtbf: float) -> float:
    return float(optimum(save_cost, mtbf))


RIGHT: dict[Check, Callable[..., Any]] = {
    lab20.JOB: lambda hosts, rate: 24_000 / hosts / rate,
    lab20.WASTE: lambda t, d, m, r: d / t + (t / 2 + r) / m,
    lab20.TIME: lambda *numbers: exact_time(*numbers),
    lab20.BEST: lambda time, d, m, r: np.float64(right_interval(d, m)),
    lab20.FAILURES: right_times,
    lab20.WALL: right_hours,
    lab20.OPT: lambda best: 1.5,
    lab20.BLOOM: lambda best: 100,
    lab20.LLAMA: lambda best: best(1, 54 * 24 * 60 / 419),
    lab20.MY_RUN: lambda best: dict(zip(choices.KEYS, (16, 6.5, 1, 10, 2.7), strict=True)),
    lab20.PLAN: right_plan,
}


@pytest.mark.parametrize("check", lab20.CHECKS, ids=lambda check: check.name)
def test_what_is_right_passes_whatever_is_drawn(check: Check) -> None:
    for seed in SEEDS if check.draw(0) != check.draw(1) else (0,):
        report = check.run((RIGHT[check],), seed=seed)
        assert report.points == check.worth == report.worth, report.text()


@pytest.mark.parametrize("check", lab20.CHECKS, ids=lambda check: check.name)
def test_a_blank_earns_nothing_and_nothing_is_called_lost(check: Check) -> None:
    report = check.run((blank,), seed=1)
    assert (report.points, report.worth) == (0, check.worth)
    assert "Not written yet" in report.text()
    assert "LOST" not in report.text()


WRONG: dict[str, tuple[Check, Callable[..., Any], str]] = {
    "no number": (lab20.JOB, lambda hosts, rate: [hosts], "a number or a letter is wanted"),
    "the library's": (lab20.JOB, job_mtbf, "the library's own function"),
    "a call of the library's": (lab20.BEST, lambda f, d, m, r: young(d, m), "uses young"),
    "a module of the library's": (lab20.BEST, lambda f, d, m, r: library.daly(d, m), "uses library"),
    "no return": (lab20.BEST, lambda f, d, m, r: None, "Is a `return` missing?"),
    "text": (lab20.BEST, lambda f, d, m, r: "2 h", "the text '2 h'"),
    "no interval": (lab20.BEST, lambda f, d, m, r: -1.0, "no interval to work by"),
    "not a number": (lab20.BEST, lambda f, d, m, r: math.nan, "no interval to work by"),
    "short by far": (lab20.BEST, lambda f, d, m, r: d / 10, "too short"),
    "no list": (lab20.FAILURES, lambda m, hours, generator: 3.0, "a list or an array"),
    "no failures": (lab20.FAILURES, lambda m, hours, generator: [], "not one failure"),
    "negative times": (
        lab20.FAILURES,
        lambda m, hours, generator: right_times(m, hours, generator) - 1e4,
        "some times are negative",
    ),
    "half as many": (
        lab20.FAILURES,
        lambda m, hours, generator: right_times(2 * m, hours, generator),
        "one failure comes in",
    ),
    "a fixed number of gaps": (
        lab20.FAILURES,
        lambda m, hours, generator: np.minimum(generator.exponential(m, 200).cumsum(), hours),
        "always 200 failures",
    ),
    "per cent": (lab20.WASTE, lambda t, d, m, r: 100 * (d / t + (t / 2 + r) / m), "That is a percentage"),
    "a restart in hours": (lab20.WASTE, lambda t, d, m, r: d / t + t / (2 * m) + r, "not yet a share"),
    "a save a failure": (lab20.WASTE, lambda t, d, m, r: d / t + (t / 2 + d + r) / m, "You add a save"),
    "nothing foreseen": (lab20.WASTE, lambda t, d, m, r: d / t + (t / 3 + r) / m, "for interval "),
    "expm1 less 1": (
        lab20.TIME,
        lambda w, t, d, m, r: m * math.exp(r / m) * (math.expm1((t + d) / m) - 1) * w / t,
        "subtracted twice",
    ),
    "raises": (lab20.WALL, lambda w, i, s, r, f: f[0] / 0, "ZeroDivisionError"),
    "runs out of failures": (lab20.WALL, lambda w, i, s, r, f: f[99], "IndexError"),
    "says which run raised": (lab20.WALL, lambda w, i, s, r, f: f[99], "h of work, interval"),
    "no belief": (lab20.WALL, lambda w, i, s, r, f: 2 * w + s, "Live this one by hand"),
    "seconds": (lab20.LLAMA, lambda best: best(60, 54 * 86400 / 419), "As seconds it would be right"),
    "zero": (lab20.OPT, lambda best: 0, "no interval to work by"),
    "infinite": (lab20.OPT, lambda best: math.inf, "no interval to work by"),
    "for ever": (lab20.OPT, lambda best: 1e5, "times as long as the best"),
    "no dict": (lab20.MY_RUN, lambda best: 2.0, "Return a dict"),
    "another key": (lab20.MY_RUN, lambda best: {"hosts": 3}, "Return a dict with the keys hosts"),
    "a negative number": (
        lab20.MY_RUN,
        lambda best: dict(zip(choices.KEYS, (16, 6.5, -1, 10, 2.7), strict=True)),
        "save_minutes is -1",
    ),
    "a save as long as a life": (
        lab20.MY_RUN,
        lambda best: dict(zip(choices.KEYS, (4096, 6.5, 240, 10, 2.7), strict=True)),
        "Is a unit wrong?",
    ),
    "no plan": (lab20.PLAN, lambda b, p, d, m, best: 0.0, "which is no interval"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_named(name: str) -> None:
    check, function, message = WRONG[name]
    for seed in range(3):
        report = check.run((function,), seed=seed)
        assert (report.points, report.worth) == (0, check.worth)
        assert message in words(report)


@pytest.mark.timeout(method="thread")  # the check needs the alarm for itself
def test_a_loop_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*arguments: Any) -> None:
        while True:
            pass

    monkeypatch.setattr(own, "PATIENCE", 0.05)
    for check in (lab20.JOB, lab20.BEST, lab20.WALL):
        assert "it has not ended after 0.05 s" in words(check.run((endless,), seed=1))


def drawn(seed: int, gap: float) -> list[Any]:
    return wall._case(random.Random(seed), gap)


@pytest.mark.parametrize("seed", range(60))
def test_the_loop_that_names_mistakes_lives_as_the_librarys_does(seed: int) -> None:
    *numbers, failures = drawn(seed, gap=0.5 + seed / 20)
    lived = event_loop(wall.Life(*numbers[:3], restart_hours=numbers[3]), failures)
    hours, struck = live(Numbers(*numbers), failures)
    assert hours == pytest.approx(lived.wall_hours, rel=1e-12)
    assert len(struck) == lived.restarts
    assert [lost for lost, what in zip(lived.lost_hours, struck, strict=True) if what == RESTART] == (
        [0.0] * struck.count(RESTART)
    )


def test_what_a_failure_struck() -> None:
    assert live(shown.EXAMPLE, shown.STRUCK) == (13.25, [WORK, SAVE, RESTART])
    assert shown._LIFE[-1] == (13.25, shown.EXAMPLE.work)


@pytest.mark.parametrize("sentence", BELIEFS)
def test_each_belief_about_failures_is_recognised(sentence: str) -> None:
    def function(*arguments: Any) -> float:
        *numbers, failures = arguments
        return live(Numbers(*numbers), failures, BELIEFS[sentence])[0]

    for seed in SEEDS:
        report = lab20.WALL.run((function,), seed=seed)
        assert report.points < lab20.WALL.worth
        assert sentence in words(report)


def test_the_parts_of_the_life_check_hold_the_strikes_that_they_name() -> None:
    for seed in SEEDS:
        for title, cases in lab20.WALL.draw(seed)["cases"].items():
            allowed, wanted = wall.PARTS[title]
            for *numbers, failures in cases:
                struck = set(live(Numbers(*numbers), failures)[1])
                assert struck <= allowed
                assert wanted in struck or not wanted


def test_one_failing_case_leaves_the_other_parts_their_points() -> None:
    def cannot_do_without_failures(*arguments: Any) -> float:
        assert arguments[-1]
        return right_hours(*arguments)

    report = lab20.WALL.run((cannot_do_without_failures,), seed=1)
    assert [part.points for part in report.parts] == [0, 1, 1, 1, 1]
    assert "AssertionError" in report.text()


def test_the_formula_handed_to_best_interval_is_the_librarys() -> None:
    numbers = (60.0, np.array([0.5, 2.0, 30.0]), 0.25, 10.0, 0.5)
    assert exact_time(*numbers) == pytest.approx(expected_time(*numbers), rel=1e-12)


@pytest.mark.parametrize(("above", "earned"), [(0.0, 1.0), (0.1, 1.0), (0.11, 0.5), (0.5, 0.5), (0.51, 0.0)])
def test_credit_goes_by_how_near(above: float, earned: float) -> None:
    assert share(above) == earned


def test_twice_or_half_the_optimum_costs_a_quarter_more_where_failures_are_rare() -> None:
    best = float(optimum(1e-4, 1.0))
    assert extra(best, best, 1e-4, 1.0) == pytest.approx(0.0)
    for factor in (0.5, 2.0):
        assert extra(factor * best, best, 1e-4, 1.0) == pytest.approx(0.25, abs=0.02)


GIVEN = {"opt": choices.OPT_RUN, "bloom": choices.BLOOM_RUN, "llama": choices.LLAMA_RUN}


@pytest.mark.parametrize(("name", "answer"), [("opt", 1.31), ("bloom", 66), ("llama", 18.6)])
def test_the_three_runs_have_the_published_numbers(name: str, answer: float) -> None:
    assert GIVEN[name].best / GIVEN[name].unit == pytest.approx(answer, rel=0.01)


@pytest.mark.parametrize("name", GIVEN)
def test_no_foreseen_mistake_is_near_enough_for_full_credit(name: str) -> None:
    given = GIVEN[name]
    for hours in given.mistakes.values():
        assert not 0.6 < hours / given.best < 1.6


def test_the_bounds_parts_are_three_different_cases() -> None:
    for seed in SEEDS:
        plans = lab20.PLAN.draw(seed)["plans"]
        most, _, save, mtbf = plans[bound.DECIDES]
        longest = {title: float(library.longest_within(b, d, m, p)) for title, (b, p, d, m) in plans.items()}
        assert most * 1.1 < longest[bound.DECIDES] < float(optimum(save, mtbf)) / 2
        assert (
            longest[bound.CERTAIN] == plans[bound.CERTAIN][0] < float(optimum(*plans[bound.CERTAIN][2:])) / 2
        )
        assert longest[bound.WITHIN] > 2 * float(optimum(*plans[bound.WITHIN][2:]))


def test_a_right_belief_is_the_default() -> None:
    assert Belief() not in BELIEFS.values()


def test_the_lab_shows_its_pictures_and_a_reason_where_there_is_none() -> None:
    assert "13.25 h" in repr(shown.one_life())
    assert "28.5%" in repr(shown.wrong_sign())
    assert "Not written yet" in repr(shown.many_lives(blank, blank, exact_time))
    lives = shown.many_lives(right_times, right_hours, exact_time, runs=400)
    assert "400 runs" in repr(lives)
    assert "<svg" in lives.svg


@pytest.mark.parametrize("chosen", [1e-6, 0.3, 1.3, 50.0, 1e6])
def test_the_curve_is_drawn_wherever_the_choice_lies(chosen: float) -> None:
    assert "<svg" in curve.price_curve(4 / 60, 13.7, (1.0, "hours"), chosen)


def test_no_check_draws_a_global_random_number() -> None:
    random.seed(1)
    before = capture_rng()
    for check in lab20.CHECKS:
        check.run((RIGHT[check],))
    assert same(capture_rng(), before)
