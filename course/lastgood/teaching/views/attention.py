"""Lab 00's pictures: what a position may see, what a trained head looks at, and the loss above its floor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor, nn

from lastgood.teaching.views.curves import label_floor
from lastgood.teaching.views.style import BLUE, INK, ORANGE, View, new_axes, new_figure, theme, to_svg
from lastgood.training.logbook import ENTROPY, Vocabulary
from lastgood.training.model import causal_mask, plain_attention

_FAINTEST: Final = 0.02  # weights below it are not drawn: hundreds of cells that nobody could see
_SMOOTH: Final = 20  # steps of training loss in one point: single batches scatter
_SHOWN: Final = {" ": "␣", "\n": "⏎"}


class AttentionViewError(ValueError):
    """Something to draw that does not fit together."""


def mask_picture(mask: Tensor, text: str) -> View:
    """A (T, T) mask of booleans, row by row what each character of `text` may look at.

    Raises AttentionViewError where the mask does not hold booleans, a row and a column for each character.
    """
    T = len(text)
    if tuple(mask.shape) != (T, T) or mask.dtype != torch.bool:
        raise AttentionViewError(
            f"a text of {T} characters has a mask of shape ({T}, {T}) that holds booleans, "
            f"not {tuple(mask.shape)} of {mask.dtype}"
        )
    seen = [int(count) for count in mask.sum(1)]
    words = (
        f"A mask for {T} positions. Row 0 sees {_positions(seen[0])}, the last row {_positions(seen[-1])}; "
        f"{int(mask.triu(1).sum())} cells lie ahead of their row."
    )
    return View(_grid(mask.float(), text, words, "filled: the row may look at the column"), words)


def attention_map(model: nn.Module, text: str, *, layer: int = 0, head: int = 0) -> View:
    """The weights of one head of a GPT on a text: how much each position takes from each before it.

    `model` has the library's layers, by name. It is left as it was, and no random number is drawn.

    Raises AttentionViewError where it has no such layer or head, or the text is longer than its block.
    """
    weights = _weights(model, text, layer, head)  # (T, T)
    at, to = divmod(int(weights[1:].argmax()), len(text)) if len(text) > 1 else (-1, 0)
    asking, giving = (f"position {place} ({_character(text[place])})" for place in (at + 1, to))
    words = (
        f"Layer {layer}, head {head} on “{text}”. Most weight after the first row, where there is no choice: "
        f"{asking} gives {weights[at + 1, to]:.2f} to {giving}."
    )
    title = f"layer {layer}, head {head}: the darker, the more weight the row gives the column"
    return View(_grid(weights, text, words, title), words)


def loss_curve(training: Sequence[float], heldout: Mapping[int, float], floor: float = ENTROPY) -> View:
    """Training loss of each step, held-out loss by the steps taken before it, and the floor of the latter.

    In nats a character. Raises AttentionViewError where either is empty.
    """
    if not training or not heldout:
        raise AttentionViewError("there is no loss to draw: training and heldout need at least one each")
    last = max(heldout)
    words = (
        f"Held-out loss after {last} steps: {heldout[last]:.3f} nats a character, "
        f"{heldout[last] - floor:.3f} above the floor of {floor:.3f}."
    )
    means = [_mean(training[max(0, n - _SMOOTH) : n]) for n in range(1, len(training) + 1)]
    with theme():
        figure = new_figure(height=230)
        axes = new_axes(figure, 0.075, 0.16, 0.775, 0.72)
        axes.plot(range(1, len(means) + 1), means, color=ORANGE, linewidth=1.2)
        axes.plot(list(heldout), list(heldout.values()), color=BLUE, linewidth=2, marker="o", markersize=4)
        axes.axhline(floor, color=INK, alpha=0.55, linewidth=0.8)
        axes.set_ylim(0, 1.06 * max(*means, *heldout.values(), floor))
        axes.set_xlim(0, max(len(training), last))
        label_floor(axes, floor * 0.5, f"floor: the text's entropy, {floor:.3f}")
        _name_ends(axes, means[-1], heldout[last])
        axes.set_title(f"loss, nats a character (training: mean of {_SMOOTH} steps)", pad=7)
        axes.set_xlabel("step")
        return View(to_svg(figure, words), words)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _name_ends(axes: Axes, training: float, heldout: float) -> None:
    """Each curve's name beside its end, the higher one above."""
    apart = 0.075 * axes.get_ylim()[1]
    middle = (training + heldout) / 2
    half = max(apart, abs(training - heldout)) / 2
    up = half if training >= heldout else -half
    right = axes.get_xlim()[1]
    for height, name, colour in ((middle + up, "training", ORANGE), (middle - up, "held-out", BLUE)):
        axes.annotate(
            name, (right, height), xytext=(7, 0), textcoords="offset points", color=colour, va="center",
            fontweight="bold", annotation_clip=False,
        )  # fmt: skip


