"""Lab 00's checks: each mistake is named, whatever was drawn, and right is right however it is written."""

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lastgood.recovery.wire import same
from lastgood.teaching.checks import lab00
from lastgood.teaching.checks.core import Check
from lastgood.teaching.checks.lab00 import upstream
from lastgood.training import model as library
from lastgood.training.model import GPTConfig
from lastgood.training.rng import capture_rng

SEEDS = range(5)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """As in the lab: on tensors this small, a second thread costs time and gains none."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def reports(check: Check, thing: Any) -> list[Any]:
    """Over several draws: a check must not depend on its luck."""
    return [check.run((thing,), seed=seed) for seed in SEEDS]


def names(check: Check, thing: Any, message: str) -> None:
    for report in reports(check, thing):
        assert report.passed is not bool(message), report.text()
        assert message in " ".join(report.text().split())


def test_thirty_points_and_every_check_has_a_name_of_its_own() -> None:
    assert sum(check.worth for check in lab00.CHECKS) == 30
    assert len({check.name for check in lab00.CHECKS}) == len(lab00.CHECKS)
    assert len({check.exercise for check in lab00.CHECKS}) == len(lab00.CHECKS)


EMBEDS: dict[str, tuple[Callable[..., Any], str]] = {
    "both lookups": (
        lambda t, c, p: F.embedding(t, c) + F.embedding(torch.arange(t.shape[1]), p),
        "",
    ),
    "no positions": (lambda t, c, p: c[t], "Positions are missing"),
    "no characters": (lambda t, c, p: p[: t.shape[1]].expand(len(t), -1, -1), "Characters are missing"),
    "from the end": (lambda t, c, p: c[t] + p[-t.shape[1] :], "from the end of the table"),
    "from one": (lambda t, c, p: c[t] + p[1 : t.shape[1] + 1], "begin with 1"),
    "one for all": (lambda t, c, p: c[t] + p[0], "All positions get the same"),
    "a product": (lambda t, c, p: c[t] * p[: t.shape[1]], "they should be added"),
    "nothing": (lambda t, c, p: None, "Is a `return` missing?"),
    "numbers": (lambda t, c, p: t, "has shape"),
    "halved": (lambda t, c, p: (c[t] + p[: t.shape[1]]) / 2, "off by up to"),
}


@pytest.mark.parametrize("name", EMBEDS)
def test_vectors_are_right_or_their_mistake_is_named(name: str) -> None:
    names(lab00.EMBED, *EMBEDS[name])


def attend(q: Tensor, k: Tensor, mask: Tensor, **how: Any) -> Tensor:
    scale = how.get("scale", 1 / math.sqrt(q.size(-1)))
    scores = q @ k.transpose(-2, -1) * scale
    return scores.masked_fill(~mask, how.get("never", float("-inf"))).softmax(how.get("dim", -1))


WEIGHTS: dict[str, tuple[Callable[..., Any], str]] = {
    "as it is": (attend, ""),
    "a very small score": (lambda q, k, m: attend(q, k, m, never=-1e9), ""),
    "as small as 32 bits allow": (lambda q, k, m: attend(q, k, m, never=torch.finfo(q.dtype).min), ""),
    "not scaled": (lambda q, k, m: attend(q, k, m, scale=1), "not scaled"),
    "scaled up": (lambda q, k, m: attend(q, k, m, scale=math.sqrt(q.size(-1))), "multiplied by √D"),
    "a score of zero": (lambda q, k, m: attend(q, k, m, never=0.0), "multiplies the scores"),
    "mask forgotten": (lambda q, k, m: attend(q, k, torch.ones_like(m)), "not used"),
    "mask transposed": (lambda q, k, m: attend(q, k, m.T), "The mask is transposed"),
    "keys ask": (lambda q, k, m: attend(k, q, m), "Queries and keys are swapped"),
    "scores": (
        lambda q, k, m: (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(~m, -torch.inf),
        "softmax that makes weights of them is missing",
    ),
    "a score too small": (lambda q, k, m: attend(q, k, m, never=-2.0), "off by up to"),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_are_right_or_their_mistake_is_named(name: str) -> None:
    names(lab00.WEIGHTS, *WEIGHTS[name])


def of(base: type[nn.Module], forward: Callable[..., Any]) -> Any:
    """A class with the layers of `base`, of this module: what it borrows is not looked into, as a cell is."""

    def build(self: Any, config: GPTConfig) -> None:
        nn.Module.__init__(self)
        made = base(config)
        self.__dict__.update(made.__dict__)

    return type(base.__name__, (nn.Module,), {"__init__": build, "forward": forward})


BLOCKS: dict[str, tuple[Callable[..., Any], str]] = {
    "in three lines": (library.Block.forward, ""),
    "first norm missing": (
        lambda s, x: (y := x + s.dropout(s.attention(x))) + s.mlp(s.norm_2(y)),
        "first norm is missing",
    ),
    "second norm missing": (
        lambda s, x: (y := x + s.dropout(s.attention(s.norm_1(x)))) + s.mlp(y),
        "second norm is missing",
    ),
    "MLP first": (
        lambda s, x: (y := x + s.mlp(s.norm_2(x))) + s.dropout(s.attention(s.norm_1(y))),
        "attention comes first",
    ),
    "no dropout": (
        lambda s, x: (y := x + s.attention(s.norm_1(x))) + s.mlp(s.norm_2(y)),
        "self.dropout is never used",
    ),
    "nothing": (lambda s, x: None, "forward returned None"),
    "raises": (lambda s, x: 1 / 0, "forward raised ZeroDivisionError"),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_is_right_or_its_mistake_is_named(name: str) -> None:
    forward, message = BLOCKS[name]
    names(lab00.BLOCK, of(library.Block, forward), message)


def through(model: Any, x: Tensor) -> Tensor:
    for block in model.blocks:
        x = block(x)
    return x


GPTS: dict[str, tuple[Callable[..., Any], str]] = {
    "the library's way": (library.GPT.forward, ""),
    "no blocks": (
        lambda s, t: s.head(s.norm(s.dropout(s.tokens(t) + s.positions.weight[: t.shape[1]]))),
        "blocks are never used",
    ),
    "norm first": (
        lambda s, t: s.head(through(s, s.norm(s.tokens(t) + s.positions.weight[: t.shape[1]]))),
        "self.norm comes before the blocks",
    ),
    "no head": (
        lambda s, t: s.norm(through(s, s.tokens(t) + s.positions.weight[: t.shape[1]])),
        "head that makes logits of it is missing",
    ),
}


@pytest.mark.parametrize("name", GPTS)
def test_a_model_is_right_or_its_mistake_is_named(name: str) -> None:
    forward, message = GPTS[name]
    names(lab00.WHOLE_MODEL, of(library.GPT, forward), message)


MLPS: dict[str, tuple[Callable[[GPTConfig], Any], str]] = {
    "approximated": (
        lambda c: nn.Sequential(
            nn.Linear(c.n_embd, 4 * c.n_embd),
            nn.GELU("tanh"),
            nn.Linear(4 * c.n_embd, c.n_embd),
            nn.Dropout(c.dropout),
        ),
        "approximation by tanh",
    ),
    "dropout inside": (
        lambda c: nn.Sequential(
            nn.Linear(c.n_embd, 4 * c.n_embd),
            nn.GELU(),
            nn.Dropout(c.dropout),
            nn.Linear(4 * c.n_embd, c.n_embd),
        ),
        "Dropout is in the wrong place",
    ),
    "no bias": (
        lambda c: nn.Sequential(
            nn.Linear(c.n_embd, 4 * c.n_embd, bias=False), nn.GELU(), nn.Linear(4 * c.n_embd, c.n_embd)
        ),
        "0.bias of shape",
    ),
    "no module": (lambda c: [nn.Linear(c.n_embd, c.n_embd)], "It makes a list, not a torch module"),
}


@pytest.mark.parametrize("name", MLPS)
def test_an_mlp_is_right_or_its_mistake_is_named(name: str) -> None:
    names(lab00.MLP, *MLPS[name])


BORROWED = [
    (lab00.MASK, library.causal_mask),
    (lab00.HEADS, library.SelfAttention),
    (lab00.BLOCK, library.Block),
    (lab00.WHOLE_MODEL, library.GPT),
    (lab00.WHOLE_MODEL, type("GPT", (library.GPT,), {"__module__": "__main__"})),
    (lab00.HEADS, lambda config: library.SelfAttention(config)),
    (lab00.WEIGHTS, upstream.attention_weights),
    (lab00.EMBED, upstream.embed),
]


@pytest.mark.parametrize(("check", "thing"), BORROWED)
def test_the_librarys_own_is_refused_and_so_is_what_stands_on_it(check: Check, thing: Any) -> None:
    report = check.run((thing,))
    assert report.points == 0
    assert "the library's own" in report.text()


def test_what_an_exercise_stands_on_is_right_while_it_is_checked_and_the_learners_afterwards() -> None:
    cell = """
