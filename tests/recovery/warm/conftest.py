"""What the tests of the warm server share: one that runs, and a look at the processes of this machine."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from lastgood.recovery.warm import WarmServer

PATIENCE = 10.0  # seconds, reached by a failing test only


@pytest.fixture(scope="session")
def env() -> Mapping[str, str]:
    """An environment in which workers find `warm_targets`."""
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path}


@pytest.fixture(scope="session")
def server(env: Mapping[str, str]) -> Iterator[WarmServer]:
    with WarmServer(preload=("torch",), env=env) as server:
        yield server


@pytest.fixture(scope="session")
def eventually() -> Callable[[Callable[[], bool]], bool]:
    """Wait until a condition holds; return whether it came to that."""

    def eventually(condition: Callable[[], bool]) -> bool:
        deadline, pause = time.monotonic() + PATIENCE, threading.Event()
        while not condition():
            if time.monotonic() > deadline:
                return False
            pause.wait(0.01)
        return True

    return eventually
