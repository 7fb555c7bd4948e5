import re
from datetime import timedelta

import pytest
from typer.testing import CliRunner

from lastgood.cli import app
from lastgood.commands.plan import _hours, _span
from lastgood.recovery.faults import PRESETS
from lastgood.recovery.interval import ettr, optimum, waste

BLOOM = ["--mtbf", "7d", "--save-cost", "40s"]  # about one GPU failure a week, 40 s a save
OPT = ["--preset", "opt-175b", "--save-cost", "5min", "--restart-cost", "0.5h"]


def invoke(*arguments, columns=200):
    # Wide, so that a message in a box stays on one line.
    return CliRunner(env={"COLUMNS": str(columns), "NO_COLOR": "1"}).invoke(app, ["plan", *arguments])


def planned(*arguments):
    done = invoke(*arguments)
    assert done.exit_code == 0, done.output
    return done.output


def test_blooms_plan_is_66_steps_with_a_waste_of_1_15_per_cent():
    """Young gives 66 steps of 105 s: 1.93 h."""
    output = planned(*BLOOM)
    [young] = re.findall(r"Young 1974 +(.+)", output)
    assert re.split(r" {2,}", young.strip()) == ["1.93 h", "1.15 %", "0.9885", "0.000 %"]
    assert timedelta(seconds=66 * 105).total_seconds() / 3600 == pytest.approx(1.93, abs=0.005)
    assert "MTBF of the job: 7 d, as given." in output
    assert "Within 1 % of the optimum: every interval from 33.4 min to 6.62 h." in output


def test_opts_plan_says_where_its_rate_is_from_and_what_the_run_will_take():
    output = planned(*OPT, "--days", "60")
    assert "MTBF of the job: 13.7 h, 124 hosts at the rate of opt-175b, 14.1 failures" in output
    assert "Zhang et al. 2022" in output
    mtbf = PRESETS["opt-175b"].mtbf_hours
    best = optimum(1 / 12, mtbf)
    [row] = re.findall(r"exact optimum +(.+)", output)
    waste_there, ettr_there = waste(best, 1 / 12, mtbf, 0.5), ettr(best, 1 / 12, mtbf, 0.5)
    assert row.split() == [
        f"{best:.2f}",
        "h",
        f"{100 * waste_there:.2f}",
        "%",
        f"{ettr_there:.4f}",
        "0.000",
        "%",
    ]
    assert f"60 d of work take {60 / ettr_there:.1f} d on average" in output
    assert f"expect {60 * 24 / ettr_there / mtbf:.1f} restarts" in output


def test_an_interval_of_ones_own_stands_beside_the_optimum_with_its_price_and_its_losses():
    output = planned(*OPT, "--interval", "6h")
    assert re.search(r"yours +6 h +26\.91 % +0\.7556 +14\.050 %", output)
    assert "Of all failures at your interval, 50 % lose at most 2.71 h, 95 % lose at most 5.71 h" in output
    assert "Y yours" in output


@pytest.mark.parametrize(
    ("arguments", "mtbf"),
    [
        (["--mtbf", "12h"], "12 h, as given."),
        (
            ["--mtbf", "12h", "--hosts", "100"],
            "12 h, as given: each of its 100 hosts fails once in 50 d.",
        ),
        (["--host-mtbf", "50d", "--hosts", "100"], "12 h, 100 hosts, each failing once in 50 d."),
        (["--preset", "opt-175b", "--hosts", "62"], "27.4 h, 62 hosts at the rate of opt-175b"),
        (["--preset", "llama-3-405b"], "3.09 h, 2,048 hosts"),
    ],
)
def test_the_plan_says_whose_mtbf_it_took(arguments, mtbf):
    assert f"MTBF of the job: {mtbf}" in planned(*arguments, "--save-cost", "1min")


def test_the_curve_marks_the_optimum_within_the_flat_range_and_fits_the_terminal():
    output = planned(*BLOOM)
    [marks] = [line for line in output.splitlines() if re.fullmatch(r" *─+▲─+", line)]
    assert len(marks) < 100
    narrow = invoke(*BLOOM, columns=50).output
    assert max(len(line) for line in narrow.splitlines() if "█" in line) <= 50


