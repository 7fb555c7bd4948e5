"""Resuming from the last good checkpoint, against loading a bare file."""

from __future__ import annotations

import shutil
from typing import Any

import torch

from benchmarks.benchmark import Benchmark, Setting
from benchmarks.harness import Row, Side, alternate, compare
from benchmarks.save import bare_save
from benchmarks.states import lab_run
from lastgood.recovery import checkpoint, state
from lastgood.training.logbook import CHARACTERS
from lastgood.training.model import GPTConfig
from lastgood.training.run import Run, RunConfig

WIDE = RunConfig(model=GPTConfig(len(CHARACTERS), block_size=48, n_layer=10, n_head=4, n_embd=264))


def run(setting: Setting) -> list[Row]:
    wide = Run(WIDE)
    wide.advance()
    megabytes = state.state_bytes(state.capture(wide)) / 10**6
    rows = []
    for name, run, turns in (
        ("the lab's size", lab_run(), 60),
        (f"{megabytes:.0f} MB", wide, 15),
    ):
        seconds = alternate(resumes(run, setting), setting.turns(turns))
        rows.append(compare(name, seconds["ours"], seconds["bare"]))
        shutil.rmtree(setting.folder)
    return rows


def resumes(run: Run, setting: Setting) -> dict[str, Side]:
    """Both sides, each from a file of its own, into the same run."""
    folder, file = setting.folder / "checkpoints", setting.folder / "bare.pt"
    setting.folder.mkdir(exist_ok=True)
    captured = state.capture(run)
    checkpoint.write(folder, captured, step=run.step)
    bare_save(captured, file)

    def ours() -> None:
        found = checkpoint.latest_good(folder).checkpoint
        assert found is not None
        state.restore(run, found.state)

    def bare() -> None:
        loaded: dict[str, Any] = torch.load(file, weights_only=True)
        run.model.load_state_dict(loaded[state.MODEL])
        run.optimizer.load_state_dict(loaded[state.OPTIMIZER])

    return {"ours": Side(ours), "bare": Side(bare)}


BENCHMARK = Benchmark(
    "resume",
    "Resume",
    "`latest_good`, which verifies the file's SHA-256, and `restore`, which checks everything before it "
    "changes anything and also puts back step, loader and random number generators, against "
    "`torch.load(weights_only=True)` and two `load_state_dict`. Both files are in the page cache, as after a "
    "restart on the same node.",
    run,
)
