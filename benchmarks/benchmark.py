"""What a benchmark is, and what it is run with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import Row

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Setting:
    """What a benchmark may use: an empty folder on the disk, and how much patience there is."""

    folder: Path
    repeats: int | None = None  # instead of the benchmark's own numbers: for trying things out
    junit: Path | None = None  # what an earlier `pytest --junitxml` wrote, for make-test

    def turns(self, usual: int) -> int:
        """How many turns to take where `usual` would be right."""
        return self.repeats or usual


@dataclass(frozen=True)
class Benchmark:
    """A question, and the function that answers it with rows."""

    name: str
    title: str
    about: str  # Markdown: both sides, and whatever one must know to believe the numbers
    run: Callable[[Setting], list[Row]]
    by_default: bool = True
