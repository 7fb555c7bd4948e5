"""What a value is by its form: a generator's state, an optimizer's, a schedule's, a loss scaler's."""

from __future__ import annotations

import itertools
from typing import Any

from lastgood.recovery.inspect.tensors import array_of
from lastgood.recovery.inspect.values import Made, Raw, Table, Tensor

PLAIN = (str, int, float, type(None))  # not written `str | …`: that is made anew for each of 200,000 objects
_ROWS = (tuple, list)
PYTHON, NUMPY, TORCH, CUDA = "Python", "NumPy", "torch", "CUDA"
_MERSENNE_WORDS = 625  # Python's random: 624 words and a position
_TORCH_CPU_BYTES = 5056  # torch.get_rng_state(), a Mersenne Twister
OBJECTS = 200_000  # that a survey looks at
_CHILDREN = OBJECTS + 1  # of a value: it says then that there was more
_CUDA_BYTES = 16  # torch.cuda.get_rng_state(), a seed and an offset
_BIT_GENERATORS = frozenset({"MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"})


def generator(value: Any, hinted: bool, on_gpu: bool) -> str | None:
    """Whose state this is. `hinted`: the names around it speak of random numbers, `on_gpu`: of GPUs."""
    if isinstance(value, _ROWS):
        return _in_row(value)
    if isinstance(value, Table):
        return _in_table(value)
    if isinstance(value, Tensor) and value.dtype == "uint8" and len(value.shape) == 1:
        if value.shape[0] == _TORCH_CPU_BYTES:
            return TORCH
        if hinted and (value.shape[0] == _CUDA_BYTES or on_gpu):
            return CUDA
    return None


def _in_row(value: tuple[Any, ...] | list[Any]) -> str | None:
    if len(value) == 3 and type(value[0]) is int and isinstance(value[1], tuple | list):
        return PYTHON if len(value[1]) == _MERSENNE_WORDS else None
    if len(value) == 5 and type(value[0]) is str and value[0] in _BIT_GENERATORS:
        return NUMPY
    # As weights_only takes it: without the generator's name, its array as a list.
    if len(value) == 4 and isinstance(value[0], tuple | list) and len(value[0]) == _MERSENNE_WORDS - 1:
        return NUMPY
    return None


def _in_table(value: Table) -> str | None:
    names = value.names()
    words = value.get("words") if "words" in names else None
    if isinstance(words, tuple | list) and len(words) == _MERSENNE_WORDS:
        return PYTHON
    kind = value.get("bit_generator") or value.get("kind")
    return NUMPY if type(kind) is str and kind in _BIT_GENERATORS else None


def is_optimizer(value: Any) -> bool:
    """The state dict of a torch optimizer."""
    return isinstance(value, Table) and {"state", "param_groups"} <= value.names()


def is_schedule(value: Any) -> bool:
    """The state dict of a torch scheduler."""
    return isinstance(value, Table) and "last_epoch" in value.names()


def is_scaler(value: Any) -> bool:
    """The state dict of torch's loss scaler, or of DeepSpeed's."""
    if not isinstance(value, Table):
        return False
    names = value.names()
    return {"scale", "growth_factor"} <= names or {"cur_scale", "scale_factor"} <= names


def is_state_dict(value: Any) -> bool:
    """A dict of tensors by name, and of nothing else."""
    if not isinstance(value, Table) or not value.pairs:
        return False
    tensors = sum(1 for key, item in value.pairs if type(key) is str and isinstance(item, Tensor))
    return tensors == len(value.pairs)


def number(value: Any) -> int | float | None:
    """A plain number, None for anything else."""
    return value if type(value) in (int, float) else None


def children(value: Any) -> list[tuple[str, Any]]:
    """What stands in a value, by name."""
    if isinstance(value, Table):
        return [(_key(key), item) for key, item in value.pairs[:_CHILDREN]]
    if isinstance(value, _ROWS):
        # Numbers in a row say nothing by themselves, and there may be very many.
        said = ((str(index), item) for index, item in enumerate(value) if not isinstance(item, PLAIN))
        return list(itertools.islice(said, _CHILDREN))
    if isinstance(value, Made) and not array_of(value):
        inner = [(_key(key), item) for key, item in value.pairs]
        inner += [(str(index), item) for index, item in enumerate(value.items)]
        state = value.state
        if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], Table):
            state = state[1]  # an object with __slots__
        return inner + (children(state) if isinstance(state, Table) else [])
    return []


def _key(key: Any) -> str:
    if isinstance(key, PLAIN) and key is not None:
        return str(key)
    return "(bytes)" if isinstance(key, bytes | Raw) else "(an object)"
