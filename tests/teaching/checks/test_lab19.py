"""Lab 19's checks: each mistake is named, and what is right is right however it is written."""

import linecache
import random
import signal
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from lastgood.recovery.job import PATIENCE, START_PATIENCE
from lastgood.recovery.job.checkpoints import last_good
from lastgood.recovery.wire import same
from lastgood.teaching.checks import lab19
from lastgood.teaching.checks.core import Check
from lastgood.teaching.checks.lab19 import reference
from lastgood.teaching.checks.lab19.found import WAYS
from lastgood.teaching.checks.lab19.lost import ettr, log, lost_steps
from lastgood.teaching.checks.report import COLUMNS
from lastgood.training.rng import capture_rng

SEEDS = range(8)
QUICK = (lab19.HAPPENED, lab19.FOUND, lab19.PROGRESS, lab19.LOST, lab19.ETTR)  # no processes


def own(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function as a learner's, which the library's own is not."""
    return lambda *arguments: function(*arguments)


def happened(**changed: Any) -> Callable[[Any, float, int], Any]:
    """The reference, with another answer where a keyword says so, named by the text that it replaces."""

    def answer(status: int | None, silence: float, beats: int) -> Any:
        right = reference.what_happened(status, silence, beats)
        return changed.get(right.split()[0], right)

    return answer


def newest(folder: Path, run: str) -> tuple[Any, dict[str, str]]:
    paths = [path for path in folder.iterdir() if path.name.removeprefix("step-").isdigit()]
    return max(paths, key=lambda path: int(path.name[5:]), default=None), {}


def found(change: Callable[[Path, Path | None, dict[str, str]], Any]) -> Callable[[Path, str], Any]:
    """The reference, with its answer changed."""
    return lambda folder, run: change(folder, *last_good(folder, run))


CASES: dict[str, tuple[Check, Any, str]] = {
    "what happened": (lab19.HAPPENED, own(reference.what_happened), ""),
    "upper case": (lab19.HAPPENED, happened(finished="FINISHED"), "you say 'FINISHED', and it is 'finished'"),
    "nothing returned": (lab19.HAPPENED, happened(left=None), "you say 'None', and it is 'left'"),
    "signal's number": (lab19.HAPPENED, happened(killed="killed by 9"), "signal.Signals(9).name"),
    "error taken for a kill": (lab19.HAPPENED, happened(failed="killed by SIGHUP"), "program's own"),
    "kill taken for an error": (lab19.HAPPENED, happened(killed="failed"), "a signal's number"),
    "always running": (lab19.HAPPENED, happened(hung="running"), "without a limit you would wait for ever"),
    "always hung": (lab19.HAPPENED, happened(running="hung"), "nothing unusual"),
    "borrowed": (lab19.HAPPENED, reference.what_happened, "the library's own function"),
    "no known text": (lab19.HAPPENED, happened(finished="done"), "The table before the blank"),
    "last good": (lab19.FOUND, own(last_good), ""),
    "litter": (
        lab19.FOUND,
        lambda folder, run: max(int(path.name.removeprefix("step-")) for path in folder.iterdir()),
        "those are not named as checkpoints are",
    ),
    "paths": (lab19.FOUND, found(lambda f, p, bad: (p and str(p), {f / k: bad[k] for k in bad})), ""),
    "says more": (lab19.FOUND, found(lambda f, p, bad: (p, bad | {"step-200.tmp": "half"})), ""),
    "newest": (lab19.FOUND, newest, "It trusted step-"),
    "one thing": (lab19.FOUND, lambda f, r: last_good(f, r)[0], "It should return two things"),
    "a number": (lab19.FOUND, lambda f, r: (17, {}), "is a int, not a path or None"),
    "never one": (lab19.FOUND, lambda f, r: (None, {}), "It found none, and step-"),
    "blames": (lab19.FOUND, found(lambda f, p, bad: (p, bad | {p and p.name: "torn"})), "and it is good"),
    "no progress": (lab19.PROGRESS, own(reference.no_progress), ""),
    "all of them": (lab19.PROGRESS, len, "You count every death"),
    "text": (lab19.PROGRESS, lambda reached: str(reference.no_progress(reached)), "you say"),
    "step 0 as progress": (
        lab19.PROGRESS,
        lambda reached: reference.no_progress(reached) - (set(reached) == {0}),
        "a process that dies at step 0 has brought nothing",
    ),
    "compared with the one before": (
        lab19.PROGRESS,
        lambda reached: sum(b <= a for a, b in pairwise(reached)) * 10,
        "got further than all before it, to step",
    ),
    "empty list forgotten": (lab19.PROGRESS, lambda reached: max(reached) * 0, "ValueError"),
    "lost steps": (lab19.LOST, own(lost_steps), ""),
    "as a tuple": (lab19.LOST, lambda events: tuple(lost_steps(events)), ""),
    "one step more": (lab19.LOST, lambda events: [n + 1 for n in lost_steps(events)], "so it is not lost"),
    "resumed": (lab19.LOST, lambda log: [e["step"] for e in log if e["kind"] == "restarted"], "not what"),
    "one short": (lab19.LOST, lambda events: lost_steps(events)[:-1], "0 for one that cost nothing"),
    "all but one": (
        lab19.LOST,
        lambda events: [n + 5 * (k == 2) for k, n in enumerate(lost_steps(events))],
        "Failure 3 came",
    ),
    "ettr": (lab19.ETTR, own(ettr), ""),
    "upside down": (lab19.ETTR, lambda events, h: 1 / ettr(events, h), "upside down"),
    "wasted share": (lab19.ETTR, lambda events, h: 1 - ettr(events, h), "the share that was wasted"),
    "hours": (lab19.ETTR, lambda events, h: events[-1]["step"] * h, "Divide them by all hours"),
    "half of it": (lab19.ETTR, lambda events, h: ettr(events, h) / 3, "make the productive hours"),
    "no number": (lab19.ETTR, lambda events, h: None, "a number between 0 and 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_an_answer_is_right_or_its_mistake_is_named(name: str) -> None:
    check, function, message = CASES[name]
    for seed in SEEDS[:2] if check is lab19.FOUND else SEEDS:  # that one makes many files
        report = check.run((function,), seed=seed)
        assert report.passed is not bool(message), report.text()
        assert message in " ".join(report.text().split())
        assert max(map(len, report.text().splitlines())) <= COLUMNS


@pytest.mark.parametrize("check", QUICK, ids=lambda check: check.name)
def test_a_blank_earns_nothing_and_loses_nothing(check: Check) -> None:
    def blank(*arguments: Any) -> None:
        raise NotImplementedError

    report = check.run((blank,), seed=1)
    assert (report.points, report.worth) == (0, check.worth)
    assert "Not written yet" in report.text()
    assert "LOST" not in report.text()


@pytest.mark.parametrize("check", QUICK, ids=lambda check: check.name)
def test_a_check_draws_no_global_random_number(check: Check) -> None:
    random.seed(1)
    before = capture_rng()
    check.run((lambda *arguments: None,))
    assert same(capture_rng(), before)


def test_every_draw_has_every_way_to_be_bad_above_the_last_good_one() -> None:
    for seed in SEEDS:
        folders = lab19.FOUND.draw(seed)["folders"]
        above = [way for title in ("some damaged", "others damaged") for _, way in folders[title] if way]
        assert sorted(above) == sorted(WAYS)


def test_every_draw_asks_for_each_way_to_end_and_each_side_of_both_patiences() -> None:
    for seed in SEEDS:
        cases = lab19.HAPPENED.draw(seed)["cases"]
        texts = {reference.what_happened(*case).split()[0] for case in cases}
        assert texts == {"finished", "left", "killed", "failed", "hung", "running"}
        starting = [silence for status, silence, beats in cases if status is None and not beats]
        assert PATIENCE < min(starting) < START_PATIENCE < max(starting)


def test_no_wrong_count_of_lost_steps_is_right_by_luck() -> None:
    for seed in range(50):
        events = log(random.Random(seed), 0.5)
        executed = sum(event["kind"] == "step" for event in events)
        assert sum(lost_steps(events)) == executed - events[-1]["step"]
        furthest = resumed_twice = 0
        for before, event in pairwise(events):
            resumed_twice += event["kind"] == "failed" and before["step"] < furthest
            furthest = max(furthest, event["step"])
        assert resumed_twice, "one failure before the ground of the last was made good"
        assert 0 in lost_steps(events), "one right after a save"


def written(lines: str, **names: Any) -> Callable[..., Any]:
    """A supervisor of these lines, with the line that a traceback would show."""
    text = f"def supervise(job, what_happened, last_good, no_progress):\n{indent(lines, '    ')}\n"
    cell = f"<cell {len(linecache.cache)}>"
    linecache.cache[cell] = (len(text), None, text.splitlines(keepends=True), cell)
    namespace = {"__name__": "__main__", **names}
    exec(compile(text, cell, "exec"), namespace)
    function: Callable[..., Any] = namespace["supervise"]
    return function


WRONG_LOOPS: dict[str, tuple[Any, str]] = {
    "starts nothing": (written("return 'finished'"), "has started no process"),
    "starts from a number": (written("job.start(5)"), "raised JobError: start was given 5: give it the path"),
    "starts from elsewhere": (written("job.start('step-1')"), "which is no checkpoint in the job's folder"),
    "starts beside": (written("job.start('..')"), "start was given '..', which is no checkpoint"),
    "says how far it was": (written("job.start(None)\n1 / 0"), "(Processes started: 1. There was no good"),
    "says in which line": (written("x = 7\nreturn x / 0"), "in the line: return x / 0"),
    "has a slip": (written("return job.begin(None)"), "'Job' object has no attribute 'begin'"),
    "forgets an argument": (written("job.start()"), "Job.start() missing 1 required positional argument"),
    "uses what is not there": (written("return reached"), "uses `reached`, which is not defined yet"),
    "holds what cannot travel": (written("return len(held)", held=(x for x in ())), "cannot be taken to"),
    "tidies up": (
        written("(job.folder / 'step-5.tmp').mkdir()"),
        "raised PermissionError: the job's folder is the job's own, and can only be read: mkdir step-5.tmp",
    ),
    "leaves": (written("import os\nos._exit(3)"), "Supervise: its process ended with status 3."),
    "takes another argument": (written("return job(1)"), "raised TypeError: 'Job' object is not callable"),
    "borrowed": (reference.last_good, "the library's own function"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_LOOPS)
def test_a_loop_that_never_gets_going_is_told_why(name: str) -> None:
    function, message = WRONG_LOOPS[name]
    report = lab19.LOOP.run((function,), seed=1)
    assert report.points == 0
    assert message in " ".join(report.text().split())


def test_a_loop_that_is_not_written_yet_is_not_called_lost() -> None:
    report = lab19.LOOP.run((written("raise NotImplementedError"),), seed=1)
    assert "Not written yet" in report.text()
    assert "LOST" not in report.text()


def test_what_a_supervisor_prints_stands_in_its_report() -> None:
    lines = "import sys\nfor k in range(30): print('line', k)\nprint('<b>', file=sys.stderr)\n"
    for end in ("return 1", "1 / 0"):
        report = lab19.LOOP.run((written(lines + end),), seed=1)
        assert "The last that your supervisor printed:\n" in report.note
        assert "line 29\n<b>" in report.note
        assert "line 9\n" not in report.note
        assert "&lt;b&gt;" in report._repr_html_()


def test_a_supervisor_that_never_polls_again_comes_to_an_end() -> None:
    hopeful = written(
        "process = job.start(None)\nstatus = process.poll()\n"
        "while what_happened(status, process.silence, process.beats) == 'running': pass"
    )
    report = lab19.LOOP.run((hopeful,), seed=1)
    assert "never polled in between" in " ".join(report.text().split())


def test_nothing_swallows_the_end_of_a_supervisor_that_waits_for_ever() -> None:
    stubborn = written(
        "process = job.start(None)\nwhile True:\n"
        "    try:\n        process.poll()\n    except BaseException:\n        continue"
    )
    report = lab19.LOOP.run((stubborn,), seed=1)
    assert "did not come to an end" in " ".join(report.text().split())


def test_the_names_of_signals_are_those_of_this_system() -> None:
    assert reference.what_happened(-signal.SIGSEGV, 0.0, 1) == "killed by SIGSEGV"
