"""A supervisor in a process of its own: it can do with a stand-in what it can do with a job, and no more."""

import signal
from collections.abc import Callable
from textwrap import indent
from typing import Any

import pytest

from lastgood.recovery.job import Fate, Job, Plan, SupervisorStopped, plan, undisturbed
from lastgood.recovery.job.answers import last_good, no_progress, what_happened
from lastgood.recovery.job.serve import ServeError, supervised
from lastgood.recovery.learner import bundle
from lastgood.recovery.learner.processes import Trusting
from lastgood.recovery.warm import ChannelError
from lastgood.recovery.wire import WireError

KILLED = Plan(seed=1, steps=9, fates=(Fate(plan.KILLED, 7),))
HUNG = Plan(seed=1, steps=9, fates=(Fate(plan.HUNG, 2),))
RIGHT = """
while True:
    path, _ = last_good(job.folder, job.run)
    step = int(path.name[5:]) if path else 0
    {cut}
    process = job.start(path)
    while (state := what_happened(process.poll(), process.silence, process.beats)) == "running":
        pass
    if state == "finished":
        return state
    process.kill()
"""


def written(lines: str) -> Callable[..., Any]:
    """A learner's supervisor of these lines."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(f"def supervise(job, what_happened, last_good, no_progress):\n{indent(lines, '    ')}", names)
    function: Callable[..., Any] = names["supervise"]
    return function


def told(lines: str, given: Plan = KILLED, **how: Any) -> dict[str, Any]:
    return supervised(bundle.dumps({"supervise": written(lines)}), given, Trusting(), **how)


def here(lines: str, given: Plan = KILLED) -> dict[str, Any]:
    """The same, with the job itself in its hands."""
    found: dict[str, Any] = {}
    with Job(given) as job:
        try:
            found["value"] = repr(written(lines)(job, what_happened, last_good, no_progress))
        except SupervisorStopped as stop:
            found["stopped"] = str(stop)
    return found | {"starts": job.starts, "record": job.at_the_end or job.record, "digests": job.digests}


CUTS = {
    "del": "del job.record[step:]",
    "emptied slice": "job.record[step:] = []",
    "whole slice": "job.record[:] = job.record[:step]",
    "another list": "job.record = job.record[:step]",
    "popped": "while len(job.record) > step: job.record.pop()",
    "cleared and filled": "kept = job.record[:step]; job.record.clear(); job.record.extend(kept)",
    "one short": "del job.record[max(step - 1, 0) :]",
    "not at all": "pass",
}


@pytest.mark.parametrize("cut", CUTS)
def test_the_record_is_a_list_that_a_supervisor_may_cut_as_it_likes(cut: str) -> None:
    lines = RIGHT.format(cut=CUTS[cut])
    there = told(lines)
    assert there["value"] == "'finished'"
    right = undisturbed(KILLED)
    assert there["digests"] == right.digests
    if cut in ("one short", "not at all"):
        assert there["record"] == here(lines)["record"] != right.samples
    else:
        assert there["record"] == right.samples


WAYS = {
    "sees what a job shows": (
        "p = job.start(None)\nwhile p.poll() is None: pass\n"
        "return [p.step, p.beats, p.alive, p.poll(), job.steps, job.run, len(job.record), p.silence >= 0]",
        KILLED,
    ),
    "kills": ("p = job.start(None)\np.kill(); p.kill()\nreturn [p.alive, p.poll(), len(job.record)]", KILLED),
    "kills a hung one": (
        "p = job.start(None)\nwhile what_happened(p.poll(), p.silence, p.beats) == 'running': pass\n"
        "s = p.alive\np.kill()\nreturn [s, p.alive, p.step]",
        HUNG,
    ),
    "two at once": ("a, b = job.start(None), job.start(None)\nb.kill()\nreturn [a.alive, b.alive]", KILLED),
    "refused": (
        "try:\n    job.start('step-99')\nexcept ValueError as e:\n    return type(e).__name__, str(e)",
        KILLED,
    ),
    "no path": ("try:\n    job.start(7)\nexcept ValueError as e:\n    return str(e)", KILLED),
    "polls the dead": ("p = job.start(None)\nwhile True: p.poll()", KILLED),
    "starts for ever": ("while True: job.start(None)", KILLED),
    "never polls": ("p = job.start(None)\nwhile p.silence < 1e9: pass", KILLED),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_stand_in_does_as_the_job_does(way: str) -> None:
    lines, given = WAYS[way]
    there, same = told(lines, given), here(lines, given)
    assert {key: there.get(key) for key in ("value", "stopped")} == {
        key: same.get(key) for key in ("value", "stopped")
    }
    assert len(there["starts"]) == len(same["starts"])


def test_what_a_process_printed_can_be_read() -> None:
    there = told(
        "p = job.start(None)\nwhile p.poll() is None: pass\nprint('saw', p.output())", Plan(1, 9, poison=0)
    )
    assert "saw Traceback" in there["printed"]
    assert there["printed"].endswith("ValueError: the batch of step 0 cannot be read")
    assert "\x1e" not in there["printed"]


@pytest.mark.parametrize("lines", ["while True: pass", "job.start(None)\nwhile True: job.folder"])
def test_a_supervisor_that_asks_nothing_any_more_is_stopped(lines: str) -> None:
    there = told(lines, HUNG, patience=0.5)
    assert there["stopped"] == "for 0.5 s it neither polled nor started a process"
    assert all(start["status"] == -signal.SIGKILL for start in there["starts"])


def test_nothing_holds_up_the_end_of_a_supervisor() -> None:
    stubborn = "while True:\n    try:\n        p.poll()\n    except BaseException:\n        pass"
    assert "had ended, with exit status -9" in told("p = job.start(None)\n" + stubborn)["stopped"]


def test_an_exception_is_told_with_its_line_and_a_death_with_its_status() -> None:
    function = written("x = 1\nraise KeyError('here')")
    texts = {function.__code__.co_filename: "def supervise(…):\n    x = 1\n    raise KeyError('here')\n"}
    there = supervised(bundle.dumps({"supervise": function}), KILLED, Trusting(), texts)
    assert (there["error"]["kind"], there["error"]["message"]) == ("KeyError", "'here'")
    assert there["error"]["line"] == "raise KeyError('here')"
    assert told("import os\nos._exit(3)")["error"]["message"] == "its process ended with status 3"


@pytest.mark.parametrize(
    "change",
    [
        "(job.folder / 'step-5').mkdir()",
        "(job.folder / 'note').write_text('x')",
        "import os\nos.symlink('/', job.folder / 'x')",
    ],
)
def test_the_jobs_folder_can_only_be_read_behind_walls_and_elsewhere(change: str) -> None:
    assert told(change)["error"]["kind"] == "PermissionError"


LIES = {
    "junk": ("job._channel.send(b'junk')", WireError),
    "a question that nobody can ask": ("job.start(None)._ask('finish')", ServeError),
    "a record that is none": ("job._channel.send(pack({'do': 'start', 'record': {}}))", ServeError),
    "samples that are none": ("job.record = [['x']]\njob.start(None)", ServeError),
    "a value that is no text": ("job._ask('return', value=['finished'])", ServeError),
    "a process that was never started": ("job._ask('poll', process=3)", IndexError),
    "an end without a question": ("job._channel.send(pack({'value': 'finished'}))", KeyError),
    "far too much": ("job._channel.send(bytes(2_000_000))", ChannelError),
}  # fmt: skip
SEND = "from lastgood.recovery.wire import pack\n"


@pytest.mark.parametrize("lie", LIES)
def test_what_no_stand_in_asks_is_no_answer(lie: str) -> None:
    lines, error = LIES[lie]
    with pytest.raises(error):
        told(SEND + lines + "\nimport signal\nsignal.pause()")


def test_who_sends_questions_and_reads_no_answers_is_stopped() -> None:
    flood = "while True: job._channel.send(pack({'do': 'output', 'record': None, 'process': 0}))"
    there = told(SEND + "job.start(None).kill()\n" + flood, Plan(1, 9, poison=0), patience=0.5)
    assert "stopped" in there


def test_a_supervisor_cannot_rewrite_what_became_of_the_job() -> None:
    right = undisturbed(KILLED)
    forged = (
        f"job.start(None).kill()\njob.starts, job.digests = [], {right.digests!r}\n"
        f"job.record[:] = {right.samples!r}\njob.at_the_end = job.record\nreturn 'finished'"
    )
    there = told(forged)
    assert there["value"] == "'finished'"
    assert there["digests"] is None
    assert len(there["starts"]) == 1
