"""What runs in a job's processes: a run that trains, saves, gives a heartbeat a step, and meets its fate.

A heartbeat is one JSON object: the step that the run is at, and the samples that it trained on to get there
(none where it has only begun or resumed). The last message of a run that is complete has its digests.
"""

from __future__ import annotations

import io
import json
import os
import signal
import time
from pathlib import Path
from typing import Any, NoReturn

import torch

from lastgood.recovery.audit.plan import AUDIT_CONFIG
from lastgood.recovery.components import digests
from lastgood.recovery.job import checkpoints, plan
from lastgood.recovery.state import capture, restore
from lastgood.recovery.warm.channel import Channel
from lastgood.training.run import Run

TRAIN = "lastgood.recovery.job.worker:train"
_OTHER_SEED = 1_000_003  # added to the seed where a process resumes, so that what is not restored shows


def train(channel: Channel, orders: str) -> None:
    """Begin or resume the run, and train until it is complete or the process meets its fate."""
    torch.set_num_threads(1)
    job: dict[str, Any] = json.loads(orders)
    fate = plan.Fate(**job["fate"]) if job["fate"] else None
    if fate and fate.slow:
        time.sleep(plan.SLOW_S)  # a slow disk
    run = _begun(job)
    _say(channel, step=run.step)
    while True:
        if fate and run.step == fate.at:
            _meet(fate.kind, run, job)
        if run.step == job["steps"]:
            break
        if run.step == job["poison"]:
            raise ValueError(f"the batch of step {run.step} cannot be read")
        result = run.advance()
        _say(channel, step=run.step, samples=result.indices)
        if job["folder"] and run.step % job["save_every"] == 0:
            if fate and (fate.kind, fate.at) == (plan.KILLED_SAVING, run.step):
                _die_saving(run, job)
            _save(run, job)
    _say(channel, step=run.step, digests=digests(run))


def _begun(job: dict[str, Any]) -> Run:
    if not job["checkpoint"]:
        return Run(AUDIT_CONFIG, seed=job["seed"])
    run = Run(AUDIT_CONFIG, seed=job["seed"] + _OTHER_SEED)
    # Unverified, on purpose: to choose a good one is the supervisor's part.
    state = torch.load(Path(job["checkpoint"]) / checkpoints.STATE, weights_only=True)
    restore(run, state)
    return run


def _meet(kind: str, run: Run, job: dict[str, Any]) -> None:
    if kind == plan.HUNG:
        os.kill(os.getpid(), signal.SIGSTOP)
        return
    if kind == plan.ERROR:
        raise RuntimeError(f"lost the connection to host 7 at step {run.step}")
    if kind == plan.TOLD_TO_LEAVE:
        _save(run, job)
        _end(signal.SIGTERM)
    if kind in (checkpoints.TORN, checkpoints.CORRUPT):
        checkpoints.damage(checkpoints.candidates(Path(job["folder"]))[-1], kind)
    _end(signal.SIGKILL)


def _save(run: Run, job: dict[str, Any]) -> None:
    checkpoints.write(Path(job["folder"]), job["run"], run.step, _state(run))


def _die_saving(run: Run, job: dict[str, Any]) -> NoReturn:
    half = Path(job["folder"]) / f"step-{run.step}.tmp"
    half.mkdir(exist_ok=True)
    data = _state(run)
    (half / checkpoints.STATE).write_bytes(data[: len(data) // 2])
    _end(signal.SIGKILL)


def _state(run: Run) -> bytes:
    file = io.BytesIO()
    torch.save(capture(run), file)
    return file.getvalue()


def _end(number: signal.Signals) -> NoReturn:
    os.kill(os.getpid(), number)
    time.sleep(60)  # until the signal is here
    raise RuntimeError(f"{number.name} did not end this process")


def _say(channel: Channel, **message: Any) -> None:
    channel.send(json.dumps(message).encode())
