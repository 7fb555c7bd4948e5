"""The job of lab 19: its processes meet their fates, and its handle lets nobody wait for ever."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from lastgood.recovery.job import (
    LIMIT,
    PATIENCE,
    Fate,
    Job,
    JobError,
    Plan,
    Process,
    SupervisorStopped,
    checkpoints,
    compare,
    drawn,
    plan,
    poisoned,
)
from lastgood.recovery.job.checkpoints import last_good

SEEDS = range(200)


def to_its_end(process: Process) -> int | None:
    """The exit status; None once the process has hung."""
    while (status := process.poll()) is None:
        if process.beats and process.silence > PATIENCE:
            return None
    return status


ENDS = {
    plan.KILLED: (-signal.SIGKILL, "step-5", ""),
    plan.KILLED_SAVING: (-signal.SIGKILL, "step-5", ""),
    plan.HUNG: (None, "step-5", ""),
    plan.TOLD_TO_LEAVE: (-signal.SIGTERM, "step-7", ""),
    plan.ERROR: (1, "step-5", ""),
    checkpoints.TORN: (-signal.SIGKILL, None, "torn"),
    checkpoints.CORRUPT: (-signal.SIGKILL, None, "corrupt"),
}


@pytest.mark.parametrize("kind", plan.ENDS)
def test_a_process_meets_its_fate_and_leaves_what_belongs_to_it(kind: str) -> None:
    status, good, skipped = ENDS[kind]
    at = 10 if kind == plan.KILLED_SAVING else 7
    with Job(Plan(seed=1, steps=12, fates=(Fate(kind, at),))) as job:
        process = job.start(None)
        assert to_its_end(process) == status
        assert (process.step, len(job.record)) == (at, at)
        found, why = last_good(job.folder, job.run)
        assert (found and found.name) == good
        assert [words.split(":")[0] for words in why.values()] == ([skipped] if skipped else [])
        assert (job.folder / "step-10.tmp").exists() is (kind == plan.KILLED_SAVING)


def test_a_job_that_is_resumed_well_is_bit_identical_and_one_that_is_not_says_what_differs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for checkpoint, kept in (("step-5", 5), ("step-5", 7)):
        with Job(Plan(seed=3, steps=9, fates=(Fate(plan.KILLED, 7),))) as job:
            to_its_end(job.start(None))
            del job.record[kept:]
            assert to_its_end(job.start(checkpoint)) == 0
            compare(job)
    first, second = capsys.readouterr().out.split(
        "2 processes, 1 of which failed; 2 steps were done again\n"
    )[1:]
    assert "is right: 9 steps" in first
    assert "bit-identical" in first
    assert "is wrong: 11 entries for 9 steps" in second
    assert "bit-identical" in second


def test_who_resumes_from_a_corrupt_checkpoint_gets_another_run(capsys: pytest.CaptureFixture[str]) -> None:
    with Job(Plan(seed=3, steps=9, fates=(Fate(checkpoints.CORRUPT, 7),))) as job:
        to_its_end(job.start(None))
        assert to_its_end(job.start("step-5")) == 0
        compare(job)
    assert "another one: parameters" in capsys.readouterr().out


def waits_for_the_hung(job: Job) -> None:
    process = job.start(None)
    while process.poll() is None:
        pass


def polls_the_dead(job: Job) -> None:
    process = job.start(None)
    while True:
        process.poll()


def starts_for_ever(job: Job) -> None:
    while True:
        to_its_end(job.start(None))


@pytest.mark.parametrize(
    ("supervisor", "given", "words"),
    [
        (waits_for_the_hung, Plan(1, 9, (Fate(plan.HUNG, 2),)), "for a process that hung at step 2"),
        (polls_the_dead, Plan(1, 9, (Fate(plan.KILLED, 2),)), "had ended, with exit status -9"),
        (starts_for_ever, Plan(1, 9, poison=0), "did not get past step 0"),
        (starts_for_ever, Plan(1, 1), "though the job was complete"),
    ],
    ids=["hung", "dead", "poison", "complete"],
)  # fmt: skip
def test_nobody_can_wait_for_ever(supervisor: Callable[[Job], None], given: Plan, words: str) -> None:
    with Job(given) as job, pytest.raises(SupervisorStopped) as stopped:
        supervisor(job)
    assert words in str(stopped.value)
    assert not isinstance(stopped.value, Exception), "else `except Exception` would swallow it"


@pytest.mark.parametrize("given", [7, "step-5", "../x", Path("/")])
def test_what_is_no_checkpoint_is_refused(given: int | str | Path) -> None:
    with Job(Plan(1, 9)) as job, pytest.raises(JobError):
        job.start(given)  # type: ignore[arg-type]


def test_nothing_of_a_job_stays_behind() -> None:
    with Job(Plan(1, 9, (Fate(plan.HUNG, 2),))) as job:
        process, folder = job.start(None), job.folder
        assert to_its_end(process) is None
    assert not process.alive
    assert job.starts[0].status == -signal.SIGKILL
    del job, process
    assert not folder.exists()


def test_a_drawn_job_has_each_kind_of_end_and_never_reaches_the_limit() -> None:
    for seed in SEEDS:
        fates = drawn(seed).fates
        kinds = {fate.kind for fate in fates}
        assert {plan.HUNG, plan.TOLD_TO_LEAVE, checkpoints.CORRUPT} < kinds
        assert kinds & {plan.KILLED, plan.KILLED_SAVING}
        assert len(fates) > LIMIT, "whoever counts all deaths gives up too early"
        furthest = [max((fate.at for fate in fates[:place]), default=0) for place in range(len(fates))]
        futile = [fate.at <= before for fate, before in zip(fates, furthest, strict=True)]
        assert sum(futile) == 1
        slow = [fate.slow for fate in fates]
        assert sum(slow) == 1
        assert not slow[0]
        assert abs(slow.index(True) - futile.index(True)) > 1 or slow.index(True) < futile.index(True) - 1


def test_a_poison_step_lies_between_two_checkpoints() -> None:
    for seed in SEEDS:
        job = poisoned(seed)
        assert job.poison is not None
        assert job.save_every < job.poison < 2 * job.save_every < job.steps


def test_an_unknown_fate_is_refused() -> None:
    with pytest.raises(ValueError, match="no fate 'struck by lightning'"):
        Fate("struck by lightning", 3)
