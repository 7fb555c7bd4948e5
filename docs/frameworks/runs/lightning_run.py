"""A user's audit module: training with Lightning's defaults."""

import random

import lightning as L
import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from lastgood.recovery.resuming.adapters import lightning

SAMPLES, BATCH, FEATURES = 40, 8, 6  # 5 batches an epoch
WARM_UP, HORIZON = 10, 60


class Noisy(Dataset[tuple[Tensor, Tensor]]):
    """Points of a plane, at each reading with noise from NumPy, and turned around by Python's random."""

    def __init__(self) -> None:
        self.inputs = torch.randn(SAMPLES, FEATURES, generator=torch.Generator().manual_seed(0))

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        clean = self.inputs[index] * random.choice((-1, 1))
        noise = torch.from_numpy(np.random.normal(0, 0.1, FEATURES)).float()
        return clean + noise, clean.sum(0, keepdim=True)


class Network(L.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(FEATURES, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1)
        )

    def training_step(self, batch: tuple[Tensor, Tensor], index: int) -> Tensor:
        inputs, targets = batch
        return nn.functional.mse_loss(self.layers(inputs), targets)

    def configure_optimizers(self) -> dict:
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-2)
        warm_up = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=WARM_UP)
        cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=HORIZON - WARM_UP)
        schedule = torch.optim.lr_scheduler.SequentialLR(optimizer, [warm_up, cosine], [WARM_UP])
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


def seed(number: int) -> None:
    L.seed_everything(number, verbose=False)  # Python's, NumPy's and torch's


def trainer_of(**settings: object) -> L.Trainer:
    return L.Trainer(accelerator="cpu", max_steps=HORIZON, accumulate_grad_batches=2, **settings)


def build() -> tuple[L.Trainer, L.LightningModule, object]:
    seed(1)
    return trainer_of(), Network(), DataLoader(Noisy(), batch_size=BATCH, shuffle=True)


make, advance, save, resume, observe = lightning(build)
