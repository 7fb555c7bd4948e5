"""Plain data: what a checkpoint may hold, checked when it is written.

`torch.load(weights_only=True)` refuses some of what `torch.save` accepts. Who meets that when saving can mend
it; who meets it after a failure has lost the run.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

import torch

from lastgood.recovery.checkpoint.manifest import CheckpointError

_KINDS = "dict, list, tuple, dense torch.Tensor, int, float, bool, str or None"
# Longer integers take a pickle instruction that weights_only loading does not know.
_MAX_INT_BITS = 255 * 8 - 1


def to_plain(state: Any, path: Path) -> dict[str, Any]:
    """Return a copy of `state` for saving: same structure, tensors detached but sharing their memory.

    Allowed are dict with str or int keys (str alone at the top), list, tuple, dense Tensor, int, float, bool,
    str and None, of exactly these types: np.float64 is a float by inheritance, yet a file that holds one does
    not load safely. Two relatives are taken as their plain kind: OrderedDict as dict, Parameter as Tensor.
    bytes are refused, since pickle writes b"" as a call; a uint8 tensor holds them.

    Raises CheckpointError, for the checkpoint `path`, naming the key path of the first value refused.
    """
    if type(state) not in (dict, OrderedDict):
        raise CheckpointError(path, f"the state is a {_kind(state)}", "Pass a dict with str keys.")
    if numbers := [key for key in state if type(key) is int]:
        raise CheckpointError(path, f"the state has the key {numbers[0]!r}", "Use str keys at the top.")
    try:
        plain: dict[str, Any] = _copy(state, "state", path)
    except RecursionError as error:
        cause = "the state contains itself, or is nested too deeply"
        raise CheckpointError(path, cause, "Flatten it: a few dicts deep will do.") from error
    return plain


def snapshot(plain: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of `plain`, which `to_plain` made, that shares no memory with it: tensors on the CPU.

    Each storage is copied once and whole, as `torch.save` writes it: what shares memory still does.
    """
    copies: dict[tuple[torch.device, int, int], torch.UntypedStorage] = {}

    def copy(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: copy(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(copy(item) for item in value)
        return memory(value) if isinstance(value, torch.Tensor) else value

    def memory(tensor: torch.Tensor) -> torch.Tensor:
        tensor = tensor.resolve_conj().resolve_neg()  # lazy views, which a new tensor on the storage is not
        storage = tensor.untyped_storage()
        key = (storage.device, storage.data_ptr(), storage.nbytes())
        if key not in copies:
            clone = storage.clone if storage.device.type == "cpu" else storage.cpu
            copies[key] = clone()  # type: ignore[no-untyped-call]  # torch
        empty = torch.empty(0, dtype=tensor.dtype)
        return empty.set_(copies[key], tensor.storage_offset(), tensor.size(), tensor.stride())

    copied: dict[str, Any] = copy(plain)
    return copied


def _copy(value: Any, where: str, path: Path) -> Any:
    kind = type(value)
    if kind in (dict, OrderedDict):
        for key in value:
            if type(key) not in (str, int):
                raise CheckpointError(path, f"{where} has the key {key!r}", "Use str or int keys.")
        return {key: _copy(item, f"{where}[{key!r}]", path) for key, item in value.items()}
    if kind in (list, tuple):
        return kind(_copy(item, f"{where}[{index}]", path) for index, item in enumerate(value))
    if kind in (torch.Tensor, torch.nn.Parameter):
        return _dense(value, where, path)
    if kind in (float, bool, str, type(None)):
        return value
    if kind is int and value.bit_length() <= _MAX_INT_BITS:
        return value
    if kind is int:
        raise CheckpointError(path, f"{where} is an int of {value.bit_length()} bits", "Store a str.")
    raise CheckpointError(path, f"{where} is a {_kind(value)}, which loading would refuse", _remedy(value))


def _dense(tensor: torch.Tensor, where: str, path: Path) -> torch.Tensor:
    if tensor.is_nested or tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_meta:
        cause = f"{where} is a sparse, quantized, nested or meta tensor"
        raise CheckpointError(path, cause, "Store dense tensors.")
    # Attributes and hooks of a tensor would be pickled with it. Views of one storage stay views of one.
    return tensor.detach()


def _kind(value: Any) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _remedy(value: Any) -> str:
    if type(value).__module__ == "numpy":
        return "Store torch.from_numpy(array) or array.tolist(), or .item() of a NumPy number."
    if isinstance(value, (bytes, bytearray)):
        return "Store torch.tensor(list(data), dtype=torch.uint8)."
    if callable(getattr(value, "state_dict", None)):
        return "Store its state_dict()."
    return f"Store plain data: {_KINDS}."
