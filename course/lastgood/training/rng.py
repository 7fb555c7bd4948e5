"""Every random number generator that a run draws from: Python's, NumPy's, torch's on the CPU and on each GPU.

States are plain numbers and tensors, so that `torch.load(weights_only=True)` takes them back: NumPy's own
state holds an array, which it refuses.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch

PYTHON, NUMPY, TORCH, CUDA = "python", "numpy", "torch", "cuda"


class RNGError(ValueError):
    """A state that is not one of these generators'."""


def seed_everything(seed: int) -> None:
    """Seed Python's, NumPy's and torch's global generators, the GPUs' included."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


def capture_rng() -> dict[str, Any]:
    """The state of every global generator, as copies."""
    version, words, gauss = random.getstate()
    kind, keys, position, has_gauss, cached = np.random.get_state()
    return {
        PYTHON: {"version": version, "words": list(words), "gauss": gauss},
        NUMPY: {
            "kind": str(kind),
            "keys": torch.from_numpy(np.asarray(keys).astype(np.int64)),
            "position": int(position),
            "has_gauss": int(has_gauss),
            "cached_gaussian": float(cached),
        },
        TORCH: torch.get_rng_state(),
        CUDA: list(torch.cuda.get_rng_state_all()) if torch.cuda.is_available() else [],
    }


def restore_rng(state: dict[str, Any]) -> None:
    """Put every generator back. Checks all of them before it touches one.

    Raises RNGError naming the generator whose state is missing or does not fit, and where the state holds a
    different number of CUDA devices than this machine has.
    """
    python, numpy = _checked(state)
    random.setstate(python)
    np.random.set_state(numpy)
    torch.set_rng_state(state[TORCH])
    if state[CUDA]:
        torch.cuda.set_rng_state_all(state[CUDA])


def check_rng(state: dict[str, Any]) -> None:
    """Raise RNGError unless `restore_rng` would take this state. Touches no generator."""
    _checked(state)


def _checked(state: dict[str, Any]) -> tuple[Any, Any]:
    if not isinstance(state, dict) or set(state) != {PYTHON, NUMPY, TORCH, CUDA}:
        found = sorted(state) if isinstance(state, dict) else type(state).__name__
        raise RNGError(f"an RNG state has the keys {[PYTHON, NUMPY, TORCH, CUDA]}, not {found}")
    devices = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if state[CUDA] and len(state[CUDA]) != devices:
        raise RNGError(f"the state has {len(state[CUDA])} CUDA generators, this machine {devices}")
    try:
        python = (state[PYTHON]["version"], tuple(state[PYTHON]["words"]), state[PYTHON]["gauss"])
        random.Random().setstate(python)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise RNGError(f"Python's generator does not take its state: {error!r}") from error
    try:
        part = state[NUMPY]
        keys = part["keys"].numpy().astype(np.uint32)
        numpy = (part["kind"], keys, part["position"], part["has_gauss"], part["cached_gaussian"])
        np.random.RandomState().set_state(numpy)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RNGError(f"NumPy's generator does not take its state: {error!r}") from error
    try:
        torch.Generator().set_state(state[TORCH])
    except (TypeError, RuntimeError) as error:
        raise RNGError(f"torch's generator does not take its state: {error!r}") from error
    return python, numpy
