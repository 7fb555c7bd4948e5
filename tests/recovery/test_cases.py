"""Resumes that went wrong in public, each by its name, and what is right: one process, one run.

A case is a test below, or a mutant of lab 18 that every grading must find out (`autograder/mutants/lab18`),
or both. `CASES` is the list; the first test proves that nothing on it is only a name.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from autograder.mutants import variants
from lastgood.recovery import checkpoint, state
from lastgood.recovery.audit import AUDIT_CONFIG, BATCHES_PER_EPOCH
from lastgood.recovery.checkpoint.asynchronous import AsyncWriter
from lastgood.recovery.components import LOADER, OPTIMIZER, differences, observe, upcoming
from lastgood.recovery.wire import same
from lastgood.training.data import Loader
from lastgood.training.rng import capture_rng, restore_rng, seed_everything
from lastgood.training.run import Run, StepResult

CASES = """
accelerate#2016            test_a_resume_in_any_epoch_goes_on_in_its_order cursor-without-its-permutation
accelerate#4195            test_a_resume_in_any_epoch_goes_on_in_its_order epoch-forgotten
datasets#7447              test_the_offset_is_applied_once skipped-twice
gpt-neox PR 308            test_a_position_counts_micro_batches_not_steps
transformers#5605          test_a_position_counts_micro_batches_not_steps
nanoGPT#467                test_restored_generators_go_on_and_do_not_begin_again seeded-anew no-rng
pytorch#31771              test_epochs_have_different_orders
transformers PR 46628      generators-before-the-loader
Megatron-Bridge#5257       test_nothing_but_a_step_draws_from_the_global_generators capture-that-draws
transformers#34631         test_a_whole_state_loads_with_weights_only
pytorch#5059               test_forked_workers_share_numpy_s_generator_until_each_is_seeded
KempnerForge PR 115        test_moments_come_into_an_empty_optimizer moments-into-an-empty-optimizer
torchtitan PR 4615         test_moments_keep_their_dtype moments-in-half-precision
lightning#1772             test_the_first_learning_rate_after_a_resume_is_the_next_one one-step-behind
transformers#34053         test_a_loss_scale_is_state_where_it_is_used
transformers#22143         test_a_save_amid_accumulation_loses_gradients_and_one_between_steps_none
nanoGPT#325                test_a_compiled_model_has_the_names_of_the_plain_one
Megatron-Bridge PR 6032    test_a_model_that_does_not_fit_is_refused_by_name non-strict-load only-what-fits
lightning#688              test_a_torn_newest_checkpoint_is_passed_over written-in-place
Automodel#3254             test_a_half_written_folder_is_passed_over_and_told
transformers#25129         test_rotation_spares_the_last_good_one
transformers#11769         test_rotation_spares_the_last_good_one
pytorch#144657             test_training_on_does_not_change_what_is_being_written references
"""
ROWS = {line[:27].strip(): line[27:].split() for line in CASES.strip().splitlines()}


@pytest.mark.parametrize("row", ROWS)
def test_a_case_on_the_list_is_a_test_or_a_mutant_that_loses_points(row: str) -> None:
    mutants = {variant.name for variant in variants("lab18") if variant.loses}
    assert ROWS[row]
    for name in ROWS[row]:
        assert name in mutants or callable(globals()[name]), name


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def trained(steps: int, kind: type[Run] = Run, seed: int = 1) -> Any:
    run = kind(AUDIT_CONFIG, seed=seed)
    for _ in range(steps):
        run.advance()
    return run


def resumed(captured: dict[str, Any], kind: type[Run] = Run) -> Any:
    run = kind(AUDIT_CONFIG, seed=99)
    state.restore(run, captured)
    return run


# Data position


@pytest.mark.parametrize("steps", [0, 1, 5, 6, 7, 11, 12, 15])
def test_a_resume_in_any_epoch_goes_on_in_its_order(steps: int) -> None:
    run = trained(steps)
    assert upcoming(resumed(state.capture(run))) == upcoming(run)


def test_the_offset_is_applied_once() -> None:
    loader = resumed(state.capture(trained(8))).loader
    rest = BATCHES_PER_EPOCH - 8 % BATCHES_PER_EPOCH
    for _ in range(rest):
        loader.next_indices()
    for _epoch in range(3):
        windows = torch.cat([loader.next_indices() for _ in range(BATCHES_PER_EPOCH)])
        assert sorted(windows.tolist()) == list(range(len(loader.starts)))


class Accumulating(Run):
    """A step of three micro-batches, whose gradients add up."""

    micro = 3

    def accumulate(self) -> None:
        batch = self.loader.next_batch()
        logits = self.model(batch.inputs)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch.tokens.flatten())
        (loss / self.micro).backward()  # type: ignore[no-untyped-call]

    def update(self) -> None:
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.step += 1

    def advance(self) -> StepResult:
        for _ in range(self.micro):
            self.accumulate()
        self.update()
        return StepResult(self.step - 1, 0.0, 0.0, 0.0, ())


def test_a_position_counts_micro_batches_not_steps() -> None:
    run = trained(3, Accumulating)
    other = resumed(state.capture(run), Accumulating)
    assert upcoming(other) == upcoming(run)
    seen = observe(run)
    wrong = run.step * AUDIT_CONFIG.batch_size  # as if a step read one batch
    other.loader.load_state_dict({**run.loader.state_dict(), "epoch": 0, "cursor": wrong})
    assert list(differences(observe(other), seen)) == [LOADER]


def test_epochs_have_different_orders() -> None:
    loader = trained(0).loader
    orders = [torch.cat([loader.next_indices() for _ in range(BATCHES_PER_EPOCH)]).tolist() for _ in range(4)]
    assert all(a != b for a, b in pairwise(orders))
    assert len({tuple(sorted(order)) for order in orders}) == 1


# Generators


def draws() -> list[float]:
    return [random.random(), float(np.random.rand()), float(torch.rand(()))]


def test_restored_generators_go_on_and_do_not_begin_again() -> None:
    seed_everything(18)
    first = draws()
    kept = capture_rng()
    following = draws()
    seed_everything(18)
    restore_rng(kept)
    assert draws() == following
    assert all(a != b for a, b in zip(first, following, strict=True))


def test_nothing_but_a_step_draws_from_the_global_generators() -> None:
    run = trained(7)
    before = capture_rng()
    captured = state.capture(run)
    observe(run)
    run.heldout_loss()
    loader = Loader(run.loader.tokens, block_size=32, batch_size=4, seed=5)
    loader.load_state_dict(captured["loader"])
    for _ in range(2 * BATCHES_PER_EPOCH):  # an epoch is begun on the way
        loader.next_indices()
    assert same(capture_rng(), before)


def test_a_whole_state_loads_with_weights_only(tmp_path: Path) -> None:
    run = trained(7)
    torch.save(state.capture(run), tmp_path / "state.pt")
    other = resumed(torch.load(tmp_path / "state.pt", weights_only=True))
    seen, expected = observe(other), observe(run)
    restore_rng(seen["rng"])
    assert differences(seen, expected) == {}


def test_forked_workers_share_numpy_s_generator_until_each_is_seeded(children: Any) -> None:
    np.random.seed(18)

    def unseeded() -> float:
        return float(np.random.rand())

    def seeded(number: int) -> float:
        seed_everything(18 + number)
        return float(np.random.rand())

    assert children.ask(unseeded) == children.ask(unseeded)
    assert len({children.ask(lambda number=number: seeded(number)) for number in range(3)}) == 3


# Optimizer, schedule, scaler


def test_moments_come_into_an_empty_optimizer() -> None:
    run = trained(7)
    captured = state.capture(run)
    fresh = Run(AUDIT_CONFIG, seed=99)
    assert not fresh.optimizer.state
    state.restore(fresh, captured)
    assert same(observe(fresh)[OPTIMIZER], observe(run)[OPTIMIZER])
    captured["optimizer"]["state"].pop(3)
    with pytest.raises(state.StateError, match=r"optimizer\.state\.3 is missing"):
        state.restore(Run(AUDIT_CONFIG, seed=99), captured)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("moment", ["exp_avg", "exp_avg_sq"])
def test_moments_keep_their_dtype(dtype: torch.dtype, moment: str) -> None:
    run = trained(3)
    for entry in run.optimizer.state.values():
        entry[moment] = entry[moment].to(dtype)
    other = resumed(state.capture(run))
    assert {entry[moment].dtype for entry in other.optimizer.state.values()} == {dtype}
    assert same(observe(other)[OPTIMIZER], observe(run)[OPTIMIZER])


@pytest.mark.parametrize("steps", [1, 13, 14, 15])  # around the warm-up's end
def test_the_first_learning_rate_after_a_resume_is_the_next_one(steps: int) -> None:
    captured = state.capture(trained(steps))
    assert resumed(captured).advance().lr == AUDIT_CONFIG.schedule.lr(steps)


class Scaled(Run):
    """Skips a step whose gradients would overflow at its loss scale, and halves the scale."""

    scale = 65_536.0

    def advance(self) -> StepResult:
        if self.scale <= 256:
            return super().advance()
        self.scale /= 2
        self.step += 1
        return StepResult(self.step - 1, float("nan"), 0.0, 0.0, ())


def test_a_loss_scale_is_state_where_it_is_used() -> None:
    run = trained(12, Scaled)
    assert run.scale == 256
    captured, scale = state.capture(run), run.scale
    expected = [run.advance().loss for _ in range(3)]
    # The five components are right, and yet another run goes on: only running on shows the sixth.
    forgotten = resumed(captured, Scaled)
    assert forgotten.scale == 65_536
    assert np.isnan([forgotten.advance().loss for _ in range(3)]).all()
    kept = resumed(captured, Scaled)
    kept.scale = scale
    assert [kept.advance().loss for _ in range(3)] == expected


def test_a_save_amid_accumulation_loses_gradients_and_one_between_steps_none() -> None:
    run = trained(2, Accumulating)
    between = resumed(state.capture(run), Accumulating)
    run.advance()
    restore = capture_rng()
    expected = observe(run)
    restore_rng(state.capture(trained(2, Accumulating))["rng"])
    between.advance()
    assert differences({**observe(between), "rng": expected["rng"]}, expected) == {}
    run.accumulate()
    amid = resumed(state.capture(run), Accumulating)
    assert all(parameter.grad is None for parameter in amid.model.parameters())
    restore_rng(restore)
    for half in (run, amid):
        half.update()
    assert "parameters" in differences(observe(amid), observe(run))


# Model


def test_a_compiled_model_has_the_names_of_the_plain_one() -> None:
    run = trained(3)
    plain = state.capture(run)
    seen = observe(run)
    run.model = torch.compile(run.model, backend="eager")  # type: ignore[assignment]
    assert next(iter(run.model.state_dict())).startswith("_orig_mod.")
    assert same(state.capture(run), plain)
    assert differences(observe(run), seen) == {}
    state.restore(run, plain)
    assert list(differences(observe(resumed(state.capture(run))), seen)) == []


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda model: model.pop("norm.bias"), "model.norm.bias is missing"),
        (lambda model: model.update(extra=torch.zeros(1)), "model.extra is unknown"),
        (lambda model: model.update({"norm.bias": torch.zeros(3)}), "model.norm.bias has shape"),
    ],
)
def test_a_model_that_does_not_fit_is_refused_by_name(change: Callable[[Any], Any], named: str) -> None:
    captured = state.capture(trained(2))
    change(captured["model"])
    run = trained(1)
    before = observe(run)
    with pytest.raises(state.StateError, match=named):
        state.restore(run, captured)
    assert differences(observe(run), before) == {}


# Files


def saved(folder: Path, *steps: int) -> list[Path]:
    return [checkpoint.write(folder, {"step": step, "weights": torch.ones(64)}, step=step) for step in steps]


def test_a_torn_newest_checkpoint_is_passed_over(tmp_path: Path) -> None:
    good, newest = saved(tmp_path, 3, 6)
    payload = max(newest.iterdir(), key=lambda path: path.stat().st_size)
    payload.write_bytes(payload.read_bytes()[:-100])
    found = checkpoint.latest_good(tmp_path)
    assert found.checkpoint is not None
    assert found.checkpoint.path == good
    assert [skipped.path for skipped in found.skipped] == [newest]


def test_a_half_written_folder_is_passed_over_and_told(tmp_path: Path) -> None:
    (good,) = saved(tmp_path, 3)
    (tmp_path / "step-00000006").mkdir()
    (tmp_path / "step-00000006" / "state.pt").write_bytes(b"half")
    found = checkpoint.latest_good(tmp_path)
    assert found.checkpoint is not None
    assert found.checkpoint.path == good
    assert [skipped.path.name for skipped in found.skipped] == ["step-00000006"]


@pytest.mark.parametrize("damaged", [0, 1, 2])
def test_rotation_spares_the_last_good_one(tmp_path: Path, damaged: int) -> None:
    paths = saved(tmp_path, 1, 2, 3)
    for path in paths[len(paths) - damaged :]:
        for file in path.iterdir():
            file.write_bytes(b"")
    checkpoint.prune(tmp_path, keep_last=1)
    found = checkpoint.latest_good(tmp_path).checkpoint
    assert found is not None
    assert found.step == 3 - damaged


def test_training_on_does_not_change_what_is_being_written(tmp_path: Path) -> None:
    run = trained(3)
    expected = state.capture(run)
    with AsyncWriter(tmp_path) as saves:
        live = {**state.capture(run), "model": run.model.state_dict()}  # as one is tempted to
        saves.write(live, step=run.step)
        run.advance()
    found = checkpoint.latest_good(tmp_path).checkpoint
    assert found is not None
    assert same(found.state["model"], dict(expected["model"]))
