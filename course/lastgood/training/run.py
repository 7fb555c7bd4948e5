"""A training run: everything that decides the next step, in one object that one process holds.

`Run` has no `state_dict` of its own. What belongs in one is the question of lab 18.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor

from lastgood.training.data import Loader
from lastgood.training.logbook import CHARACTERS, Vocabulary, generate
from lastgood.training.model import GPT, GPTConfig, next_token_loss
from lastgood.training.rng import seed_everything
from lastgood.training.schedule import Schedule, clip_gradients


@dataclass(frozen=True)
class RunConfig:
    """What a run is set to before it begins. It never changes on the way, so it is not part of the state.

    The defaults are the labs': some 105,000 parameters, and a few milliseconds a step on one core.
    """

    model: GPTConfig = field(default_factory=lambda: GPTConfig(vocab_size=len(CHARACTERS), block_size=48))
    schedule: Schedule = field(
        default_factory=lambda: Schedule(peak=3e-3, warmup=30, horizon=600, floor=3e-4)
    )
    batch_size: int = 8
    clip_norm: float = 1.0
    betas: tuple[float, float] = (0.9, 0.95)
    weight_decay: float = 0.1
    augment: float = 0.25
    corpus_seed: int = 18
    train_chars: int = 20_000
    heldout_chars: int = 4_000

    def to_dict(self) -> dict[str, Any]:
        """The configuration as plain data, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RunConfig:
        """The configuration that `to_dict` wrote."""
        return cls(
            **{
                **data,
                "model": GPTConfig(**data["model"]),
                "schedule": Schedule(**data["schedule"]),
                "betas": tuple(data["betas"]),
            }
        )


@dataclass(frozen=True)
class StepResult:
    """What one optimizer step did."""

    step: int  # number of the step, the first is 0
    loss: float  # training loss before the update, nats a character
    lr: float  # learning rate of the update
    grad_norm: float  # global gradient norm before clipping
    indices: tuple[int, ...]  # windows of the corpus it trained on


class Run:
    """Model, optimizer, loader, schedule and step. With the global generators, they decide the next step.

    Building one seeds the global generators: two runs in one process share them.
    """

    def __init__(self, config: RunConfig | None = None, *, seed: int = 0) -> None:
        self.config = config = config or RunConfig()
        seed_everything(seed)
        self.model = GPT(config.model)
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(),
            lr=config.schedule.lr(0),
            betas=config.betas,
            weight_decay=config.weight_decay,
            fused=True,  # one call for all parameters instead of a Python loop over them
        )
        tokens, self.heldout = _corpus(config)
        self.loader = Loader(
            tokens,
            block_size=config.model.block_size,
            batch_size=config.batch_size,
            seed=int(torch.randint(2**31, (1,))),  # its own: the run's seed alone does not tell it
            augment=config.augment,
        )
        self.schedule = config.schedule
        self.step = 0  # optimizer steps taken, which is also the position on the schedule

    def advance(self) -> StepResult:
        """Take one optimizer step and say what happened."""
        lr = self.schedule.lr(self.step)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        batch = self.loader.next_batch()
        if not self.model.training:  # it walks through every module: 4 percent of a step
            self.model.train()
        loss = next_token_loss(self.model(batch.inputs), batch.tokens)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch
        norm = clip_gradients(self.model.parameters(), self.config.clip_norm)
        self.optimizer.step()
        self.step += 1
        return StepResult(self.step - 1, loss.item(), lr, norm, tuple(batch.indices.tolist()))

    @torch.no_grad()
    def heldout_loss(self) -> float:
        """Loss on text that is never trained on, nats a character. Draws nothing, changes nothing."""
        was_training = self.model.training
        self.model.eval()
        try:
            return next_token_loss(self.model(self.heldout), self.heldout).item()
        finally:
            self.model.train(was_training)


def _corpus(config: RunConfig) -> tuple[Tensor, Tensor]:
    """(N,) training tokens and (W, T) held-out windows, from two stretches of one logbook."""
    text = generate(config.corpus_seed, config.train_chars + config.heldout_chars)
    tokens = Vocabulary().encode(text)
    train, heldout = tokens[: config.train_chars], tokens[config.train_chars :]
    T = config.model.block_size
    return train, heldout[: len(heldout) // T * T].view(-1, T)
