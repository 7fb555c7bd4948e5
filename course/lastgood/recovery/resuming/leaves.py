"""A run's observation in a form that two processes can compare: each value by its place, tensors as digests.

A digest says all that an exact comparison asks, whatever the size of the model, and needs no copy of it.
torch is not imported: where it has not been, no value is a tensor.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lastgood.recovery.resuming.comparing import CONTAINER, PLAIN, TENSOR, Leaf, Leaves

if TYPE_CHECKING:
    from torch import Tensor

LEVELS = 50
_SHOWN = 60  # characters of a value
_PLAIN = (bool, int, float, complex, str, bytes, np.generic)


class ObservationError(TypeError):
    """A value that is neither a tensor nor plain data."""


def observed(observation: Any) -> dict[str, Leaves]:
    """The leaves of each component.

    Raises ObservationError for what is no dict of components, and naming the place of what is not comparable.
    """
    if not isinstance(observation, Mapping) or not all(isinstance(name, str) for name in observation):
        raise ObservationError(
            f"observe returned a {type(observation).__name__}: give a dict, component names to tensors and "
            "plain data"
        )
    return {name: dict(_leaves(part, "", name)) for name, part in observation.items()}


def _leaves(value: Any, path: str, component: str, level: int = 0) -> Iterator[tuple[str, Leaf]]:
    if level > LEVELS:
        raise ObservationError(f"{component}: more than {LEVELS} levels at {path}. Does it hold itself?")
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        yield path, _tensor(value)
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        yield path, _array(value)
    elif isinstance(value, Mapping | list | tuple):
        # A file may turn tuples into lists: training does not see that.
        kind = "dict" if isinstance(value, Mapping) else "list"
        yield path, [CONTAINER, kind, f"a {kind} of {len(value)}"]
        if _numbers(value):
            yield _below(path, "entries"), _plain(value)
            return
        for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _leaves(item, _below(path, str(key)), component, level + 1)
    elif value is None or isinstance(value, _PLAIN) or (torch is not None and isinstance(value, torch.dtype)):
        yield path, _plain(value)
    else:
        where = f"{component}.{path}" if path else component
        raise ObservationError(
            f"observe returned a {type(value).__name__} at {where}: give tensors, numbers, strings, lists "
            "and dicts"
        )


def _below(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _numbers(value: Any) -> bool:
    """Whether a list is one of numbers alone, such as a generator's 624: one leaf is enough for them all."""
    return isinstance(value, list | tuple) and len(value) > 8 and all(type(item) is int for item in value)


def _tensor(value: Tensor) -> Leaf:
    import torch

    dense = value.detach() if value.layout == torch.strided else value.detach().to_dense()
    whole = dense.cpu().contiguous().reshape(-1)
    return _leaf(str(value.dtype), list(value.shape), whole.view(torch.uint8).numpy(), whole[:1].tolist())


def _array(value: np.ndarray) -> Leaf:
    flat = np.ascontiguousarray(value).reshape(-1)
    return _leaf(str(value.dtype), list(value.shape), flat.view(np.uint8), flat[:1].tolist())


def _leaf(dtype: str, shape: list[int], data: np.ndarray, first: list[Any]) -> Leaf:
    digest = hashlib.sha256(data.data).hexdigest()
    return [TENSOR, dtype, shape, digest, repr(first[0]) if first else ""]


def _plain(value: Any) -> Leaf:
    text = value.hex() if isinstance(value, bytes) else repr(value)
    if len(text) > _SHOWN:
        digest = hashlib.sha256(text.encode()).hexdigest()
        text = f"{text[: _SHOWN - 20]}… (SHA-256 {digest[:16]})"
    return [PLAIN, type(value).__name__, text]
