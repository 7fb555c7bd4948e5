"""The clipping view: its norms are the run's, both ways of clipping are torch's, its words the picture's."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from lastgood.teaching.views.clipping import ONE_BY_ONE, ClippingView, in_words
from lastgood.teaching.views.clipping_norms import Norms, advance_on_noise, record
from lastgood.teaching.views.clipping_picture import EXAMPLE, clipping_figure, example_after
from lastgood.teaching.views.style import INK
from lastgood.training.run import Run, RunConfig

STEPS, DAMAGED = 12, 8


@pytest.fixture(scope="module")
def trained(small: RunConfig) -> Callable[[float], Norms]:
    return lambda max_norm: record(max_norm, config=small, steps=STEPS, damaged=DAMAGED)


@pytest.fixture(scope="module")
def norms(trained: Callable[[float], Norms]) -> Norms:
    return trained(1.0)


@pytest.fixture(scope="module")
def first(norms: Norms) -> tuple[str, str]:
    """Picture and words as it begins. Drawn once: a picture takes longer than all the rest of a test."""
    view = ClippingView(lambda max_norm: norms)
    view.view.now()
    return view.view.picture.value, view.view.words.value


@pytest.fixture
def view(norms: Norms, trained: Callable[[float], Norms], first: tuple[str, str]) -> ClippingView:
    view = ClippingView(lambda max_norm: norms if max_norm == 1.0 else trained(max_norm))
    view.view.picture.value, view.view.words.value = first
    return view


def said(html: str) -> str:
    return re.sub(r"<[^>]+>", " ", html)


def gradients(norms: Norms, step: int) -> list[torch.Tensor]:
    """Tensors with the norms of one step, their entries drawn."""
    generator = torch.Generator().manual_seed(step)
    drawn = [torch.randn(5, dtype=torch.float64, generator=generator) for _ in norms.tensors[step]]
    pairs = zip(drawn, norms.tensors[step], strict=True)
    return [torch.nn.Parameter(tensor / tensor.norm() * norm) for tensor, norm in pairs]


def clipped_by_torch(given: list[torch.Tensor], max_norm: float, *, together: bool) -> torch.Tensor:
    parameters = [torch.zeros_like(tensor).requires_grad_() for tensor in given]
    for parameter, tensor in zip(parameters, given, strict=True):
        parameter.grad = tensor.detach().clone()
    for group in [parameters] if together else [[parameter] for parameter in parameters]:
        torch.nn.utils.clip_grad_norm_(group, max_norm)
    return torch.cat([parameter.grad for parameter in parameters if parameter.grad is not None])


# Norms


def test_the_norms_are_those_that_the_run_itself_reports(small: RunConfig) -> None:
    mine = record(config=small, steps=STEPS, damaged=None, seed=3)
    run = Run(small, seed=3)
    assert mine.total == pytest.approx([run.advance().grad_norm for _ in range(STEPS)], rel=1e-5)
    assert mine.heldout == run.heldout_loss()
    assert (mine.max_norm, mine.rise) == (small.clip_norm, 0.0)


def test_the_damage_begins_with_its_step_and_the_text_is_whole_again_after_it(
    norms: Norms, small: RunConfig
) -> None:
    sound = record(config=small, steps=STEPS, damaged=None)
    assert (norms.tensors[:DAMAGED] == sound.tensors[:DAMAGED]).all()
    assert (norms.tensors[DAMAGED] != sound.tensors[DAMAGED]).any()
    run = Run(small)
    text, heldout = run.loader.tokens, run.heldout_loss()
    rise = advance_on_noise(run)
    assert run.loader.tokens is text
    assert (run.step, rise) == (1, run.heldout_loss() - heldout)


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("max_norm", [0.05, 0.3, 1.0, 50.0])
def test_norms_and_angles_are_those_of_torchs_clipping(norms: Norms, max_norm: float, together: bool) -> None:
    clipped = norms.globally(max_norm) if together else norms.one_by_one(max_norm)
    for step in (0, DAMAGED):
        given = gradients(norms, step)
        before = torch.cat([tensor.detach() for tensor in given])
        after = clipped_by_torch(given, max_norm, together=together)
        assert clipped.norms[step] == pytest.approx(after.norm().item(), rel=1e-4)
        cosine = (before @ after / before.norm() / after.norm()).clamp(-1, 1)
        assert clipped.turned[step] == pytest.approx(torch.rad2deg(cosine.acos()).item(), abs=0.1)
        assert clipped.touched[step] == (not torch.equal(before, after))


def test_one_factor_turns_nothing_at_all(norms: Norms) -> None:
    assert (norms.globally(0.05).turned == 0.0).all()
    assert norms.one_by_one(0.05).turned.min() > 1.0


def test_looking_leaves_the_global_generators_as_they_were(small: RunConfig) -> None:
    before = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].copy()  # type: ignore[index]
    record(config=small, steps=2, damaged=1)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert random.getstate() == before[1]
    assert (np.random.get_state()[1] == before[2]).all()  # type: ignore[index]


@pytest.mark.slow
def test_the_lessons_run_is_the_courses_own_and_its_damaged_batch_stands_out() -> None:
    """The text under the picture says so: most steps are above 1, and this one is the largest."""
    norms = record()
    assert norms.max_norm == RunConfig().clip_norm
    assert norms.globally(1.0).touched.mean() > 0.8
    assert norms.total.argmax() == norms.damaged
    assert norms.rise > 0.0


# The example


def test_the_example_is_the_one_that_the_lesson_works_out() -> None:
    assert EXAMPLE == (0.7, 2.4)
    assert example_after(1.0, together=True) == pytest.approx((0.28, 0.96))
    assert example_after(1.0, together=False) == (0.7, 1.0)
    assert example_after(3.0, together=True) == EXAMPLE


# Words and picture


def test_words_say_how_many_steps_are_touched_and_whether_they_turn(norms: Norms) -> None:
    sentence, more = in_words(norms, 0.3, together=True)
    assert (
        sentence
        == f"{norms.globally(0.3).touched.sum()} of {STEPS} steps are clipped at 0.30, and none turns."
    )
    assert "both times 0.12" in more
    worst = norms.one_by_one(0.05).turned.max()
    assert f"the worst by {worst:.1f}°" in in_words(norms, 0.05, together=False)[0]
    assert (
        "the arrow turns by 19°"
        in in_words(replace(norms, tensors=norms.tensors * 9), 1.0, together=False)[1]
    )


@pytest.mark.parametrize("together", [True, False])
def test_a_threshold_above_every_norm_changes_nothing(norms: Norms, together: bool) -> None:
    sentence = in_words(norms, 1e3, together=together)[0]
    assert sentence == f"0 of {STEPS} steps are clipped at 1000.00: nothing changes."


@pytest.mark.parametrize(("max_norm", "together"), [(0.05, True), (0.05, False), (5.0, True)])
def test_there_is_a_picture_for_every_threshold(norms: Norms, max_norm: float, together: bool) -> None:
    clipped = norms.globally(max_norm) if together else norms.one_by_one(max_norm)
    svg = clipping_figure(norms, clipped, max_norm, "Norms.", together=together)
    drawn = [text.text for text in ElementTree.fromstring(svg).iterfind(".//{*}text")]
    assert {"before", "after", "damaged", "batch"} <= set(drawn)


# The view


def test_threshold_and_way_redraw_at_once_without_training(view: ClippingView, norms: Norms) -> None:
    pictures = [view.view.picture.value]
    view.max_norm.value = 0.3
    pictures.append(view.view.picture.value)
    view.way.value = ONE_BY_ONE
    pictures.append(view.view.picture.value)
    assert len(set(pictures)) == 3
    assert view.norms is norms
    assert "It does not change the run" in said(view.note.value)


def test_the_button_trains_with_the_threshold_and_the_note_says_which(view: ClippingView) -> None:
    view.max_norm.value = 0.05
    assert "clipped at 1.00" in said(view.note.value)
    view.again.click()
    assert view.norms.max_norm == 0.05
    assert "clipped at 0.05" in said(view.note.value)
    assert f"{view.norms.heldout:.3f} nats" in said(view.note.value)
    assert not view.again.disabled


def test_a_training_that_fails_says_so_and_can_be_tried_again(norms: Norms) -> None:
    def broken(max_norm: float) -> Norms:
        if max_norm != 1.0:
            raise RuntimeError("out of memory")
        return norms

    view = ClippingView(broken, later=lambda seconds, action: None)
    view.max_norm.value = 0.5
    view.again.click()
    assert "RuntimeError: out of memory" in said(view.note.value)
    assert not view.again.disabled


def test_the_picture_follows_the_theme_and_tells_its_numbers_to_those_who_do_not_see_it(
    view: ClippingView,
) -> None:
    svg = view.view.picture.value
    assert "var(--jp-content-font-color1" in svg
    assert INK not in svg
    assert "steps are clipped at 1.00" in (ElementTree.fromstring(svg).get("aria-label") or "")
