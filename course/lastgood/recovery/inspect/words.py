"""The words that names in checkpoints are made of, and what they say."""

from __future__ import annotations

import functools
import re

EMA = frozenset({"ema", "shadow", "averaged", "swa"})
OPTIMIZER = frozenset({"optimizer", "optimizers", "optim", "optims", "opt"})
SCHEDULE = frozenset({"scheduler", "schedulers", "schedule", "sched", "lrscheduler"})
SCALER = frozenset({"scaler", "gradscaler", "scaling"})
LOADER = frozenset({"loader", "loaders", "dataloader", "dataloaders", "sampler", "samplers", "dl"})
RNG = frozenset({"rng", "random", "seed", "generator"})
ASIDE = frozenset({"callbacks", "loops", "hparams", "hyper_parameters", "metrics", "log_history"})
CUDA = frozenset({"cuda", "gpu"})

STEPS = ("global_step", "step", "iter_num", "iteration", "global_steps", "steps", "num_steps", "step_count",
         "n_steps", "current_step", "num_updates", "iter", "iterations", "optimizer_step")  # fmt: skip
HORIZONS = frozenset({
    "t_max", "total_steps", "total_iters", "max_steps", "max_iters", "num_training_steps", "horizon",
    "lr_decay_iters", "lr_decay_steps", "train_iters", "total_num_steps", "max_train_steps", "t_total",
})  # fmt: skip
# Of the data, where a script keeps its own count of them, beside the step.
POSITIONS = frozenset({
    "pos", "cursor", "offset", "data_pos", "data_position", "data_offset", "batch_idx", "batch_index",
    "batches_seen", "sample_idx", "samples_seen", "num_samples_seen", "examples_seen", "tokens_seen",
})  # fmt: skip
BUFFERS = ("running_mean", "running_var", "num_batches_tracked", "inv_freq", "position_ids", "causal_mask")

_CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_APART = re.compile(r"[^A-Za-z0-9]+")


@functools.lru_cache(maxsize=4096)
def words_of(name: str) -> frozenset[str]:
    """The words of a key or a file's name: `lr_schedulers` has two, `GradScaler` too."""
    pieces = _APART.split(_CAPITALS.sub(" ", name[:200]))
    return frozenset(piece.lower() for piece in pieces if piece) | {name[:200].lower()}
