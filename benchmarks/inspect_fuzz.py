"""Thousands of damaged checkpoints of each format: described or refused, soon, and nothing of them runs."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import torch
import typer

from benchmarks.benchmark import Benchmark, Setting
from benchmarks.checkpoints import MAKERS, trained
from benchmarks.damage import Files, damaged
from benchmarks.harness import Row, alone
from lastgood.commands.inspect import inspect

EACH = 5_000
MOST_SECONDS = 2.0
WORDS = 5  # one of so many is described in words, the others as JSON, which is written sooner
PATIENCE = 60.0  # seconds, after which one is given up
_MAKERS_OF = {"zip": "both", **{name: name for name in MAKERS if name not in ("both", "weights")}}
FORMATS = tuple(_MAKERS_OF)
_PICKLES = {"trainer": "scheduler.pt", "accelerate": "scheduler.bin", "dcp": ".metadata"}


class Hangs(Exception):
    """No answer. Not a TimeoutError: those are errors of the system, which `inspect` takes for the disk's."""


class Canary:
    """Touches a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.path}",)


def originals(folder: Path) -> dict[str, Files]:
    """A checkpoint of each format. Those of pickles bring a canary, which would touch `folder`/canary."""
    run = trained()
    found = {}
    for name, maker in _MAKERS_OF.items():
        path = folder / "original"
        MAKERS[maker](run, path)
        _add_canary(path / _PICKLES[name] if name in _PICKLES else path, name, Canary(folder / "canary"))
        inside = sorted(file for file in path.rglob("*") if file.is_file())
        found[name] = {str(file.relative_to(path)): file.read_bytes() for file in inside or [path]}
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return found


def _add_canary(path: Path, name: str, canary: Canary) -> None:
    if name == "dcp":
        metadata = pickle.loads(path.read_bytes())
        metadata.planner_data["canary"] = canary
        path.write_bytes(pickle.dumps(metadata))
    elif path.is_file() and name != "safetensors":
        state = torch.load(path, weights_only=False)
        if name == "module":
            state.canary = canary
        else:
            state = {**state, "canary": canary}
        torch.save(state, path, _use_new_zipfile_serialization=name != "legacy")


def look(original: Files, name: str, seed: int, path: Path) -> tuple[str, float]:
    """Damage a checkpoint, write it to `path` and inspect it: what was said, and the seconds that took.

    Raises RuntimeError where that crashes or hangs; the checkpoint is then kept.
    """
    write(damaged(original, random.Random(seed)), path)
    said, refused = io.StringIO(), io.StringIO()
    begun = time.perf_counter()
    try:
        with _patience(), contextlib.redirect_stdout(said), contextlib.redirect_stderr(refused):
            inspect(path, as_json=seed % WORDS != 0)
    except typer.Exit:
        seconds = time.perf_counter() - begun
    except Exception as error:
        kept = Path(tempfile.mkdtemp(prefix="inspect-fuzz-")) / f"{name}-{seed}"
        shutil.move(path, kept)
        said_again = f"{type(error).__name__}: {error}. Again: lastgood inspect {kept}"
        raise RuntimeError(f"{name}, seed {seed}: {said_again}") from error
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    return refused.getvalue() or said.getvalue(), seconds


def write(files: Files, path: Path) -> None:
    """A checkpoint of one file is `path`, others are in the folder `path`."""
    if set(files) == {"."}:
        path.write_bytes(files["."])
        return
    path.mkdir()
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)


@contextlib.contextmanager
def _patience() -> Iterator[None]:
    """Raise Hangs where what is done takes far too long."""

    def give_up(_: int, __: FrameType | None) -> None:
        raise Hangs(f"no answer within {PATIENCE:g} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def run(setting: Setting) -> list[Row]:
    rows = []
    each = setting.turns(EACH)
    for name, files in originals(setting.folder).items():
        seconds = [look(files, name, seed, setting.folder / "damaged")[1] for seed in range(each)]
        if (setting.folder / "canary").exists():
            raise RuntimeError(f"{name}: the canary has sung, something of a file was executed")
        rows.append(alone(f"{name}, the slowest of {each:,}", [max(seconds)], most_seconds=MOST_SECONDS))
    return rows


BENCHMARK = Benchmark(
    "inspect-fuzz",
    "Damaged checkpoints",
    "`lastgood inspect` on small checkpoints with random damage, 5,000 of each format: cut short, bits "
    "flipped, opcodes exchanged, lengths absurd, directories and headers spoilt, files swapped or gone. The "
    "time is that of the slowest. No crash, and nothing of a file is executed: each pickle brings a function "
    "that would touch a file.",
    run,
    by_default=False,
)
