"""Training code to audit, small: a file a test."""

from collections.abc import Callable
from pathlib import Path

import pytest

# It trains nothing and has all that an audit asks for, without the seconds that torch takes to import.
WHOLE = """
import json, random
from pathlib import Path

class Run:
    def __init__(self, seed):
        self.dice, self.step = random.Random(seed), 0

def make():
    return Run(1)

def advance(run, steps):
    run.step += steps
    return [run.dice.random() for _ in range(steps)]

def save(run, folder):
    version, words, gauss = run.dice.getstate()
    (folder / "run.json").write_text(json.dumps([run.step, version, words, gauss]))

def resume(folder):
    run = Run(2)
    run.step, version, words, gauss = json.loads((folder / "run.json").read_text())
    run.dice.setstate((version, tuple(words), gauss))
    return run
"""


@pytest.fixture
def module(tmp_path: Path) -> Callable[..., str]:
    """Write a module: the whole one, with something else at its end."""

    def written(more: str = "", whole: str = WHOLE, name: str = "mine.py") -> str:
        path = tmp_path / name
        path.write_text(f"{whole}\n{more}\n")
        return str(path)

    return written
