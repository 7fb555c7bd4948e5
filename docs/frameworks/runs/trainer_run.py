"""A user's audit module: training with Hugging Face's Trainer, which saves as it does by default."""

import random
import tempfile
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments

from lastgood.recovery.resuming.adapters import trainer

SAMPLES, BATCH, ACCUMULATED, FEATURES = 40, 2, 2, 8  # 10 steps an epoch
EPOCHS, WARM_UP = 4, 10


class Points(Dataset[dict[str, Tensor]]):
    """Points, and on which side of a plane each of them lies."""

    def __init__(self, noisy: bool) -> None:
        self.inputs = torch.randn(SAMPLES, FEATURES, generator=torch.Generator().manual_seed(0))
        self.noisy = noisy  # at each reading another one, from Python's and NumPy's global generators

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        point = self.inputs[index]
        side = (point.sum() > 0).long()
        if self.noisy:
            noise = torch.from_numpy(np.random.normal(0, 0.1, FEATURES)).float()
            point = point * random.uniform(0.9, 1.1) + noise
        return {"point": point, "labels": side}


class Net(nn.Module):
    """Two layers, with batch statistics and dropout between them."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(FEATURES, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 2)
        )

    def forward(self, point: Tensor, labels: Tensor) -> dict[str, Tensor]:
        logits = self.layers(point)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


def build(noisy: bool = False, **changed: Any) -> Trainer:
    """The run as the training script builds it; with other arguments for Trainer, where a test wants them."""
    settings: dict[str, Any] = {
        "output_dir": tempfile.mkdtemp(),
        "num_train_epochs": EPOCHS,
        "per_device_train_batch_size": BATCH,
        "gradient_accumulation_steps": ACCUMULATED,
        "learning_rate": 0.01,
        "lr_scheduler_type": "cosine",
        "warmup_steps": WARM_UP,
        "use_cpu": True,
        "seed": 3,
    }
    args = TrainingArguments(**settings | changed)
    torch.manual_seed(3)
    return Trainer(model=Net(), args=args, train_dataset=Points(noisy))


make, advance, save, resume, observe = trainer(build)
