"""The small GPT of the course, in one file that reads top to bottom.

Letters in shape comments:
    B  batch: windows of text in one step
    T  time: characters in a window
    C  channels: width of the residual stream
    H  heads of attention
    D  width of one head, C / H
    V  vocabulary: different characters
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class GPTConfig:
    """Sizes of a GPT. The defaults train visibly within a minute on one core."""

    vocab_size: int
    block_size: int = 64
    n_layer: int = 2
    n_head: int = 4
    n_embd: int = 64
    dropout: float = 0.1

    def __post_init__(self) -> None:
        if self.n_embd % self.n_head:
            raise ValueError(f"n_embd={self.n_embd} does not divide into n_head={self.n_head} equal heads")
        if not 0.0 <= self.dropout < 1.0:
            raise ValueError(f"dropout={self.dropout} is not a probability below 1")


def causal_mask(length: int) -> Tensor:
    """(T, T) booleans: row t is True where position t may look, at itself and at what came before."""
    return torch.ones(length, length, dtype=torch.bool).tril()


def plain_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """Scaled dot-product attention, spelled out for reading.

    `q`, `k`, `v` are (B, H, T, D); `mask` is (T, T), True where looking is allowed. Returns (B, H, T, D).
    Source: Vaswani et al. 2017, equation 1. `SelfAttention` computes the same, with dropout on the weights.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # (B, H, T, T)
    scores = scores.masked_fill(~mask, float("-inf"))  # a weight of exactly 0 after the softmax
    return scores.softmax(dim=-1) @ v


class SelfAttention(nn.Module):
    """Causal self-attention with several heads."""

    future: Tensor  # (T, T) added to the scores: -inf where a position may not look, 0 elsewhere

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.n_head = config.n_head
        self.qkv = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.out = nn.Linear(config.n_embd, config.n_embd)
        self.dropout = nn.Dropout(config.dropout)
        mask = causal_mask(config.block_size)
        future = torch.zeros(mask.shape).masked_fill(~mask, float("-inf"))
        self.register_buffer("future", future, persistent=False)  # made anew from the sizes, never saved

    def forward(self, x: Tensor) -> Tensor:
        B, T, C = x.shape
        q, k, v = (
            part.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)  # (B, H, T, D)
            for part in self.qkv(x).split(C, dim=2)
        )
        # Spelled out: with dropout, torch's fused call is slower on a CPU. Scaling q scales the scores.
        scores = (q / math.sqrt(q.size(-1))) @ k.transpose(-2, -1) + self.future[:T, :T]  # (B, H, T, T)
        y = self.dropout(scores.softmax(dim=-1)) @ v  # (B, H, T, D)
        return self.out(y.transpose(1, 2).reshape(B, T, C))  # type: ignore[no-any-return]  # nn.Module


class Block(nn.Module):
    """Attention, then an MLP, each on a normalised copy and added back to the residual stream (pre-norm)."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.norm_1 = nn.LayerNorm(config.n_embd)
        self.attention = SelfAttention(config)
        self.norm_2 = nn.LayerNorm(config.n_embd)
        self.mlp = nn.Sequential(
            nn.Linear(config.n_embd, 4 * config.n_embd),
            nn.GELU(),
            nn.Linear(4 * config.n_embd, config.n_embd),
            nn.Dropout(config.dropout),
        )
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.dropout(self.attention(self.norm_1(x)))
        return x + self.mlp(self.norm_2(x))  # type: ignore[no-any-return]  # nn.Module


class GPT(nn.Module):
    """Token and position embeddings, `n_layer` blocks, and an output head tied to the token embedding."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocab_size, config.n_embd)
        self.positions = nn.Embedding(config.block_size, config.n_embd)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layer))
        self.norm = nn.LayerNorm(config.n_embd)
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.apply(self._initialise)
        self.head.weight = self.tokens.weight  # tied: one tensor, read at both ends

    @staticmethod
    def _initialise(module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, tokens: Tensor) -> Tensor:
        """(B, T) token numbers to (B, T, V) logits; row t predicts the character after position t.

        Raises ValueError where T is longer than `block_size`.
        """
        _, T = tokens.shape
        if self.config.block_size < T:
            raise ValueError(f"{T} characters do not fit into a block of {self.config.block_size}")
        x = self.tokens(tokens) + self.positions.weight[:T]  # (B, T, C)
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))  # type: ignore[no-any-return]  # nn.Module


def next_token_loss(logits: Tensor, tokens: Tensor) -> Tensor:
    """Mean cross entropy, in nats a character, of predicting each character from those before it.

    `logits` are (B, T, V) and `tokens` (B, T). Row t of the logits predicts token t + 1, so the first token
    is nobody's target and the last row has none: T - 1 predictions a window.
    """
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
