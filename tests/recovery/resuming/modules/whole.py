"""A training script with its five functions, as a user would write them: everything is saved."""

import random
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from torch import nn

from lastgood.recovery.resuming.observing import components

EXAMPLES, BATCH = 22, 4


def build(seed: int) -> SimpleNamespace:
    torch.set_num_threads(1)
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(6, 16), nn.Dropout(0.3), nn.BatchNorm1d(16), nn.Linear(16, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=40)
    order = torch.randperm(EXAMPLES).tolist()
    return SimpleNamespace(
        model=model, optimizer=optimizer, schedule=schedule, step=0, epoch=0, cursor=0, order=order
    )


def batch(run: SimpleNamespace) -> torch.Tensor:
    numbers = run.order[run.cursor : run.cursor + BATCH]
    return torch.stack([torch.sin(torch.arange(6.0) * (n + 1)) for n in numbers])


def make() -> SimpleNamespace:
    return build(1)


def step(run: SimpleNamespace) -> torch.Tensor:
    x = batch(run) + 0.1 * random.random() + 0.1 * float(np.random.rand())
    loss = ((run.model(x) - x.sum(1, keepdim=True)) ** 2).mean()
    run.optimizer.zero_grad()
    loss.backward()
    run.optimizer.step()
    run.schedule.step()
    run.step += 1
    run.cursor += BATCH
    if run.cursor >= EXAMPLES - 1:
        run.epoch, run.cursor, run.order = run.epoch + 1, 0, torch.randperm(EXAMPLES).tolist()
    return loss


def advance(run: SimpleNamespace, steps: int) -> list[torch.Tensor]:
    return [step(run) for _ in range(steps)]


def state(run: SimpleNamespace) -> dict[str, object]:
    _, keys, position, has_gauss, gauss = np.random.get_state()
    return {
        "model": run.model.state_dict(),
        "optimizer": run.optimizer.state_dict(),
        "schedule": run.schedule.state_dict(),
        "step": run.step,
        "loader": {"epoch": run.epoch, "cursor": run.cursor, "order": run.order},
        "rng": {
            "python": random.getstate(),
            "numpy": [keys.tolist(), position, has_gauss, gauss],
            "torch": torch.get_rng_state(),
        },
    }


def put(run: SimpleNamespace, saved: dict) -> None:
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(saved["optimizer"])
    run.schedule.load_state_dict(saved["schedule"])
    run.step = saved["step"]
    run.epoch, run.cursor, run.order = (saved["loader"][key] for key in ("epoch", "cursor", "order"))
    random.setstate(saved["rng"]["python"])
    np.random.set_state(("MT19937", *saved["rng"]["numpy"]))
    torch.set_rng_state(saved["rng"]["torch"])


def save(run: SimpleNamespace, folder: Path) -> None:
    torch.save(state(run), folder / "run.pt")


def resume(folder: Path) -> SimpleNamespace:
    run = build(2)
    put(run, torch.load(folder / "run.pt"))
    return run


def observe(run: SimpleNamespace) -> dict:
    return components(run.model, run.optimizer, schedule=run.schedule, step=run.step, batch=batch(run))
