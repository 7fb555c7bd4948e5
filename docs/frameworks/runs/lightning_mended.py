"""A user's audit module: Lightning, told what it does not save by itself."""

from collections.abc import Iterator
from typing import Any

import lightning as L
import torch
from lightning_run import BATCH, SAMPLES, Network, Noisy, seed, trainer_of
from torch.utils.data import default_collate

from lastgood.recovery.resuming.adapters import lightning
from lastgood.training.rng import capture_rng, restore_rng


class Resumable:
    """A loader with a state, which is how many batches it has given."""

    def __init__(self, data: Noisy) -> None:
        self.data, self.given = data, 0

    def __len__(self) -> int:
        return SAMPLES // BATCH

    def __iter__(self) -> Iterator[Any]:
        epoch, first = divmod(self.given, len(self))
        order = torch.randperm(SAMPLES, generator=torch.Generator().manual_seed(epoch)).split(BATCH)
        for indices in order[first:]:
            self.given += 1
            yield default_collate([self.data[index] for index in indices.tolist()])

    def state_dict(self) -> dict[str, int]:
        return {"given": self.given}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.given = state["given"]


class KeepRNG(L.Callback):
    """Global generators go into the checkpoint, and come back when all that draws from them is set up."""

    state: dict[str, Any] | None = None

    def on_save_checkpoint(self, trainer: Any, module: Any, checkpoint: dict[str, Any]) -> None:
        checkpoint["rng"] = capture_rng()

    def on_load_checkpoint(self, trainer: Any, module: Any, checkpoint: dict[str, Any]) -> None:
        self.state = checkpoint["rng"]

    def on_train_start(self, trainer: Any, module: Any) -> None:
        if self.state:
            restore_rng(self.state)


def build() -> tuple[L.Trainer, L.LightningModule, Resumable]:
    seed(1)
    return trainer_of(callbacks=[KeepRNG()]), Network(), Resumable(Noisy())


make, advance, save, resume, observe = lightning(build)
