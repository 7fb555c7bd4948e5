"""A user's audit module: Hugging Face's Trainer, on data that draws random numbers as it is read."""

from functools import partial

from trainer_run import build

from lastgood.recovery.resuming.adapters import trainer

make, advance, save, resume, observe = trainer(partial(build, noisy=True))
