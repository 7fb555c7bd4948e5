"""The folder of a run: what is refused, what is written, and what is gone on with."""

import json
import os
import signal

import pytest

from lastgood.recovery.checkpoint.lock import hold
from lastgood.recovery.supervise import Costs, SupervisorError


def written(folder):
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


def test_the_events_of_a_run_are_lines_of_json_in_its_folder(go):
    go(11, steps=16)
    lines = written(go.folder)
    assert lines == [vars(event) for event in go.events]
    assert go.kinds() == ["started", "failed", "restarted", "finished"]
    failed = next(line for line in lines if line["kind"] == "failed")
    assert "kill 1 after step" in failed["text"]
    assert (failed["cause"], failed["host"], failed["bound"]) == ("killed", 3, 8)
    assert [line["executed"] for line in lines if line["kind"] == "step"][-1] == lines[-1]["executed"]
    assert {path.name for path in go.folder.iterdir()} == {"run.json", "events.jsonl", "checkpoints"}


def test_a_folder_in_use_is_refused_and_left_as_it_is(go):
    go.folder.mkdir()
    (go.folder / "thesis.txt").write_text("mine")
    with pytest.raises(SupervisorError, match="run is not an empty folder"):
        go(steps=8)
    assert [path.name for path in go.folder.iterdir()] == ["thesis.txt"]


def test_a_file_in_the_place_of_the_folder_is_refused(go):
    go.folder.write_text("mine")
    with pytest.raises(SupervisorError, match="run is not an empty folder"):
        go(steps=8)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"steps": 0}, "a run of 0 steps"),
        ({"save_every": 0}, "saving every 0 steps"),
        ({"save_every": 41}, "give 1 to 40"),
        ({"hours_per_step": 0.0}, "stops the clock"),
        ({"hours_per_step": float("nan")}, "stops the clock"),
        ({"spares": -1}, "-1 spare hosts"),
    ],
)
def test_numbers_that_make_no_run_are_refused_before_anything_is_made(go, options, words):
    with pytest.raises(SupervisorError, match=words):
        go(**options)
    assert not go.folder.exists()


def test_a_folder_that_another_supervisor_holds_is_refused_with_its_process(go, children):
    go.folder.mkdir()

    def owner(writing):
        with hold(go.folder):
            os.write(writing, b"!")
            signal.pause()

    pid, reading = children.fork(owner)
    os.read(reading, 1)
    os.close(reading)
    with pytest.raises(SupervisorError, match=f"in use by another supervisor: process {pid} on "):
        go(steps=8)
    assert [path.name for path in go.folder.iterdir()] == [".lock"]


class Interrupted(BaseException):
    pass


def interrupting(go, executed):
    """Ends the supervisor when so many steps were executed."""

    def on_event(event):
        go.events.append(event)
        if event.executed == executed and event.kind == "step":
            raise Interrupted

    return on_event


def begun(go, *hours, executed=21, **options):
    with pytest.raises(Interrupted):
        go(*hours, on_event=interrupting(go, executed), **options)


def test_a_run_whose_supervisor_was_interrupted_goes_on_where_it_was(go):
    begun(go, 11, 30)
    before = written(go.folder)
    outcome = go(11, 30)
    assert outcome.identical
    assert (outcome.kills, outcome.restarts) == (2, 3)
    assert [failure.cause for failure in outcome.failures] == ["killed", "supervisor", "killed"]
    assert outcome.executed_steps == 40 + sum(outcome.lost_steps)
    assert all(failure.within_bound for failure in outcome.failures)
    lines = written(go.folder)
    assert lines[: len(before)] == before  # nothing is told twice, or otherwise
    assert lines[len(before)]["kind"] == "continued"


def test_a_checkpoint_that_the_log_does_not_know_of_is_gone_on_from(go):
    """The process outlives its supervisor by a moment, in which it may complete a save."""
    begun(go)
    log = go.folder / "events.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(line for line in lines if json.loads(line)["executed"] <= 13))
    outcome = go()
    assert outcome.identical
    assert go.resumed_at() == [16]
    assert (outcome.executed_steps, outcome.lost_steps) == (40, (0,))


def test_waits_and_costs_are_carried_over_to_the_next_supervisor(go):
    options = {"spares": 0, "costs": Costs(repair_hours=7.0, save_hours=0.5, restart_hours=0.25)}
    begun(go, 11, **options)
    outcome = go(11, **options)
    assert outcome.hours["waiting"] == 7.0
    assert outcome.hours["saving"] == 0.5 * sum(line["kind"] == "saved" for line in written(go.folder))
    assert sum(outcome.hours.values()) == pytest.approx(written(go.folder)[-1]["hours"])


def test_a_last_line_that_a_kill_cut_short_is_dropped(go):
    begun(go)
    log = go.folder / "events.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"kind": "st')
    assert go().identical
    assert log.read_bytes().startswith(whole + b'{"kind": "continued"')


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seed": 6}, "it differs in its seed"),
        ({"save_every": 4, "hours_per_step": 2.0}, "it differs in its save_every, hours_per_step"),
        ({"spares": 2}, "it differs in its spares"),
    ],
)
def test_a_folder_of_another_run_is_refused_and_left_as_it_is(go, options, words):
    begun(go, executed=9)
    before = {path: path.read_bytes() for path in go.folder.rglob("*") if path.is_file()}
    with pytest.raises(SupervisorError, match=words):
        go(**options)
    assert {path: path.read_bytes() for path in go.folder.rglob("*") if path.is_file()} == before


def test_a_run_that_has_ended_is_not_gone_on_with(go):
    go(steps=8)
    with pytest.raises(SupervisorError, match="has ended: step 8: bit-identical"):
        go(steps=8)


def test_a_run_with_functions_of_its_own_is_not_gone_on_with(go, learners):
    begun(go, functions=learners())
    with pytest.raises(SupervisorError, match="functions of its own"):
        go(functions=learners())


@pytest.mark.slow
def test_a_run_outlives_sigkill_of_its_supervisor(go, children):
    def on_event(event):
        if event.executed == 21:
            os.kill(os.getpid(), signal.SIGKILL)

    def supervisor(writing):
        from lastgood.recovery.warm import WarmServer

        go(11, 30, on_event=on_event, server=WarmServer())

    pid, reading = children.fork(supervisor)
    children.drain(reading)
    assert children.wait(pid) == -signal.SIGKILL
    outcome = go(11, 30)
    assert outcome.identical
    assert "supervisor" in [failure.cause for failure in outcome.failures]