def SelfAttention(config): raise NotImplementedError
class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(config.n_embd), nn.LayerNorm(config.n_embd)
        self.attention, self.mlp = SelfAttention(config), make_mlp(config)
        self.dropout = nn.Dropout(config.dropout)
    def forward(self, x):
        x = x + self.dropout(self.attention(self.norm_1(x)))
        return x + self.mlp(self.norm_2(x))
"""
    notebook: dict[str, Any] = {"nn": nn, "__name__": "__main__"}
    exec(cell, notebook)
    theirs = dict(notebook)
    assert lab00.BLOCK.run((notebook["Block"],)).passed
    assert notebook == theirs  # make_mlp, which is not defined there, was lent for the check


LOADED = {
    "sampled in one line": (
        lambda m, t, n, g: _grown(m, t, n, lambda x: torch.multinomial(x.softmax(-1), 1, generator=g)),
        "",
    ),
    "by Gumbel's trick": (
        lambda m, t, n, g: _grown(
            m, t, n, lambda x: (x - torch.rand(x.shape, generator=g).log().neg().log()).argmax(-1, True)
        ),
        "",
    ),
    "new ones alone": (
        lambda m, t, n, g: _grown(m, t, n, lambda x: x.argmax(-1, True))[:, t.shape[1] :],
        "The new characters alone",
    ),
    "one too many": (
        lambda m, t, n, g: _grown(m, t, n + 1, lambda x: x.argmax(-1, True)),
        "has shape",
    ),
    "hotter": (
        lambda m, t, n, g: _grown(m, t, n, lambda x: torch.multinomial((x / 3).softmax(-1), 1, generator=g)),
        "softmax of the logits as they are",
    ),
}


def _grown(model: Any, tokens: Tensor, n: int, draw: Callable[[Tensor], Tensor]) -> Tensor:
    for _ in range(n):
        new = draw(model(tokens[:, 1 - model.config.block_size :])[:, -1])
        tokens = torch.cat([tokens, new], 1)
    return tokens


@pytest.mark.parametrize("name", LOADED)
def test_a_text_is_right_or_its_mistake_is_named(name: str) -> None:
    names(lab00.SAMPLE, *LOADED[name])


def test_no_right_drawing_is_called_wrong_by_bad_luck() -> None:
    right = LOADED["sampled in one line"][0]
    assert [seed for seed in range(30) if not lab00.SAMPLE.run((right,), seed=seed).passed] == []


def step(model: Any, optimizer: Any, batch: Any) -> float:
    loss = library.next_token_loss(model(batch.inputs), batch.tokens)
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()
    return loss.item()


def step_twice(model: Any, optimizer: Any, batch: Any) -> float:
    loss = step(model, optimizer, batch)
    optimizer.step()
    return loss


def step_and_look_again(model: Any, optimizer: Any, batch: Any) -> float:
    step(model, optimizer, batch)
    return library.next_token_loss(model(batch.inputs), batch.tokens).item()


STEPS: dict[str, tuple[Callable[..., Any], str, float]] = {
    "zeroed in place": (step, "", 3),
    "twice": (step_twice, "steps twice", 1),
    "the loss after": (step_and_look_again, "the loss after the update", 2),
    "no return": (lambda *a: step(*a) and None, "It returns None", 2),
    "nothing": (lambda *a: 1.0, "optimizer.step() is never called", 0),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_right_or_its_mistake_is_named(name: str) -> None:
    function, message, points = STEPS[name]
    names(lab00.STEP, function, message)
    assert {report.points for report in reports(lab00.STEP, function)} == {points}


def test_a_check_draws_no_global_random_number_and_leaves_no_dropout_behind() -> None:
    random.seed(1)
    torch.manual_seed(1)
    before = capture_rng()
    for check, thing in (
        (lab00.EMBED, EMBEDS["no positions"][0]),
        (lab00.WEIGHTS, attend),
        (lab00.HEADS, of(library.SelfAttention, library.SelfAttention.forward)),
        (lab00.MLP, MLPS["approximated"][0]),
        (lab00.BLOCK, of(library.Block, library.Block.forward)),
        (lab00.WHOLE_MODEL, of(library.GPT, library.GPT.forward)),
        (lab00.STEP, step),
        (lab00.HELDOUT, lambda model, windows: library.next_token_loss(model(windows), windows).item()),
        (lab00.SAMPLE, lambda m, t, n, g: _grown(m, t, n, lambda x: torch.multinomial(x.softmax(-1), 1))),
    ):
        check.run((thing,))
    assert same(capture_rng(), before)


def test_a_report_sends_its_reader_to_a_heading_of_the_lab() -> None:
    report = lab00.WEIGHTS.run((WEIGHTS["not scaled"][0],))
    assert "Reread: lab 00, “Where to look”" in report.text()
