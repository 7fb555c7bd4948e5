"""Checkpoints of several makers, small: what the tests of `lastgood inspect` read and its fuzzing damages.

Written by the real thing: torch.save, safetensors, torch.distributed.checkpoint, this course. Written by hand
after the documented layout, and named `by_hand`: Trainer, Accelerate, Lightning, nanoGPT.
"""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn

from lastgood.recovery.checkpoint import write

STEPS, HORIZON = 3, 100


def trained() -> SimpleNamespace:
    """A model with buffers, its AdamW and a schedule, some steps old."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=HORIZON)
    for _ in range(STEPS):
        model(torch.randn(5, 4)).sum().backward()
        optimizer.step()
        schedule.step()
    return SimpleNamespace(model=model, optimizer=optimizer, schedule=schedule)


def scaler() -> dict[str, Any]:
    """What torch.amp.GradScaler("cuda").state_dict() holds where there is a GPU."""
    return {"scale": 65536.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2000,
            "_growth_tracker": 3}  # fmt: skip


def _save_dcp(trained: SimpleNamespace, folder: Path) -> None:
    from torch.distributed.checkpoint.state_dict_saver import save

    state = {
        "model": trained.model.state_dict(),
        "optimizer": trained.optimizer.state_dict(),
        "step": STEPS,
        "rng": torch.get_rng_state(),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that there is no process group, which is what we want
        save(state, checkpoint_id=str(folder), no_dist=True)


def _save_sharded(trained: SimpleNamespace, folder: Path) -> None:
    folder.mkdir()
    items = list(trained.model.state_dict().items())
    weight_map: dict[str, str] = {}
    for number, some in enumerate((items[:4], items[4:]), 1):
        name = f"model-{number:05d}-of-00002.safetensors"
        save_file(dict(some), folder / name)
        weight_map |= {key: name for key, _ in some}
    index = {"metadata": {"total_size": 0}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def trainer_by_hand(trained: SimpleNamespace, folder: Path, ranks: int = 1) -> None:
    """After transformers' Trainer._save_checkpoint and _save_rng_state."""
    folder.mkdir()
    save_file(trained.model.state_dict(), folder / "model.safetensors")
    torch.save(trained.optimizer.state_dict(), folder / "optimizer.pt")
    torch.save({"last_epoch": STEPS, "_step_count": STEPS + 1, "base_lrs": [1e-3]}, folder / "scheduler.pt")
    torch.save(scaler(), folder / "scaler.pt")
    for rank in range(ranks):
        name = "rng_state.pth" if ranks == 1 else f"rng_state_{rank}.pth"
        states = {
            "python": random.getstate(),
            "numpy": np.random.get_state(),
            "cpu": torch.get_rng_state(),
            "cuda": [torch.zeros(16, dtype=torch.uint8)],
        }
        torch.save(states, folder / name)
    log = [{"loss": 1.0, "step": step} for step in range(9)]
    state = {"epoch": 0.5, "global_step": STEPS, "max_steps": HORIZON, "log_history": log}
    (folder / "trainer_state.json").write_text(json.dumps(state))


def accelerate_by_hand(trained: SimpleNamespace, folder: Path) -> None:
    """After accelerate's save_accelerator_state."""
    folder.mkdir()
    save_file(trained.model.state_dict(), folder / "model.safetensors")
    torch.save(trained.optimizer.state_dict(), folder / "optimizer.bin")
    torch.save(trained.schedule.state_dict(), folder / "scheduler.bin")
    torch.save(scaler(), folder / "scaler.pt")
    torch.save({"_num_yielded": 7, "_iterator_finished": False}, folder / "dl_state_dict.bin")
    states = {
        "step": STEPS,
        "random_state": random.getstate(),
        "numpy_random_seed": np.random.get_state(),
        "torch_manual_seed": torch.get_rng_state(),
        "torch_cuda_manual_seed": [torch.zeros(16, dtype=torch.uint8)],
    }
    torch.save(states, folder / "random_states_0.pkl")


class Monitor:
    """Stands for a class that a Lightning callback brings along."""

    def __init__(self) -> None:
        self.best = torch.zeros(())


def lightning_by_hand(trained: SimpleNamespace, path: Path) -> None:
    """After Lightning's dump_checkpoint."""
    progress = {"total": {"ready": 9, "completed": 9}, "current": {"ready": STEPS, "completed": STEPS}}
    torch.save({
        "epoch": 0,
        "global_step": STEPS,
        "pytorch-lightning_version": "2.5.0",
        "state_dict": trained.model.state_dict(),
        "loops": {"fit_loop": {"epoch_loop.batch_progress": progress, "state_dict": {}}},
        "callbacks": {"ModelCheckpoint": {"best_model_score": torch.ones(()), "monitor": Monitor()}},
        "optimizer_states": [trained.optimizer.state_dict()],
        "lr_schedulers": [trained.schedule.state_dict()],
        "MixedPrecision": scaler(),
        "hparams_name": "kwargs",
        "hyper_parameters": {"lr": 1e-3},
    }, path)  # fmt: skip


def nanogpt_by_hand(trained: SimpleNamespace, path: Path) -> None:
    """After nanoGPT's train.py."""
    torch.save({
        "model": trained.model.state_dict(),
        "optimizer": trained.optimizer.state_dict(),
        "model_args": {"n_layer": 2},
        "iter_num": STEPS,
        "best_val_loss": torch.ones(()),
        "config": {"lr_decay_iters": HORIZON, "max_iters": HORIZON, "decay_lr": True},
    }, path)  # fmt: skip


def _save_ours(trained: SimpleNamespace, folder: Path) -> None:
    from lastgood.training.rng import capture_rng

    state = {
        "model": trained.model.state_dict(),
        "optimizer": trained.optimizer.state_dict(),
        "step": STEPS,
        "schedule": {"peak": 1e-3, "warmup": 2, "horizon": HORIZON, "floor": 0.0},
        "loader": {"seed": 1, "epoch": 0, "cursor": 24},
        "rng": capture_rng(),
    }
    write(folder, state, step=STEPS)


def _both(trained: SimpleNamespace) -> dict[str, Any]:
    return {"model": trained.model.state_dict(), "optimizer": trained.optimizer.state_dict(), "epoch": 1}


MAKERS: dict[str, Callable[[SimpleNamespace, Path], Any]] = {
    "both": lambda trained, path: torch.save(_both(trained), path),
    "weights": lambda trained, path: torch.save(trained.model.state_dict(), path),
    "module": lambda trained, path: torch.save(trained.model, path),
    "legacy": lambda trained, path: torch.save(_both(trained), path, _use_new_zipfile_serialization=False),
    "safetensors": lambda trained, path: save_file(trained.model.state_dict(), path),
    "sharded": _save_sharded,
    "dcp": _save_dcp,
    "ours": _save_ours,
    "trainer": trainer_by_hand,
    "accelerate": accelerate_by_hand,
    "lightning": lightning_by_hand,
    "nanogpt": nanogpt_by_hand,
}
