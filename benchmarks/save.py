"""Our verified save against bare `torch.save` with an fsync."""

from __future__ import annotations

import os
import shutil
from itertools import count
from pathlib import Path
from typing import Any

import torch

from benchmarks.benchmark import Benchmark, Setting
from benchmarks.harness import Row, Side, alternate, compare
from benchmarks.states import lab_state, random_state
from lastgood.recovery import checkpoint


def bare_save(state: dict[str, Any], path: Path) -> None:
    """What a script without a library does that cares for a power failure."""
    with path.open("wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())


def saves(state: dict[str, Any], folder: Path) -> dict[str, Side]:
    """Both sides write a new file in each turn; the older ones are removed before it, untimed."""
    ours, bare = folder / "ours", folder / "bare"
    numbers = count()

    def emptied(place: Path) -> None:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        os.sync()  # else one turn's fsync would pay for what another left

    return {
        "ours": Side(lambda: checkpoint.write(ours, state, step=next(numbers)), before=lambda: emptied(ours)),
        "bare": Side(lambda: bare_save(state, bare / "state.pt"), before=lambda: emptied(bare)),
    }


def run(setting: Setting) -> list[Row]:
    rows = []
    for name, state, turns in (
        ("the lab's size", lab_state(), 60),
        ("1 MB", random_state(1), 60),
        ("10 MB", random_state(10), 30),
        ("300 MB", random_state(300), 9),
    ):
        seconds = alternate(saves(state, setting.folder), setting.turns(turns))
        most = 0.060 if name == "the lab's size" else None
        rows.append(compare(name, seconds["ours"], seconds["bare"], most_seconds=most))
        shutil.rmtree(setting.folder)
    return rows


BENCHMARK = Benchmark(
    "save",
    "Verified save",
    "`checkpoint.write`, which hashes, fsyncs, loads what it wrote, writes a manifest, locks and renames, "
    "against `torch.save` into a file and one fsync. Both write into a folder that was emptied and synced.",
    run,
)
