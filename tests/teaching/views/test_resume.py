"""What a resumed run does without a component: computed, and leaving the notebook alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from lastgood.recovery.components import COMPONENTS, LOADER, OPTIMIZER, PARAMETERS, RNG, STEP
from lastgood.recovery.wire import same
from lastgood.teaching.views.resume import (
    Curve,
    ResumeError,
    ResumeExperiment,
    describe,
    reasons,
    undisturbed,
)
from lastgood.training.rng import capture_rng, seed_everything
from lastgood.training.run import Run, RunConfig


def without(experiment: ResumeExperiment, *missing: str) -> Curve:
    return experiment.resume(set(COMPONENTS).difference(missing))


def test_with_everything_put_back_the_run_is_the_uninterrupted_one_bit_for_bit(
    experiment: ResumeExperiment,
) -> None:
    curve = experiment.resume(COMPONENTS)
    assert curve.steps == experiment.reference[experiment.before :]
    assert (curve.first_difference, curve.largest_gap) == (None, 0.0)
    assert curve.heldout == curve.reference_heldout
    assert describe(curve) == f"Nothing missing: all {experiment.after} losses are equal, bit for bit."


def test_the_reference_is_what_a_plain_run_gives(experiment: ResumeExperiment, small: RunConfig) -> None:
    with undisturbed():
        run = Run(small, seed=experiment.seed)
        assert tuple(run.advance() for _ in experiment.reference) == experiment.reference


def test_with_nothing_put_back_it_is_a_new_run_of_another_seed(
    experiment: ResumeExperiment, small: RunConfig
) -> None:
    with undisturbed():
        run = Run(small, seed=experiment.seed + 1)
        new = tuple(run.advance() for _ in range(experiment.after))
    other = ResumeExperiment(
        small, fresh_seed=experiment.seed + 1, before=experiment.before, after=experiment.after
    )
    assert other.resume([]).steps == new
    assert experiment.fresh_seed != experiment.seed


# Other weights, other windows, other dropout: the first loss already tells. Moments and learning rate only
# enter the update, which comes after the loss was measured: theirs is the second.
@pytest.mark.parametrize(
    ("missing", "later"), [(PARAMETERS, 0), (OPTIMIZER, 1), (STEP, 1), (LOADER, 0), (RNG, 0)]
)
def test_without_one_component_the_loss_differs_from_the_first_step_that_it_can(
    experiment: ResumeExperiment, missing: str, later: int
) -> None:
    curve = without(experiment, missing)
    assert curve.missing == (missing,)
    assert curve.first_difference == experiment.before + later
    assert curve.largest_gap > 1e-4
    assert curve.gaps[curve.largest_gap_at - experiment.before] == curve.largest_gap


def test_each_missing_component_changes_its_own_trace_and_no_other(
    experiment: ResumeExperiment, small: RunConfig
) -> None:
    whole = experiment.resume(COMPONENTS)
    other_rates = [
        name for name in COMPONENTS if without(experiment, name).learning_rates != whole.learning_rates
    ]
    other_windows = [name for name in COMPONENTS if without(experiment, name).indices != whole.indices]
    assert (other_rates, other_windows) == ([STEP], [LOADER])
    assert without(experiment, STEP).learning_rates[0] == small.schedule.lr(0)


def test_the_words_name_what_is_missing_and_where_it_shows(experiment: ResumeExperiment) -> None:
    curve = without(experiment, OPTIMIZER)
    place = f"{experiment.before + 1} (the second after the resume)"
    assert describe(curve).startswith(
        f"Missing: optimizer state. First step that differs: {place}. Largest gap"
    )
    assert [reason.split(":")[0] for reason in reasons(without(experiment, OPTIMIZER, RNG))] == [
        "Optimizer state",
        "RNG state",
    ]


def test_a_component_that_nothing_depends_on_may_be_missed(small: RunConfig) -> None:
    still = replace(small, model=replace(small.model, dropout=0.0), augment=0.0)
    curve = without(ResumeExperiment(still, before=2, after=2), RNG)
    assert describe(curve) == "Missing: RNG state. Even so, all 2 losses are equal, bit for bit."


def test_a_set_of_components_is_computed_once(
    experiment: ResumeExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    curve = without(experiment, LOADER)
    monkeypatch.setattr(Run, "advance", lambda self: pytest.fail("computed again"))
    assert without(experiment, LOADER) is curve


def test_an_experiment_leaves_the_kernels_generators_and_threads_alone(small: RunConfig) -> None:
    seed_everything(5)
    before, threads = capture_rng(), torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        without(ResumeExperiment(small, before=2, after=2), RNG)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert same(capture_rng(), before)


def test_generators_are_put_back_after_an_error_too() -> None:
    before = capture_rng()

    def fail() -> None:
        with undisturbed():
            seed_everything(before["python"]["words"][0] + 1)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert same(capture_rng(), before)


def test_what_cannot_be_made_is_refused(experiment: ResumeExperiment, small: RunConfig) -> None:
    with pytest.raises(ResumeError, match=r"no such component: weights\. There are parameters"):
        experiment.resume(["weights", RNG])
    with pytest.raises(ResumeError, match="after=0"):
        ResumeExperiment(small, after=0)
