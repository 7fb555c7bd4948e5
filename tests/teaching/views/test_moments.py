"""The moments explorer: its arithmetic is torch's, a restart does what the lesson derives, words say it."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
import torch

from lastgood.teaching.views.moments import BETAS, MomentsExplorer, in_words, moments_explorer
from lastgood.teaching.views.moments_picture import panels
from lastgood.teaching.views.moments_restart import (
    AFTER,
    BOTH,
    LOST,
    MOMENTS,
    STEP,
    MomentsError,
    Recording,
    State,
    adam,
    record,
    restart,
)
from lastgood.teaching.views.resume import undisturbed
from lastgood.teaching.views.style import INK, ORANGE
from lastgood.training.rng import seed_everything
from lastgood.training.run import Run, RunConfig

COURSE, DEFAULT = BETAS.values()
each_betas = pytest.mark.parametrize("betas", BETAS.values(), ids=str)
each_lost = pytest.mark.parametrize("lost", LOST)


def noise(steps: int = 120, size: int = 30) -> Recording:
    """Gradients that mostly cancel, as those of a run do."""
    drawn = np.random.default_rng(8).normal(0.1, 1.0, (steps, size))
    return Recording(drawn, {"one": 0, "another": 1})


def factor(k: Any, betas: tuple[float, float]) -> Any:
    """The lesson's c."""
    return (1 - betas[0] ** k) / np.sqrt(1 - betas[1] ** k)


@pytest.fixture(scope="module")
def recording(small: RunConfig) -> Recording:
    return record(small, steps=AFTER + 10)


@pytest.fixture
def explorer() -> MomentsExplorer:
    explorer = MomentsExplorer(noise())
    explorer.view.now()
    return explorer


def words(explorer: MomentsExplorer) -> str:
    return re.sub(r"<[^>]+>", " ", explorer.view.words.value)


# Arithmetic


@each_betas
def test_an_update_is_torchs(betas: tuple[float, float]) -> None:
    gradients = noise(40).gradients
    parameter = torch.nn.Parameter(torch.zeros(gradients.shape[1], dtype=torch.float64))
    optimizer = torch.optim.Adam([parameter], lr=1.0, betas=betas)
    trace = adam(gradients, betas, State.cold(gradients.shape[1]))
    for gradient, update in zip(gradients, trace.update, strict=True):
        before = parameter.detach().clone()
        parameter.grad = torch.from_numpy(gradient)
        optimizer.step()
        np.testing.assert_allclose((before - parameter.detach()).numpy(), update, rtol=1e-9, atol=1e-12)


def test_the_recorded_gradients_are_those_that_the_runs_optimizer_got(
    recording: Recording, small: RunConfig
) -> None:
    steps, size = recording.gradients.shape
    with undisturbed():
        run = Run(small, seed=18)
        for _ in range(steps):
            run.advance()
    weight = dict(run.model.named_parameters())["blocks.0.mlp.0.weight"]
    state = run.optimizer.state[weight]
    end = adam(recording.gradients, small.betas, State.cold(size)).end
    column = 9832 % weight.numel()
    assert end.step == int(state["step"])
    assert end.first[0] == pytest.approx(float(state["exp_avg"].flatten()[column]), rel=1e-4)
    assert end.second[0] == pytest.approx(float(state["exp_avg_sq"].flatten()[column]), rel=1e-4)


def test_a_state_that_is_kept_whole_continues_as_if_nothing_had_happened() -> None:
    shown = restart(noise(), at=60, lost=BOTH, betas=COURSE)
    whole = adam(shown.gradients, COURSE, State.cold(30))
    np.testing.assert_array_equal(whole.update[60:], shown.undisturbed.update)


@each_betas
@pytest.mark.parametrize("at", [1, 60])
def test_with_moments_and_step_lost_the_first_update_is_the_gradients_sign(
    at: int, betas: tuple[float, float]
) -> None:
    shown = restart(noise(), at=at, lost=BOTH, betas=betas)
    np.testing.assert_allclose(shown.restarted.update[0], np.sign(shown.gradients[at]), atol=1e-5)
    assert shown.mean_firsts[1] == pytest.approx(1.0, abs=1e-5)


@each_betas
def test_with_the_moments_lost_alone_updates_are_the_cold_ones_times_the_lessons_factor(
    betas: tuple[float, float],
) -> None:
    """Both sides of the division shrink; what remains of the old count's correction is exact, too."""
    both, moments = (restart(noise(), at=60, lost=lost, betas=betas) for lost in (BOTH, MOMENTS))
    k = np.arange(1, AFTER + 1)[:, None]
    expected = both.restarted.update * factor(k, betas) / factor(60 + k, betas)
    np.testing.assert_allclose(moments.restarted.update, expected, rtol=1e-5)


@each_betas
def test_with_the_step_lost_alone_updates_are_divided_by_the_same_factor(betas: tuple[float, float]) -> None:
    shown = restart(noise(), at=60, lost=STEP, betas=betas)
    k = np.arange(1, AFTER + 1)[:, None]
    expected = shown.undisturbed.update / factor(k, betas) * factor(60 + k, betas)
    np.testing.assert_allclose(shown.restarted.update, expected, rtol=1e-5)


