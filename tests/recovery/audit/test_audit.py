"""The audit on schemes that fool a look at the file or at the loss: each is found out, and told why.

What a lab's learners write is in autograder/mutants; here are those that try to get round the audit.
"""

import copy
import os
import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

from lastgood.recovery import audit, state
from lastgood.recovery.components import COMPONENTS, LOADER, OPTIMIZER, PARAMETERS, RNG
from lastgood.training.run import Run

Pair = tuple[Callable[[Run], Any], Callable[[Run, Any], Any]]


def examined(capture: Callable[[Run], Any], restore: Callable[[Run, Any], Any], seed: int = 3) -> audit.Audit:
    plan = audit.draw_plan(seed=seed)
    return audit.judge(plan, audit.measure({"capture": capture, "restore": restore}, plan))


def here(function: Callable[..., Any]) -> Callable[..., Any]:
    """As a notebook's function: pickled by value."""
    function.__module__ = "__main__"
    return function


@here
def right_capture(run: Run) -> Any:
    return state.capture(run)


@here
def right_restore(run: Run, captured: Any) -> None:
    state.restore(run, captured)


@pytest.mark.parametrize("seed", range(4))
def test_the_library_keeps_everything_wherever_the_kill_is_drawn(seed: int) -> None:
    found = examined(right_capture, right_restore, seed)
    assert found.passed, found
    assert found.first_step is None
    assert found.expected == found.found


def test_a_plan_is_inside_an_epoch_and_the_warm_up_and_ends_past_both() -> None:
    for seed in range(200):
        plan = audit.draw_plan(seed=seed)
        epochs, inside = divmod(plan.before, audit.BATCHES_PER_EPOCH)
        assert epochs >= 1
        assert inside > 0
        assert plan.before < plan.config.schedule.warmup < plan.before + plan.after - 1
        assert plan.extra < plan.after
        assert (plan.before + plan.after) // audit.BATCHES_PER_EPOCH > epochs


def test_one_epoch_of_the_audits_configuration_is_as_many_batches_as_it_says() -> None:
    run = Run(audit.AUDIT_CONFIG)
    assert len(run.loader) == audit.BATCHES_PER_EPOCH
    assert len(run.loader.starts) % audit.AUDIT_CONFIG.batch_size != 0  # the last batch is smaller


def test_a_stored_future_is_refused_for_its_size_or_for_its_steps() -> None:
    @here
    def capture(run: Run) -> Any:
        other = copy.deepcopy(run)
        future = []
        for _ in range(20):
            type(other).advance(other)
            future.append(state.capture(other))
        return {"now": state.capture(run), "future": future}

    found = examined(capture, here(lambda run, captured: state.restore(run, captured["now"])))
    assert "capture took 20 optimizer steps" in found.refused


def test_a_checkpoint_with_many_states_is_refused() -> None:
    @here
    def capture(run: Run) -> Any:
        return [state.capture(run) for _ in range(5)]

    found = examined(capture, here(lambda run, captured: state.restore(run, captured[0])))
    assert "holds more than one state" in found.refused
    assert not found.passed


def test_a_patched_advance_changes_nothing() -> None:
    @here
    def restore(run: Run, captured: Any) -> None:
        state.restore(run, {**captured, "step": 0})
        run.advance = lambda: None  # type: ignore[assignment,method-assign,return-value]

    found = examined(right_capture, restore)
    assert [f.component for f in found.findings if not f.kept] == ["step"]


def test_a_capture_that_draws_random_numbers_is_told_that_it_changed_the_run() -> None:
    @here
    def capture(run: Run) -> Any:
        captured = state.capture(run)
        random.random()
        return captured

    found = examined(capture, right_restore)
    (lost,) = [f for f in found.findings if not f.kept]
    assert lost.component == RNG
    assert "capture changed the run itself: Python's random generator" in lost.why


def test_a_position_counted_from_the_last_start_is_found_at_the_second_resume() -> None:
    @here
    def capture(run: Run) -> Any:
        captured = state.capture(run)
        since = run.step - getattr(run, "started_at", 0)
        return {**captured, "step": since}

    @here
    def restore(run: Run, captured: Any) -> None:
        state.restore(run, captured)
        run.started_at = run.step  # type: ignore[attr-defined]

    found = examined(capture, restore)
    (lost,) = [f for f in found.findings if not f.kept]
    assert lost.component == "step"
    assert "correct after the first resume, wrong after a second one" in lost.why


def test_generators_restored_before_something_that_draws_are_lost() -> None:
    # transformers PR 46628: RNG restored before skipping data, which then advanced it
    @here
    def restore(run: Run, captured: Any) -> None:
        state.restore(run, captured)
        torch.rand(1)

    found = examined(right_capture, restore)
    (lost,) = [f for f in found.findings if not f.kept]
    assert lost.component == RNG
    assert "torch's generator" in lost.why


def test_an_optimizer_that_steps_another_model_is_found() -> None:
    @here
    def restore(run: Run, captured: Any) -> None:
        state.restore(run, captured)
        run.model = copy.deepcopy(run.model)

    found = examined(right_capture, restore)
    lost = {f.component: f.why for f in found.findings if not f.kept}
    assert "the optimizer holds parameters that are not the model's" in lost[PARAMETERS]


def test_a_shuffled_epoch_restored_without_its_order_is_found() -> None:
    # accelerate#4195: the right position in the first epoch's order
    @here
    def restore(run: Run, captured: Any) -> None:
        state.restore(run, {**captured, "loader": {**captured["loader"], "epoch": 0}})

    found = examined(right_capture, restore)
    assert [f.component for f in found.findings if not f.kept] == [LOADER]


def test_moments_of_another_type_are_found() -> None:
    # torchtitan PR 4615: moments came back in another dtype
    @here
    def restore(run: Run, captured: Any) -> None:
        state.restore(run, captured)
        for moments in run.optimizer.state.values():
            moments["exp_avg"] = moments["exp_avg"].bfloat16()

    found = examined(right_capture, restore)
    (lost,) = [f for f in found.findings if not f.kept]
    assert lost.component == OPTIMIZER
    assert "torch.bfloat16 instead of torch.float32" in lost.why


@pytest.mark.parametrize(
    ("capture", "stage", "kind"),
    [
        (here(lambda run: run.no_such_thing), "capture", "AttributeError"),
        (here(lambda run: os._exit(3)), "capture", "ProcessDied"),
        (here(lambda run: (item for item in [])), "writing what capture returned", "TypeError"),
        (here(lambda run: exec("raise SystemExit(0)")), "capture", "SystemExit"),
    ],
)
def test_what_a_learners_function_raises_is_an_answer(
    capture: Callable[[Run], Any], stage: str, kind: str
) -> None:
    found = examined(capture, right_restore)
    assert found.stopped is not None
    assert (found.stopped["stage"], found.stopped["kind"]) == (stage, kind)
    assert [f.component for f in found.findings if f.kept] == []


def test_every_component_is_judged_once() -> None:
    found = examined(here(lambda run: {}), here(lambda run, captured: None))
    assert tuple(f.component for f in found.findings) == COMPONENTS
    assert not any(f.kept for f in found.findings)
    assert all(f.first_step is not None for f in found.findings)
