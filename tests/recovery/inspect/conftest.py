"""Checkpoints of several makers, small: see benchmarks/checkpoints.py."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import checkpoints


@pytest.fixture(scope="session")
def trained() -> SimpleNamespace:
    """A model with buffers, its AdamW and a schedule, some steps old."""
    return checkpoints.trained()


@pytest.fixture
def made(trained: SimpleNamespace, tmp_path: Path) -> Callable[..., Path]:
    """Write a checkpoint of a maker; return its path."""

    def made(maker: str, **settings: Any) -> Path:
        path = tmp_path / f"{maker}.made"
        checkpoints.MAKERS[maker](trained, path, **settings)
        return path

    return made
