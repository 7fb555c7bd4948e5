"""capture and restore: exact across processes and kills, and a refusal changes nothing."""

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from lastgood.recovery.audit import AUDIT_CONFIG, BATCHES_PER_EPOCH, WORKER, Plan, ask
from lastgood.recovery.components import COMPONENTS, differences, observe
from lastgood.recovery.state import StateError, capture, restore, state_bytes
from lastgood.recovery.warm import WarmServer, shared_server
from lastgood.recovery.wire import pack, same
from lastgood.training.run import Run
from lastgood.training.schedule import Schedule


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def server() -> WarmServer:
    return shared_server()


def trained(steps: int, seed: int = 1) -> Run:
    run = Run(AUDIT_CONFIG, seed=seed)
    for _ in range(steps):
        run.advance()
    return run


# An epoch is 6 steps, the warm-up 14. Where the kill comes, and how many steps follow.
MOMENTS = {
    "before the first step": (0, 8),
    "in the middle of an epoch": (9, 8),
    "at an epoch's end": (2 * BATCHES_PER_EPOCH, 8),
    "in the warm-up": (5, 12),
    "in the decay": (20, 8),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_after_sigkill_and_resume_in_a_new_process_twice_nothing_differs(
    moment: str, server: WarmServer, tmp_path: Path
) -> None:
    before, after = MOMENTS[moment]
    plan = Plan(seed=11, secret=12, other_seed=13, before=before, extra=3, after=after)
    first, second = tmp_path / "first.pt", tmp_path / "second.pt"
    library = {"reference": True, "begun": str(tmp_path / "begun.pt")}
    with server.spawn(WORKER + "begin", pack(plan.orders(**library))) as worker:
        ask(worker)

    def seen(target: str, file: Path, *more: bytes) -> list[dict[str, Any]]:
        with server.spawn(WORKER + target, pack(plan.orders(file=str(file), **library))) as worker:
            worker.channel.send(NO_FUNCTIONS)
            answers = [ask(worker)]
            for message in more:
                worker.channel.send(message)
                answers.append(ask(worker))
            worker.kill()
            assert worker.wait(10) == -9  # it died of SIGKILL, with everything that was in it
        return answers

    with server.spawn(WORKER + "reference", pack(plan.orders(after=after))) as worker:
        truth = ask(worker)
    seen("write", first)
    restored, resumed = seen("resume", first, pack([after, str(second)]))
    (again,) = seen("resume", second)
    assert differences(restored["restored"], truth["captured"]) == {}
    assert resumed["losses"] == truth["losses"]
    assert resumed["indices"] == truth["indices"]
    assert differences(resumed["end"], truth["end"]) == {}
    assert differences(again["restored"], truth["end"]) == {}


def no_functions() -> bytes:
    from lastgood.recovery.learner import bundle

    return bundle.dumps({})


NO_FUNCTIONS = no_functions()


def test_training_on_does_not_change_what_was_captured_nor_the_other_way_round() -> None:
    run = trained(4)
    state = capture(run)
    kept = copy.deepcopy(state)
    run.advance()
    assert same(strings(state), strings(kept))
    other = Run(AUDIT_CONFIG, seed=2)
    restore(other, state)
    other.advance()
    assert same(strings(state), strings(kept))


def strings(value: Any) -> Any:
    """The same state with string keys, which `same` compares."""
    return {str(k): strings(v) for k, v in value.items()} if isinstance(value, dict) else value


def test_a_state_is_loadable_with_weights_only(tmp_path: Path) -> None:
    torch.save(capture(trained(3)), tmp_path / "state.pt")
    run = Run(AUDIT_CONFIG, seed=2)
    restore(run, torch.load(tmp_path / "state.pt", weights_only=True))
    assert differences(observe(run), observe_of(tmp_path)) == {}


def observe_of(path: Path) -> dict[str, Any]:
    run = trained(3)
    return observe(run)


Change = Callable[[dict[str, Any]], Any]
REFUSED: dict[str, tuple[Change, str]] = {
    "a missing key": (lambda s: s.pop("rng"), "rng is missing"),
    "an unknown key": (lambda s: s.update(extra=1), "extra is unknown"),
    "another shape": (
        lambda s: s["model"].update({"norm.bias": torch.zeros(3)}),
        r"model.norm.bias has shape \(3,\), the run's \(32,\)",
    ),
    "another dtype": (
        lambda s: s["model"].update({"norm.bias": torch.zeros(32, dtype=torch.float64)}),
        "model.norm.bias is torch.float64",
    ),
    "a missing tensor": (lambda s: s["model"].pop("norm.bias"), "model.norm.bias is missing"),
    "a compiled model's prefix": (  # nanoGPT#325
        lambda s: s.update(model={f"_orig_mod.{k}": v for k, v in s["model"].items()}),
        "model.norm.bias is missing.*_orig_mod.norm.bias is unknown",
    ),
    "no moments for one parameter": (
        lambda s: s["optimizer"]["state"].pop(2),
        "optimizer.state.2 is missing",
    ),
    "moments of another shape": (
        lambda s: s["optimizer"]["state"][0].update(exp_avg=torch.zeros(2, 2)),
        r"optimizer.state.0.exp_avg has shape \(2, 2\)",
    ),
    "one moment missing": (lambda s: s["optimizer"]["state"][0].pop("exp_avg_sq"), "exp_avg_sq is missing"),
    "another horizon": (lambda s: s["schedule"].update(horizon=61), "schedule is .*61"),
    "a step that is none": (lambda s: s.update(step=-1), "step is -1"),
    "a cursor outside the epoch": (lambda s: s["loader"].update(cursor=999), "loader: cursor 999"),
    "a damaged generator": (lambda s: s["rng"].update(torch=torch.zeros(2, dtype=torch.uint8)), "rng: torch"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_fit_is_refused_by_name_and_the_run_is_untouched(what: str) -> None:
    change, message = REFUSED[what]
    state = capture(trained(3))
    change(state)
    run = trained(2, seed=7)
    before = observe(run)
    with pytest.raises(StateError, match=message):
        restore(run, state)
    assert differences(observe(run), before) == {}


def test_every_fault_is_named_at_once() -> None:
    state = capture(trained(1))
    state["step"], state["loader"]["cursor"] = "three", -1
    with pytest.raises(StateError, match=r"step is 'three'.*cursor -1"):
        restore(Run(AUDIT_CONFIG), state)


def test_the_position_on_the_schedule_is_used_and_the_horizon_is_not_taken_from_the_file() -> None:
    run = trained(9)
    other = Run(AUDIT_CONFIG, seed=2)
    restore(other, capture(run))
    assert other.advance().lr == AUDIT_CONFIG.schedule.lr(9)
    longer = replace(AUDIT_CONFIG, schedule=Schedule(5e-3, 14, 120, 5e-4))
    with pytest.raises(StateError, match="schedule"):
        restore(Run(longer), capture(run))


def test_state_bytes_counts_parameters_once_and_two_moments() -> None:
    run = trained(1)
    n = sum(p.numel() for p in run.model.parameters())
    optimizer = capture(run)["optimizer"]["state"]
    assert state_bytes(optimizer) == 8 * n + 4 * len(optimizer)  # two moments, and a step in 4 bytes each
    assert set(COMPONENTS) == set(observe(run))