@pytest.mark.parametrize(("suffix", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_the_curve_can_be_drawn_into_a_picture(tmp_path, suffix, begins):
    path = tmp_path / f"curve.{suffix}"
    assert str(path) in planned(*OPT, "--interval", "6h", "--figure", str(path)).replace("\n", "")
    assert path.read_bytes().startswith(begins)


def test_the_help_names_every_preset():
    assert all(name in invoke("--help").output for name in PRESETS)


def test_a_plan_without_restarts_says_so():
    assert "restarts are left out: give --restart-cost" in planned(*BLOOM)
    assert "a restart 30 min." in planned(*OPT)


def test_a_run_shorter_than_the_optimum_saves_once():
    assert "save once, at its end" in planned(*BLOOM, "--days", "0.05")


@pytest.mark.parametrize(
    ("text", "hours"),
    [("40s", 40 / 3600), ("90min", 1.5), ("0.1h", 0.1), ("2 d", 48.0), ("1.5", 1.5), ("1e-3h", 1e-3)],
)
def test_times_take_a_unit_and_are_hours_without(text, hours):
    assert _hours("--x", text) == pytest.approx(hours)


@pytest.mark.parametrize(
    ("hours", "text"),
    [
        (40 / 3600, "40 s"),
        (0.25, "15 min"),
        (13.71, "13.7 h"),
        (168, "7 d"),
        (24 * 1701, "1,701 d"),
        (0, "0 s"),
    ],
)
def test_times_are_printed_in_a_unit_that_suits(hours, text):
    assert _span(hours) == text


@pytest.mark.parametrize(
    ("arguments", "option", "words"),
    [
        ([], "--mtbf", "there is none"),
        (["--mtbf", "12h", "--host-mtbf", "50d", "--hosts", "9"], "--host-mtbf", "these are 2"),
        (["--mtbf", "12h", "--preset", "opt-175b"], "--preset", "these are 2"),
        (["--host-mtbf", "50d"], "--host-mtbf", "only with --hosts"),
        (["--mtbf", "0"], "--mtbf", "more than 0"),
        (["--mtbf", "-3h"], "--mtbf", "more than 0"),
        (["--mtbf", "nan"], "--mtbf", "is no time"),
        (["--mtbf", "inf"], "--mtbf", "is no time"),
        (["--mtbf", "soon"], "--mtbf", "'soon' is no time: give a number, and s, min, h or d"),
        (["--mtbf", "3m"], "--mtbf", "is no time"),
        (["--mtbf", "12h", "--hosts", "0"], "--hosts", "at least 1 host"),
        (["--preset", "opt-176b"], "--preset", "there is: opt-175b"),
        (["--mtbf", "12h", "--save-cost", "0"], "--save-cost", "more than 0"),
        (["--mtbf", "12h", "--save-cost", "-1s"], "--save-cost", "more than 0"),
        (
            ["--mtbf", "12h", "--save-cost", "12h"],
            "--save-cost",
            "a save of 12 h takes longer than the job runs",
        ),
        (["--mtbf", "12h", "--restart-cost", "-1s"], "--restart-cost", "0 or more"),
        (["--mtbf", "12h", "--restart-cost", "13h"], "--restart-cost", "a restart of 13 h takes longer"),
        (["--mtbf", "12h", "--interval", "0h"], "--interval", "more than 0"),
        (
            ["--mtbf", "12h", "--interval", "50h", "--days", "2"],
            "--interval",
            "50 h is longer than the run, 48 h",
        ),
        (["--mtbf", "12h", "--days", "0"], "--days", "more than 0"),
        (["--mtbf", "12h", "--days", "nan"], "--days", "more than 0"),
        (["--mtbf", "12h", "--figure", "curve.pdf"], "--figure", "neither .png nor .svg"),
        (["--mtbf", "12h", "--figure", "nowhere/at/all/curve.png"], "--figure", "no folder nowhere/at/all"),
    ],
)
def test_nonsense_is_refused_with_the_reason(arguments, option, words):
    cost = [] if "--save-cost" in arguments else ["--save-cost", "1min"]
    done = invoke(*arguments, *cost)
    assert done.exit_code == 2, done.output
    assert words in done.output
    assert option in done.output
    assert "MTBF of the job" not in done.output
