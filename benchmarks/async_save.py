"""How long training waits for an asynchronous save, against one copy of the state."""

from __future__ import annotations

import copy
import shutil
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark, Setting
from benchmarks.harness import Row, Side, alternate, compare
from benchmarks.states import lab_state, random_state
from lastgood.recovery.checkpoint.asynchronous import AsyncWriter


def stalls(state: dict[str, Any], folder: Path, repeats: int) -> dict[str, list[float]]:
    """Seconds of `write` as the caller sees it, and of one copy."""
    numbers = count()
    with AsyncWriter(folder) as saves:

        def settled() -> None:
            saves.wait()
            shutil.rmtree(folder, ignore_errors=True)

        sides = {
            "ours": Side(lambda: saves.write(state, step=next(numbers)), before=settled),
            "copy": Side(lambda: copy.deepcopy(state), before=settled),
        }
        return alternate(sides, repeats)


def run(setting: Setting) -> list[Row]:
    rows = []
    for name, state, turns in (
        ("the lab's size", lab_state(), 60),
        ("100 MB", random_state(100), 15),
    ):
        seconds = stalls(state, setting.folder, setting.turns(turns))
        rows.append(compare(name, seconds["ours"], seconds["copy"], most_ratio=1.5))
    return rows


BENCHMARK = Benchmark(
    "async-save",
    "Stall of an asynchronous save",
    "The time in `AsyncWriter.write`, for which training waits, against one `copy.deepcopy` of the same "
    "state. The save before has finished.",
    run,
)
