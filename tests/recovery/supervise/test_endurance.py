"""Many failures of all kinds, and the proof that nothing came of them. `make endurance` is the long form."""

import json
import sys
from dataclasses import replace

import pytest

from benchmarks.endurance import endure, objections, schedule, steps_for
from lastgood.recovery.faults import KILLED, KINDS, OPT_175B
from lastgood.training.schedule import Schedule

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="storage is made full by prlimit")


@pytest.fixture(scope="module")
def small(config_of_go):
    """The run that `go` supervises, its schedule stretched."""

    def small(failures):
        horizon = steps_for(failures)
        return replace(config_of_go, schedule=Schedule(peak=5e-3, warmup=20, horizon=horizon, floor=5e-4))

    return small


def endured(failures, small, server, folder):
    config, faults = small(failures), schedule(failures, seed=19)
    outcome = endure(config, faults, folder, seed=19, server=server)
    assert objections(outcome, config, folder, seed=19) == []
    assert outcome.kills + sum(fault.kind == "storage full" for fault in faults) >= 0.85 * failures
    return outcome


def test_failures_of_all_kinds_leave_no_trace(small, server, tmp_path):
    outcome = endured(8, small, server, tmp_path / "run")
    assert {failure.cause for failure in outcome.failures} | {"storage full"} == set(KINDS)


@pytest.mark.slow
def test_as_many_failures_as_opt_175b_had_leave_no_trace(small, server, tmp_path):
    outcome = endured(OPT_175B.restarts, small, server, tmp_path / "run")
    assert sum(failure.cause == KILLED for failure in outcome.failures) > OPT_175B.restarts / 2
    assert outcome.refused_saves > 0
    assert any(failure.wait for failure in outcome.failures)


def test_the_proof_finds_what_is_wrong(small, server, tmp_path):
    """Break what the proof reads: a sample in the log, then the last checkpoint."""
    folder = tmp_path / "run"
    config = small(2)
    outcome = endure(config, schedule(2, seed=19), folder, seed=19, server=server)
    log = folder / "events.jsonl"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    next(line for line in reversed(lines) if line["kind"] == "step")["indices"][0] += 1
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "other samples" in str(objections(outcome, config, folder, seed=19))
    assert "the parameters differ" in str(objections(outcome, config, folder, seed=20))
    assert "its bound is" in str(
        objections(
            replace(outcome, failures=tuple(replace(each, bound=-1) for each in outcome.failures)),
            config,
            folder,
            seed=19,
        )
    )
