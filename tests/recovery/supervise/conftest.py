"""What the tests of `supervise` share: a small run, a learner's functions for it, and a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lastgood.recovery.faults import Fault
from lastgood.recovery.learner import bundle
from lastgood.recovery.supervise import Event, Outcome, Patience, supervise
from lastgood.recovery.warm import WarmServer
from lastgood.training.logbook import CHARACTERS
from lastgood.training.model import GPTConfig
from lastgood.training.run import RunConfig
from lastgood.training.schedule import Schedule

EPOCH, WARMUP, HORIZON = 16, 20, 70
SMALL = RunConfig(
    model=GPTConfig(len(CHARACTERS), block_size=16, n_layer=1, n_head=2, n_embd=16),
    schedule=Schedule(peak=5e-3, warmup=WARMUP, horizon=HORIZON, floor=5e-4),
    batch_size=4,
    train_chars=16 * (4 * EPOCH - 2),  # the last batch of an epoch is smaller
    heldout_chars=64,
)

COMPLETE = """
import copy, os, random
from pathlib import Path
import numpy, torch

def capture(run):
    return {
        "model": copy.deepcopy(run.model.state_dict()),
        "adam": copy.deepcopy(run.optimizer.state_dict()),
        "step": run.step,
        "data": run.loader.state_dict(),
        "rng": [random.getstate(), numpy.random.get_state(), torch.get_rng_state()],
    }

def restore(run, state):
    run.model.load_state_dict(state["model"])
    run.optimizer.load_state_dict(state["adam"])
    run.step = state["step"]
    run.loader.load_state_dict(state["data"])
    random.setstate(state["rng"][0])
    numpy.random.set_state(state["rng"][1])
    torch.set_rng_state(state["rng"][2])

def save(state, folder):
    torch.save(state, Path(folder, "new.pt"))
    os.replace(Path(folder, "new.pt"), Path(folder, "last.pt"))

def load(folder):
    return torch.load(Path(folder, "last.pt"), weights_only=False)
"""


@pytest.fixture(scope="session")
def edited() -> Callable[..., str]:
    """The complete functions with each (old, new) edit made; every old text is there exactly once."""

    def edited(*edits: tuple[str, str]) -> str:
        source = COMPLETE
        for old, new in edits:
            assert source.count(old) == 1
            source = source.replace(old, new)
        return source

    return edited


@pytest.fixture(scope="session")
def learners() -> Callable[..., bytes]:
    """Functions from their source, as a notebook's cell would define them."""

    def learners(source: str = COMPLETE, file: str = "cell.py") -> bytes:
        namespace: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(source, file, "exec"), namespace)
        return bundle.dumps({name: namespace[name] for name in ("capture", "restore", "save", "load")})

    return learners


@pytest.fixture(scope="session")
def config_of_go() -> RunConfig:
    return SMALL


@pytest.fixture(scope="package")
def server() -> Iterator[WarmServer]:
    with WarmServer() as server:
        yield server


class Supervised:
    """A supervised run in a folder of its own, an hour a step, and what happened in it."""

    def __init__(self, server: WarmServer, folder: Path) -> None:
        self.server = server
        self.folder = folder
        self.events: list[Event] = []
        self.naps: list[float] = []  # that the supervisor asked for

    def __call__(self, *hours: float, **options: Any) -> Outcome:
        self.events.clear()
        given: dict[str, Any] = {
            "seed": 5,
            "steps": 40,
            "save_every": 8,
            "folder": self.folder,
            "faults": [Fault(hour, host=3) for hour in hours],
            "server": self.server,
            "on_event": self.events.append,
            "patience": Patience(silence_s=0.3, sleep=self.naps.append),
        }
        return supervise(SMALL, **given | options)

    def kinds(self) -> list[str]:
        """Of the events, without those that every run is full of."""
        return [event.kind for event in self.events if event.kind not in ("step", "saved")]

    def resumed_at(self) -> list[int]:
        return [event.step for event in self.events if event.kind == "restarted"]


@pytest.fixture
def go(server: WarmServer, tmp_path: Path) -> Supervised:
    return Supervised(server, tmp_path / "run")
