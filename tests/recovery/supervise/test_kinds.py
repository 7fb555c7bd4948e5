"""Each kind of fault in real processes, and what it may cost."""

import sys

import pytest

from lastgood.recovery.faults import CORRUPTED, HUNG, KILLED, STORAGE_FULL, TOLD_TO_LEAVE, Fault
from lastgood.recovery.supervise import Costs, Patience, SupervisorError
from lastgood.recovery.supervise.outcome import lost_bound

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="storage is made full by prlimit")


def test_a_hang_is_found_by_its_silence_and_costs_at_most_an_interval(go):
    outcome = go(faults=[Fault(11, 3, HUNG)], costs=Costs(detect_hours=0.5))
    assert outcome.identical
    (failure,) = outcome.failures
    assert (failure.cause, failure.host, failure.bound) == (HUNG, 3, 8)
    assert failure.within_bound
    assert outcome.hours["detecting"] == 0.5


@pytest.mark.parametrize(("notice", "suffices"), [(0.0, False), (0.2, False), (0.21, True)])
def test_a_notice_is_used_to_save_where_it_is_longer_than_a_save(go, notice, suffices):
    fault = Fault(11, 3, TOLD_TO_LEAVE, lasts_hours=notice)
    outcome = go(faults=[fault], steps=24, costs=Costs(save_hours=0.2))
    assert outcome.identical
    (failure,) = outcome.failures
    assert failure.bound == (0 if suffices else 8)
    assert failure.within_bound
    assert ("which it used to save" in str(go.events)) is suffices


def test_a_corrupted_checkpoint_is_passed_over_and_said(go):
    outcome = go(faults=[Fault(17, 3, CORRUPTED)])
    assert outcome.identical
    (failure,) = outcome.failures
    assert (failure.resumed, failure.bound) == (8, 16)
    assert failure.within_bound
    restarted = next(event.text for event in go.events if event.kind == "restarted")
    assert "though step 16 was saved (state.pt: changed" in restarted


@pytest.mark.parametrize("hour", [3.0, 11.0])
def test_where_no_other_checkpoint_is_there_corruption_costs_all(go, hour):
    outcome = go(faults=[Fault(hour, 3, CORRUPTED)], steps=24)
    assert outcome.identical
    assert go.resumed_at() == [0]
    assert outcome.failures[0].within_bound


def test_corruption_twice_before_a_new_save_costs_no_more(go):
    outcome = go(faults=[Fault(27, 3, CORRUPTED), Fault(29, 3, CORRUPTED), Fault(31, 3)], steps=32)
    assert outcome.identical
    assert go.resumed_at()[0] == 16
    assert all(failure.within_bound for failure in outcome.failures)


@on_linux
def test_a_full_storage_stops_no_training_and_costs_the_outage_and_an_interval(go):
    full = Fault(9, 3, STORAGE_FULL, lasts_hours=17)
    outcome = go(faults=[full, Fault(21.5, 4, KILLED)], steps=60)
    assert outcome.identical
    assert outcome.refused_saves > 0
    (failure,) = outcome.failures
    assert failure.resumed == 8
    assert failure.within_bound
    refused = next(event for event in go.events if event.kind == "refused")
    assert "no room to write it" in refused.text
    kinds = go.kinds()
    assert kinds.index("full") < kinds.index("refused") < kinds.index("free")
    ends = [event.kind for event in go.events if event.kind in ("refused", "saved", "free")]
    since = ends[ends.index("free") :]  # the process may be some steps ahead of what is known of it
    assert "refused" not in since[since.index("saved") :]


@on_linux
def test_a_refused_save_is_tried_again_after_each_step(go):
    outcome = go(faults=[Fault(9, 3, STORAGE_FULL, lasts_hours=9.5)], steps=40)
    assert outcome.identical
    assert [event.step for event in go.events if event.kind == "refused"][:2] == [16, 17]
    assert any(event.kind == "saved" and event.step % 8 for event in go.events)


@pytest.mark.parametrize("kind", [CORRUPTED, STORAGE_FULL])
def test_kinds_that_need_the_librarys_files_are_refused_for_other_functions(go, learners, kind):
    with pytest.raises(SupervisorError, match=f"{kind}.*library's own"):
        go(faults=[Fault(3, 1, kind)], functions=learners())
    assert not go.folder.exists()


def test_without_a_spare_the_run_waits_until_a_host_is_repaired(go):
    outcome = go(11, 14, steps=24, spares=1, costs=Costs(repair_hours=10.0, restart_hours=0.5))
    assert outcome.identical
    first, second = outcome.failures
    assert first.wait == 0.0
    assert second.wait == pytest.approx(10.0 - (second.hours - first.hours))
    assert outcome.hours["waiting"] == second.wait
    assert outcome.hours["restarting"] == 1.0
    assert outcome.ettr == pytest.approx(24 / sum(outcome.hours.values()))
    assert [event.wait for event in go.events if event.kind == "waiting"] == [second.wait]


def test_a_fault_that_falls_into_a_wait_strikes_the_next_process(go):
    outcome = go(11, 12.5, steps=24, spares=0, costs=Costs(repair_hours=3.0))
    assert outcome.identical
    first, second = outcome.failures
    assert second.step == first.resumed  # it had no time for a step


@pytest.mark.parametrize("options", [{"save_hours": -1.0}, {"repair_hours": float("nan")}])
def test_costs_that_are_none_are_refused(options):
    with pytest.raises(SupervisorError, match="give hours, 0 or more"):
        Costs(**options)


@pytest.mark.parametrize("options", [{"silence_s": 0.0}, {"deaths": 0}, {"backoff_s": -1.0}])
def test_impatience_is_refused(options):
    with pytest.raises(SupervisorError, match="positive seconds"):
        Patience(**options)


@pytest.mark.parametrize(
    ("cause", "saved_on_notice", "bound"),
    [
        (KILLED, False, 10),
        (HUNG, False, 10),
        ("died", False, 10),
        (CORRUPTED, False, 21),
        (TOLD_TO_LEAVE, True, 0),
        (TOLD_TO_LEAVE, False, 10),
    ],
)
def test_the_bound_is_that_of_the_kind(cause, saved_on_notice, bound):
    assert lost_bound(cause, 8, saved_on_notice=saved_on_notice, refused=2, refused_before=3) == bound


def test_a_process_starved_of_a_core_is_not_taken_for_hung(go, edited, learners):
    # Longer than `silence_s` without a message, and computing: what a loaded machine makes of a save.
    busy = "import time; end = time.monotonic() + 1.0\n    while time.monotonic() < end: pass\n"
    source = edited(("    torch.save(state,", f"    {busy}    torch.save(state,"))
    outcome = go(functions=learners(source), steps=8)
    assert outcome.identical
    assert outcome.restarts == 0
