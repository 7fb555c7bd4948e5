"""A job beside one that nothing befell: every sample, and the run as it is at the end."""

from __future__ import annotations

import json
from dataclasses import dataclass

from lastgood.recovery.components import COMPONENTS, TITLES
from lastgood.recovery.job.handle import Job
from lastgood.recovery.job.orders import orders
from lastgood.recovery.job.plan import Plan
from lastgood.recovery.job.worker import TRAIN
from lastgood.recovery.warm import shared_server

_TIMEOUT_S = 60.0  # without a word from a process that nothing befalls


@dataclass(frozen=True)
class Undisturbed:
    """What a job comes to where nothing befalls it: the samples of each step, a digest a component."""

    samples: list[list[int]]
    digests: dict[str, str]


def undisturbed(plan: Plan) -> Undisturbed:
    """Run the job of this plan in one process, without its fates."""
    samples: list[list[int]] = []
    with shared_server().spawn(TRAIN, orders(plan)) as worker:
        while True:
            message = json.loads(worker.channel.recv(_TIMEOUT_S))
            if "digests" in message:
                return Undisturbed(samples, message["digests"])
            if "samples" in message:
                samples.append(message["samples"])


def compare(job: Job) -> None:
    """Print what became of a job, beside one that nothing befell."""
    there = undisturbed(job.plan)
    ended = len(job.starts) - (job.digests is not None)
    print(f"{len(job.starts)} processes, {ended} of which failed; {job.lost} steps were done again")
    if job.record == there.samples:
        print(f"the record of samples is right: {job.steps} steps, each once")
    else:
        print(f"the record of samples is wrong: {len(job.record)} entries for {job.steps} steps")
    if job.digests is None:
        print("the run is not complete")
    elif job.digests == there.digests:
        print("the run is bit-identical to one that nothing befell")
    else:
        differing = [TITLES[name] for name in COMPONENTS if job.digests[name] != there.digests[name]]
        print(f"the run that came out is another one: {', '.join(differing)}")