def test_the_factor_has_the_values_that_the_lesson_prints() -> None:
    first = [f"{float(factor(1, betas)):.2f}" for betas in (COURSE, DEFAULT)]
    assert first == ["0.45", "3.16"]
    values = factor(np.arange(1, 1001), DEFAULT)
    assert (f"{values.max():.2f}", int(values.argmax()) + 1) == ("6.57", 12)


def test_gradients_that_cancel_move_a_parameter_less_than_a_cold_restart_does() -> None:
    kept, cold = restart(noise(), at=60, lost=BOTH, betas=COURSE).mean_firsts
    assert kept < 0.5 * cold


@pytest.mark.parametrize("at", [-1, 0, 120 - AFTER + 1])
def test_a_restart_outside_the_recording_is_refused(at: int) -> None:
    with pytest.raises(MomentsError, match=f"restart after {at} of 120 steps: choose one from 1 to 70"):
        restart(noise(), at=at, lost=BOTH, betas=COURSE)


# Picture and words


@each_lost
def test_words_say_what_was_computed(lost: str) -> None:
    shown = restart(noise(), at=60, lost=lost, betas=DEFAULT)
    sentence, more = in_words(shown)
    said = [f"{value:+.2f}".replace("-", "\N{MINUS SIGN}") for value in reversed(shown.firsts)]
    assert sentence == (
        f"The first update after the restart is {said[0]} learning rates. Undisturbed it is {said[1]}."
    )
    assert f"has size {shown.mean_firsts[1]:.2f}, undisturbed {shown.mean_firsts[0]:.2f}" in more
    assert f"{shown.mean_moved[1] / shown.mean_moved[0]:.1f} times as far" in more


@pytest.mark.parametrize(
    ("at", "lost", "betas", "said"),
    [
        (60, BOTH, COURSE, "updates they differ by less than 0.05 learning rates."),
        (60, BOTH, (0.0, 0.0), "From the first on they differ"),
        (60, STEP, (0.0, 0.2), "After the first update they differ"),
        (60, MOMENTS, DEFAULT, f"After {AFTER} updates they still differ"),
    ],
)
def test_words_say_how_long_it_is_felt(at: int, lost: str, betas: tuple[float, float], said: str) -> None:
    assert said in in_words(restart(noise(), at=at, lost=lost, betas=betas))[1]


@pytest.mark.parametrize("at", [1, 70])
def test_the_picture_has_its_three_panels_and_names_both_lines(at: int) -> None:
    svg = panels(restart(noise(), at=at, lost=BOTH, betas=COURSE), "Panels.")
    texts = [text.text or "" for text in ElementTree.fromstring(svg).iterfind(".//{*}text")]
    assert {"restart", "the update, in learning rates", "━ undisturbed", "╍ restarted"} <= set(texts)
    assert [text for text in texts if text.startswith("√v")]


def test_each_panel_draws_the_restarted_line_beside_the_undisturbed_one() -> None:
    shown = restart(noise(), at=60, lost=BOTH, betas=COURSE)
    alike = replace(shown, restarted=shown.undisturbed)
    lines, others = (
        re.findall(r'<path d="([^"]+)"[^>]*stroke-dasharray[^>]*' + ORANGE, panels(one, "Panels."))
        for one in (shown, alike)
    )
    assert len(lines) == len(others) == 3
    assert [line for line, other in zip(lines, others, strict=True) if line == other] == []


# The explorer


@pytest.mark.parametrize(
    ("control", "value"), [("at", 20), ("lost", STEP), ("betas", DEFAULT), ("column", 1)]
)
def test_each_control_moves_picture_and_words(explorer: MomentsExplorer, control: str, value: object) -> None:
    picture, said = explorer.view.picture.value, words(explorer)
    getattr(explorer, control).value = value
    assert explorer.view.picture.value != picture
    assert words(explorer) != said


def test_the_slider_ends_where_there_are_no_more_updates_to_show(explorer: MomentsExplorer) -> None:
    assert (explorer.at.min, explorer.at.max) == (1, 120 - AFTER)
    for end in (explorer.at.min, explorer.at.max):
        explorer.at.value = end
        assert explorer.view.picture.value.startswith("<svg"), words(explorer)


def test_a_real_run_can_be_looked_at_and_leaves_the_kernel_as_it_was(
    recording: Recording, small: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lastgood.teaching.views.moments.record", lambda: record(small, steps=AFTER + 10))
    seed_everything(5)  # not where an earlier recording could have left them
    settings, state = dict(mpl.rcParams), random.getstate()
    numpy_state, torch_state = np.random.get_state()[1].copy(), torch.get_rng_state()  # type: ignore[index]
    box = moments_explorer()
    assert dict(mpl.rcParams) == settings
    assert random.getstate() == state
    assert (np.random.get_state()[1] == numpy_state).all()  # type: ignore[index]
    assert torch.equal(torch.get_rng_state(), torch_state)
    svg = next(child.value for child in box.children if "<svg" in str(getattr(child, "value", "")))
    assert "var(--jp-content-font-color1" in svg
    assert INK not in svg
    alt = ElementTree.fromstring(svg).get("aria-label") or ""
    assert "The first update after the restart is" in alt


def test_every_named_parameter_is_another_one_of_the_run(recording: Recording) -> None:
    columns = list(recording.shown.values())
    assert columns == [0, 1, 2, 3]
    assert len({tuple(recording.gradients[:, column]) for column in columns}) == 4
