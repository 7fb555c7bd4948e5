"""A training script in plain PyTorch. It saves what many tutorials do: model, optimizer, epoch."""

import random
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from lastgood.recovery.resuming.observing import components

SAMPLES, BATCH, FEATURES = 40, 8, 6  # 5 steps an epoch
WARM_UP, HORIZON = 10, 60


class Points(Dataset[Tensor]):
    """Points, each time with other noise."""

    def __init__(self) -> None:
        self.points = torch.randn(SAMPLES, FEATURES, generator=torch.Generator().manual_seed(0))

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> Tensor:
        noise = torch.from_numpy(np.random.normal(0, 0.1, FEATURES)).float()
        return self.points[index] * random.uniform(0.9, 1.1) + noise


def build() -> SimpleNamespace:
    """All of it, as the script's first lines do."""
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    model = nn.Sequential(
        nn.Linear(FEATURES, 16), nn.BatchNorm1d(16), nn.GELU(), nn.Dropout(0.2), nn.Linear(16, FEATURES)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=1e-2, total_steps=HORIZON, pct_start=WARM_UP / HORIZON
    )
    loader = DataLoader(Points(), BATCH, shuffle=True)
    return SimpleNamespace(
        model=model, optimizer=optimizer, schedule=schedule, loader=loader, step=0, epoch=0, batches=None
    )


def next_batch(run: SimpleNamespace) -> Tensor:
    """The next batch, fetched once: `observe` may look at it before it is trained on."""
    if run.batches is None:
        run.batches, run.fetched = iter(run.loader), None
    if run.fetched is None:
        try:
            run.fetched = next(run.batches)
        except StopIteration:
            run.epoch += 1
            run.batches = iter(run.loader)
            run.fetched = next(run.batches)
    return run.fetched


def make() -> SimpleNamespace:
    """A new run."""
    return build()


def advance(run: SimpleNamespace, steps: int) -> list[float]:
    """Train; the loss of each step."""
    losses = []
    for _ in range(steps):
        batch = next_batch(run)
        loss = nn.functional.mse_loss(run.model(batch), batch)
        run.optimizer.zero_grad()
        loss.backward()
        run.optimizer.step()
        run.schedule.step()
        run.fetched = None
        run.step += 1
        losses.append(loss.item())
    return losses


def save(run: SimpleNamespace, folder: Path) -> None:
    """Three of the things that decide the next step."""
    state = {"model": run.model.state_dict(), "optimizer": run.optimizer.state_dict(), "epoch": run.epoch}
    torch.save(state, folder / "checkpoint.pt")


def resume(folder: Path) -> SimpleNamespace:
    """A new run with these three put back."""
    run = build()
    saved = torch.load(folder / "checkpoint.pt")
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(saved["optimizer"])
    run.epoch = saved["epoch"]
    return run


def observe(run: SimpleNamespace) -> dict[str, object]:
    """The components by name."""
    batch = next_batch(run)
    return components(run.model, run.optimizer, schedule=run.schedule, step=run.step, batch=batch)
