"""The models that ours is compared with, and the training loop that goes around them.

`PlainGPT` has nanoGPT's architecture (Karpathy 2022), written here from its description: GPT-2 with one
projection for query, key and value, torch's fused attention, and the loss computed inside the model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lastgood.training.data import Batch
from lastgood.training.model import GPTConfig
from lastgood.training.run import Run, RunConfig

NO_TARGET = -1  # of a position that has nothing to predict


class PlainAttention(nn.Module):
    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.n_head, self.rate = config.n_head, config.dropout
        self.into_qkv = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.project = nn.Linear(config.n_embd, config.n_embd)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        B, T, C = x.size()
        query, key, value = self.into_qkv(x).split(C, dim=2)
        query = query.view(B, T, self.n_head, -1).transpose(1, 2)
        key = key.view(B, T, self.n_head, -1).transpose(1, 2)
        value = value.view(B, T, self.n_head, -1).transpose(1, 2)
        rate = self.rate if self.training else 0.0
        seen = F.scaled_dot_product_attention(query, key, value, dropout_p=rate, is_causal=True)
        result: Tensor = self.dropout(self.project(seen.transpose(1, 2).contiguous().view(B, T, C)))
        return result


class PlainMLP(nn.Module):
    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.widen = nn.Linear(config.n_embd, 4 * config.n_embd)
        self.gelu = nn.GELU()
        self.narrow = nn.Linear(4 * config.n_embd, config.n_embd)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.dropout(self.narrow(self.gelu(self.widen(x))))
        return result


class PlainBlock(nn.Module):
    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.norm_before_attention = nn.LayerNorm(config.n_embd)
        self.attention = PlainAttention(config)
        self.norm_before_mlp = nn.LayerNorm(config.n_embd)
        self.mlp = PlainMLP(config)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm_before_attention(x))
        x = x + self.mlp(self.norm_before_mlp(x))
        return x


class PlainGPT(nn.Module):
    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(config.vocab_size, config.n_embd)
        self.position_embedding = nn.Embedding(config.block_size, config.n_embd)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList([PlainBlock(config) for _ in range(config.n_layer)])
        self.norm = nn.LayerNorm(config.n_embd)
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.token_embedding.weight = self.head.weight

    def forward(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """The mean cross entropy. `tokens` and `targets` are (B, T)."""
        positions = torch.arange(tokens.size(1), device=tokens.device)
        x = self.dropout(self.token_embedding(tokens) + self.position_embedding(positions))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=NO_TARGET)


def plain_loss(config: RunConfig) -> tuple[nn.Module, Callable[[Batch], Tensor]]:
    """A plain GPT, and its loss on a batch."""
    model = PlainGPT(config.model)

    def loss(batch: Batch) -> Tensor:
        targets = torch.full_like(batch.tokens, NO_TARGET)
        targets[:, :-1] = batch.tokens[:, 1:]
        result: Tensor = model(batch.inputs, targets)
        return result

    return model, loss


def transformers_loss(config: RunConfig) -> tuple[nn.Module, Callable[[Batch], Tensor]]:
    """GPT-2 of `transformers` from a configuration of our sizes, nothing downloaded; its loss on a batch."""
    from transformers import GPT2Config, GPT2LMHeadModel  # seconds, and only this benchmark needs it

    sizes = config.model
    model: Any = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=sizes.vocab_size,
            n_positions=sizes.block_size,
            n_embd=sizes.n_embd,
            n_layer=sizes.n_layer,
            n_head=sizes.n_head,
            activation_function="gelu",
            resid_pdrop=sizes.dropout,
            embd_pdrop=sizes.dropout,
            attn_pdrop=sizes.dropout,
            use_cache=False,
            bos_token_id=0,
            eos_token_id=0,
            attn_implementation="sdpa",
        )
    )
    model.loss_type = "ForCausalLM"  # what it falls back to, with a warning

    def loss(batch: Batch) -> Tensor:
        result: Tensor = model(input_ids=batch.inputs, labels=batch.tokens).loss  # it shifts the labels
        return result

    return model, loss


def size(model: nn.Module) -> int:
    """How many parameters a model has; what is tied counts once."""
    return sum(parameter.numel() for parameter in model.parameters())


class Steps(Protocol):
    """Something that trains."""

    def advance(self) -> object:
        """Take one optimizer step."""


class PeerRun:
    """Another model in the loop of a run: same data, learning rates, AdamW, clipping.

    Raises ValueError where the model has another number of parameters than ours: it would be no peer.
    """

    def __init__(
        self,
        config: RunConfig,
        build: Callable[[RunConfig], tuple[nn.Module, Callable[[Batch], Tensor]]],
    ) -> None:
        ours = Run(config)
        self.config, self.loader, self.schedule, self.step = config, ours.loader, ours.schedule, 0
        self.model, self.loss = build(config)
        if (found := size(self.model)) != (wanted := size(ours.model)):
            raise ValueError(f"{build.__name__} builds {found:,} parameters, ours has {wanted:,}")
        self.model.train()
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), betas=config.betas, weight_decay=config.weight_decay, fused=True
        )

    def advance(self) -> float:
        """Take one optimizer step; the loss before it."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.schedule.lr(self.step)
        loss = self.loss(self.loader.next_batch())
        loss.backward()  # type: ignore[no-untyped-call]  # torch
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip_norm)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        return loss.item()
