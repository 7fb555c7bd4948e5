"""A user's audit module: training on Accelerate, resumed as its documentation says."""

import random

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from lastgood.recovery.resuming.adapters import Loop, accelerate

SAMPLES, BATCH, FEATURES = 40, 8, 6  # 5 batches an epoch
WARM_UP, HORIZON = 10, 60


class Noisy(Dataset[tuple[Tensor, Tensor]]):
    """Points of a plane, with a little noise from NumPy at each reading: data augmentation, in small."""

    def __init__(self) -> None:
        self.inputs = torch.randn(SAMPLES, FEATURES, generator=torch.Generator().manual_seed(0))

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        clean = self.inputs[index]
        return clean + self.noise(index), clean.sum(0, keepdim=True)

    def noise(self, index: int) -> Tensor:
        return torch.from_numpy(np.random.normal(0, 0.1, FEATURES)).float()


def network() -> nn.Module:
    return nn.Sequential(
        nn.Linear(FEATURES, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1)
    )


def schedule_of(optimizer: torch.optim.Optimizer) -> torch.optim.lr_scheduler.LRScheduler:
    """Warm-up, then a cosine down to the horizon."""
    warm_up = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=WARM_UP)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=HORIZON - WARM_UP)
    return torch.optim.lr_scheduler.SequentialLR(optimizer, [warm_up, cosine], [WARM_UP])


def loss_of(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    inputs, targets = batch
    return nn.functional.mse_loss(model(inputs), targets)


def seed(number: int) -> None:
    random.seed(number)
    np.random.seed(number)
    torch.manual_seed(number)


def loop_of(accelerator: Accelerator, loader: DataLoader[tuple[Tensor, Tensor]]) -> Loop:
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    model, optimizer, loader, scheduler = accelerator.prepare(
        model, optimizer, loader, schedule_of(optimizer)
    )
    return Loop(
        accelerator=accelerator,
        model=model,
        optimizer=optimizer,
        loader=loader,
        scheduler=scheduler,
        loss=loss_of,
    )


def build() -> Loop:
    seed(1)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    return loop_of(accelerator, DataLoader(Noisy(), batch_size=BATCH, shuffle=True))


make, advance, save, resume, observe = accelerate(build)
