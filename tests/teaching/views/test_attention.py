"""Lab 00's pictures show what they say they show, and leave the model as it was."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
import torch
from torch import nn

from lastgood.recovery.wire import same
from lastgood.teaching.views.attention import AttentionViewError, attention_map, loss_curve, mask_picture
from lastgood.teaching.views.style import View
from lastgood.training.logbook import CHARACTERS, ENTROPY
from lastgood.training.model import GPT, GPTConfig, causal_mask
from lastgood.training.rng import capture_rng

CONFIG = GPTConfig(vocab_size=len(CHARACTERS), block_size=16, n_layer=2, n_head=2, n_embd=16)


def squares(view: View) -> list[float]:
    """How dark each square is, in the order in which they were drawn: row by row."""
    paths = ElementTree.fromstring(view.svg).iterfind(".//{*}path")
    styles = [path.get("style") or "" for path in paths]
    blue = [style for style in styles if "fill: #0072b2" in style]
    return [float(style.split("opacity: ")[1].split(";")[0]) if "opacity" in style else 1.0 for style in blue]


def model() -> GPT:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return GPT(CONFIG)


def test_a_mask_has_a_square_for_each_place_that_may_be_looked_at() -> None:
    view = mask_picture(causal_mask(6), "node07")
    assert len(squares(view)) == 21
    assert "Row 0 sees 1 position, the last row 6 positions; 0 cells lie ahead" in repr(view)


def test_a_mask_that_looks_ahead_is_shown_as_it_is() -> None:
    view = mask_picture(torch.ones(4, 4, dtype=torch.bool), "lost")
    assert len(squares(view)) == 16
    assert "6 cells lie ahead of their row" in repr(view)


@pytest.mark.parametrize("mask", [causal_mask(5), torch.ones(6, 6)])
def test_a_mask_that_does_not_fit_its_text_is_refused(mask: torch.Tensor) -> None:
    with pytest.raises(AttentionViewError, match=r"a mask of shape \(6, 6\) that holds booleans"):
        mask_picture(mask, "node07")


def test_a_head_without_a_preference_is_shown_so() -> None:
    """All scores are 0, so the weights can be told in advance."""
    gpt = model()
    with torch.no_grad():
        qkv = gpt.blocks[0].attention.qkv
        qkv.weight.zero_()
        qkv.bias.zero_()
    view = attention_map(gpt, "disk", layer=0, head=1)
    rows = [1.0, *[1 / 2] * 2, *[1 / 3] * 3, *[1 / 4] * 4]
    assert squares(view) == pytest.approx(rows, abs=0.005)
    assert "position 1 (i) gives 0.50 to position 0 (d)" in repr(view)


def test_heads_and_layers_are_told_apart() -> None:
    gpt = model()
    with torch.no_grad():
        for parameter in gpt.parameters():
            parameter.mul_(8)
    views = {attention_map(gpt, "07:31 node03", layer=a, head=b).svg for a in (0, 1) for b in (0, 1)}
    assert len(views) == 4


def test_looking_at_a_model_changes_nothing() -> None:
    gpt = model().train()
    before, generators = {k: v.clone() for k, v in gpt.state_dict().items()}, capture_rng()
    attention_map(gpt, "disk full")
    assert gpt.training
    assert same(capture_rng(), generators)
    assert same(dict(gpt.state_dict()), before)
    assert not gpt.blocks[0].attention.qkv._forward_hooks


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"layer": 2}, "layers 0 to 1, so no layer 2"),
        ({"head": -1}, "heads 0 to 1, so no head -1"),
        ({"text": "x" * 17}, "has 17 characters; the model reads 1 to 16"),
        ({"text": ""}, "has 0 characters"),
    ],
)
def test_what_the_model_does_not_have_is_refused(how: dict[str, object], message: str) -> None:
    with pytest.raises(AttentionViewError, match=message):
        attention_map(model(), **{"text": "disk", **how})  # type: ignore[arg-type]


def test_a_model_with_other_names_is_refused_in_words() -> None:
    gpt = model()
    gpt.blocks[0].attention.qkv = None
    with pytest.raises(AttentionViewError, match="no attention with a layer qkv"):
        attention_map(gpt, "disk")
    with pytest.raises(AttentionViewError, match="no layer 0"):
        attention_map(nn.Linear(1, 1), "disk")


def test_a_curve_says_how_far_above_its_floor_it_ends() -> None:
    view = loss_curve([3.5, 2.0, 1.0], {0: 3.6, 3: 0.9})
    assert f"after 3 steps: 0.900 nats a character, {0.9 - ENTROPY:.3f} above the floor" in repr(view)
    for words in ("training", "held-out", f"floor: the text's entropy, {ENTROPY:.3f}", "step"):
        assert f">{words}<" in view.svg
    with pytest.raises(AttentionViewError, match="no loss to draw"):
        loss_curve([], {0: 3.6})
