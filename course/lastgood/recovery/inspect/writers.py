"""What wrote a checkpoint, and the sign that says so."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from lastgood.recovery.inspect.folders import Gathered
from lastgood.recovery.inspect.opening import plain
from lastgood.recovery.inspect.recognise import is_optimizer, is_state_dict
from lastgood.recovery.inspect.values import Made, Table, Tensor

LASTGOOD, TRAINER, ACCELERATE = "lastgood", "Hugging Face Trainer", "Hugging Face Accelerate"
LIGHTNING, NANOGPT, DCP = "Lightning", "nanoGPT", "torch.distributed.checkpoint"
RANDOM_STATES = "random_states_"  # how Accelerate's file of each rank begins
_BY_KEYS = (
    (LIGHTNING, ("pytorch-lightning_version",)),
    (LIGHTNING, ("state_dict", "optimizer_states", "lr_schedulers")),
    (NANOGPT, ("model", "optimizer", "model_args", "iter_num")),
    ("DeepSpeed", ("ds_version",)),
    ("DeepSpeed", ("ds_config",)),
    ("Megatron-LM", ("args", "checkpoint_version", "iteration")),
)
_SHOWN = 6


@dataclass(frozen=True)
class Writer:
    """A name, and why it is this one."""

    name: str
    because: str


def writer_of(found: Gathered) -> Writer:
    """What wrote these files, as far as they say."""
    names = set(found.names)
    if found.ours:
        return Writer(LASTGOOD, "state.pt with a manifest.json beside it")
    if "trainer_state.json" in names:
        return Writer(TRAINER, "trainer_state.json stands in the folder")
    if random_states := sorted(name for name in names if name.startswith(RANDOM_STATES)):
        return Writer(ACCELERATE, f"{plain(random_states[0])} stands in the folder")
    for part in found.parts:
        for name, keys in _BY_KEYS:
            if isinstance(part.value, Table) and set(keys) <= part.value.names():
                return Writer(name, f"the keys {', '.join(keys)}" if len(keys) > 1 else f"the key {keys[0]}")
        if part.format == DCP:
            return Writer(DCP, "a .metadata file, written by its file writer")
    return _plain_writer(found)


def _plain_writer(found: Gathered) -> Writer:
    part = found.parts[0]
    if part.format == "safetensors":
        return Writer("safetensors", "a JSON header with each tensor's place")
    if part.format.startswith("torch.save"):
        return Writer("torch.save", f"{_how(part.format)}, {_what(part.value)}")
    return Writer(part.format, f"its first bytes; {_what(part.value)}")


def _how(form: str) -> str:
    return "a zip archive with data.pkl" if form.endswith("zip") else "the stream of before torch 1.6"


def _what(value: object) -> str:
    if is_optimizer(value):
        return "an optimizer's state"
    if is_state_dict(value):
        return "a dict of tensors"
    if isinstance(value, Table):
        names = heapq.nsmallest(_SHOWN + 1, value.names())  # there may be a million
        more = ", …" if len(names) > _SHOWN else ""
        return f"a dict with the keys {', '.join(plain(name, 30) for name in names[:_SHOWN])}{more}"
    if isinstance(value, Tensor):
        return "one tensor"
    if isinstance(value, Made):
        return f"an object of {plain(value.named(), 60) or 'an unknown class'}"
    return f"a {type(value).__name__}"