def _positions(count: int) -> str:
    return "1 position" if count == 1 else f"{count} positions"


def _character(character: str) -> str:
    return {" ": "a space", "\n": "the line's end"}.get(character, character)


def _grid(cells: Tensor, text: str, alt: str, title: str) -> str:
    """(T, T) numbers from 0 to 1 as squares, the more the darker, with the text along both sides."""
    T = len(text)
    size = min(340.0, 40.0 + 19.0 * T)  # points: a short text needs no large squares
    with theme():
        figure = new_figure(height=size)
        axes = new_axes(figure, 0.085, 0.03, (size - 50) / 450, (size - 50) / size)
        for row, column in (cells >= _FAINTEST).nonzero().tolist():
            square = Rectangle(
                (column, row), 0.9, 0.9, color=BLUE, alpha=float(cells[row, column]), linewidth=0
            )
            axes.add_patch(square)
        for place in range(T):  # a faint line through each row: squares far from the side are still its own
            axes.axhline(place + 0.45, color=INK, alpha=0.12, linewidth=0.5, zorder=0)
        axes.set_xlim(-0.05, T)
        axes.set_ylim(T, -0.05)
        _label(axes, text)
        axes.set_title(title, pad=7)
        axes.set_ylabel("has read up to here")
        return to_svg(figure, alt)


def _label(axes: Axes, text: str) -> None:
    places = [place + 0.45 for place in range(len(text))]
    names = [_SHOWN.get(character, character) for character in text]
    look: dict[str, Any] = {"fontsize": 8.5, "family": "monospace"}
    axes.set_xticks(places, labels=names, **look)
    axes.set_yticks(places, labels=names, **look)
    axes.xaxis.tick_top()
    axes.tick_params(length=0, pad=2)
    for spine in axes.spines.values():
        spine.set_visible(False)


@torch.no_grad()
def _weights(model: nn.Module, text: str, layer: int, head: int) -> Tensor:
    """(T, T) weights of a head, from what its layer `qkv` gives while the model reads the text."""
    attention = _attention(model, layer, head)
    config: Any = model.config
    if not 1 <= len(text) <= config.block_size:
        raise AttentionViewError(
            f"the text has {len(text)} characters; the model reads 1 to {config.block_size}"
        )
    seen: list[Tensor] = []
    hook = attention.qkv.register_forward_hook(lambda module, x, y: seen.append(y.detach()))
    was_training = model.training
    try:
        model.eval()(Vocabulary().encode(text)[None])
    finally:
        hook.remove()
        model.train(was_training)
    q, k, _ = (
        part.view(len(text), config.n_head, -1)[:, head]  # (T, D)
        for part in seen[0][0].chunk(3, dim=1)
    )
    return plain_attention(
        q, k, torch.eye(len(text)), causal_mask(len(text))
    )  # of values 0 and 1: its weights


def _attention(model: nn.Module, layer: int, head: int) -> Any:
    blocks: Any = getattr(model, "blocks", ())
    if not 0 <= layer < len(blocks):
        raise AttentionViewError(f"the model has layers 0 to {len(blocks) - 1}, so no layer {layer}")
    config: Any = model.config
    heads = config.n_head
    if not 0 <= head < heads:
        raise AttentionViewError(f"a layer has heads 0 to {heads - 1}, so no head {head}")
    attention = getattr(blocks[layer], "attention", None)
    if not isinstance(getattr(attention, "qkv", None), nn.Module):
        raise AttentionViewError(
            f"layer {layer} has no attention with a layer qkv; keep the names that are given"
        )
    return attention
