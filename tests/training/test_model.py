"""The GPT: what it may see, what it has to predict, and that the two ways of computing attention agree."""

import math

import pytest
import torch
from torch.nn import functional as F

from lastgood.training.model import GPT, GPTConfig, causal_mask, next_token_loss, plain_attention

SMALL = GPTConfig(vocab_size=11, block_size=12, n_layer=2, n_head=2, n_embd=16, dropout=0.0)


def test_plain_attention_equals_the_fused_call_within_float_tolerance() -> None:
    source = torch.Generator().manual_seed(1)
    q, k, v = (torch.randn(2, 3, 9, 8, generator=source) for _ in range(3))
    fused = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(plain_attention(q, k, v, causal_mask(9)), fused, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("position", [0, 4, 8])
def test_no_output_depends_on_a_later_token(position: int) -> None:
    model = GPT(SMALL).eval()
    tokens = torch.randint(11, (1, 10), generator=torch.Generator().manual_seed(2))
    changed = tokens.clone()
    changed[0, position + 1] = (changed[0, position + 1] + 1) % 11
    before, after = model(tokens), model(changed)
    assert torch.equal(before[:, : position + 1], after[:, : position + 1])
    assert not torch.equal(before[:, position + 1 :], after[:, position + 1 :])


def test_the_loss_of_certainty_about_the_next_token_is_zero() -> None:
    tokens = torch.tensor([[3, 1, 4, 1, 5]])
    logits = 50.0 * F.one_hot(tokens.roll(-1, 1), 11).float()  # the last row is wrong, and has no target
    assert next_token_loss(logits, tokens).item() == pytest.approx(0.0, abs=1e-6)


def test_an_untrained_model_is_as_good_as_guessing() -> None:
    torch.manual_seed(0)
    tokens = torch.randint(11, (8, 12))
    assert next_token_loss(GPT(SMALL)(tokens), tokens).item() == pytest.approx(math.log(11), abs=0.1)


def test_head_and_token_embedding_are_one_tensor() -> None:
    model = GPT(SMALL)
    assert model.head.weight is model.tokens.weight
    assert "head.weight" not in dict(model.named_parameters())


def test_a_window_longer_than_the_block_is_refused() -> None:
    with pytest.raises(ValueError, match="13 characters do not fit into a block of 12"):
        GPT(SMALL)(torch.zeros(1, 13, dtype=torch.long))


@pytest.mark.parametrize(("field", "value"), [("n_head", 3), ("dropout", 1.0)])
def test_sizes_that_cannot_be_are_refused(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{field}={value}"):
        GPTConfig(**{"vocab_size": 11, "n_embd": 16, field: value})
