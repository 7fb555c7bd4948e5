"""A user's audit module: Accelerate, with data of which nothing has to be saved but the count of batches."""

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration
from accelerate_run import BATCH, FEATURES, Noisy, loop_of, seed
from torch import Tensor
from torch.utils.data import DataLoader

from lastgood.recovery.resuming.adapters import Loop, accelerate


class Steady(Noisy):
    """The same noise for the same sample: Accelerate reads a batch ahead of what it trains on."""

    def noise(self, index: int) -> Tensor:
        return torch.from_numpy(np.random.default_rng(index).normal(0, 0.1, FEATURES)).float()


def build(steady: bool = True, seedable: bool = True, told: bool = True, own: bool = True) -> Loop:
    """All four measures are needed: a test leaves each of them out."""
    seed(1)
    # An epoch's order follows from a seed and the epoch's number …
    by_epoch = DataLoaderConfiguration(use_seedable_sampler=seedable)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2, dataloader_config=by_epoch)
    # A loader draws a number each time it begins: not from torch's global generator, if it has its own.
    generator = torch.Generator().manual_seed(2) if own else None
    data = Steady() if steady else Noisy()
    loop = loop_of(accelerator, DataLoader(data, batch_size=BATCH, shuffle=True, generator=generator))
    if told:  # … which a resumed loader has to be told.
        loop.begin_epoch = loop.loader.set_epoch
    return loop


make, advance, save, resume, observe = accelerate(build)
