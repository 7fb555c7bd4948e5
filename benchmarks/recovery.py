"""From SIGKILL to the end of the next optimizer step: a warm server against a cold start of Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import torch

from benchmarks.benchmark import ROOT, Benchmark, Setting
from benchmarks.harness import Row, Side, alternate, compare
from benchmarks.states import lab_state
from lastgood.recovery import checkpoint, state
from lastgood.recovery.supervise.supervised import TRAIN
from lastgood.recovery.warm import WarmServer, Worker
from lastgood.training.run import Run, RunConfig

GOAL_S = 0.5
_NEVER = 10**9  # steps
_COLD = "import sys; from benchmarks.recovery import train; train(sys.argv[1])"


def train(folder: str) -> None:
    """Resume from the last good checkpoint of `folder` and train until killed; a line a step."""
    torch.set_num_threads(1)
    run = Run(seed=1)
    found = checkpoint.latest_good(folder).checkpoint
    assert found is not None
    state.restore(run, found.state)
    while True:
        run.advance()
        print(run.step, flush=True)


class Warm:
    """A trainer that the warm server forks, as `supervise` has it."""

    def __init__(self, server: WarmServer, folder: Path) -> None:
        self._server = server
        orders = {"seed": 0, "other_seed": 1, "steps": _NEVER, "save_every": _NEVER, "folder": str(folder)}
        may = {"may_load": True, "must_load": True}
        self._job = json.dumps({"config": RunConfig().to_dict(), **orders, **may})
        self._worker: Worker | None = None

    def start(self) -> None:
        self._worker = self._server.spawn(TRAIN, self._job, None)
        while json.loads(self._worker.channel.recv(60.0))["kind"] != "step":
            pass

    def end(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker.wait(60.0)

    def recover(self) -> None:
        """SIGKILL, and everything up to the end of the next step."""
        self.end()
        self.start()


class Cold:
    """A trainer that is a Python of its own."""

    def __init__(self, folder: Path) -> None:
        self._command = [sys.executable, "-c", _COLD, str(folder)]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, cwd=ROOT, env=environment)
        assert self._process.stdout is not None
        assert self._process.stdout.readline(), "the trainer did not start"

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def recover(self) -> None:
        """SIGKILL, and everything up to the end of the next step."""
        self.end()
        self.start()


def run(setting: Setting) -> list[Row]:
    folder = setting.folder / "checkpoints"
    captured = lab_state()
    checkpoint.write(folder, captured, step=captured[state.STEP])
    with WarmServer() as server:
        warm, cold = Warm(server, folder), Cold(folder)

        def only(this: Warm | Cold, other: Warm | Cold) -> None:
            other.end()
            this.end()
            this.start()

        try:
            sides = {
                "warm": Side(warm.recover, before=lambda: only(warm, cold)),
                "cold": Side(cold.recover, before=lambda: only(cold, warm)),
            }
            seconds = alternate(sides, setting.turns(20))
        finally:
            warm.end()
            cold.end()
    return [compare("the lab's size", seconds["warm"], seconds["cold"], most_seconds=GOAL_S)]


BENCHMARK = Benchmark(
    "recovery",
    "Recovery",
    "From SIGKILL to the end of the next optimizer step: the process is gone, another one builds the run, "
    "verifies and loads the last good checkpoint, restores it and takes a step. Ours is forked by the warm "
    "server, and tells a digest of its state as well; the other is a new `python` that imports the same.",
    run,
)
