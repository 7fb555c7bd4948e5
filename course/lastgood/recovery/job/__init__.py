"""A training job that fails on schedule, for whoever builds a supervisor: lab 19.

Its processes are real. They train a small `Run`, save checkpoints, and are killed, stopped, told to leave, or
find a step that no process survives. What they do not have is somebody who brings them back.

    handle        Job and Process: start, poll, silence, kill
    plan          what is to befall which process, drawn or written down
    checkpoints   the job's checkpoints on disk, and which of them is the last good one
    worker        what runs in the processes
    compare       the job beside one that nothing befell
    answers       what a supervisor asks itself of each process
    serve         a job and a supervisor that is in another process, with a stand_in for the job
"""

from lastgood.recovery.job.compare import compare, undisturbed
from lastgood.recovery.job.handle import (
    LIMIT,
    START_PATIENCE,
    Job,
    JobError,
    Process,
    Start,
    SupervisorStopped,
)
from lastgood.recovery.job.plan import PATIENCE, Fate, Plan, drawn, poisoned

__all__ = [
    "LIMIT", "PATIENCE", "START_PATIENCE", "Fate", "Job", "JobError", "Plan", "Process", "Start",
    "SupervisorStopped", "compare", "drawn", "poisoned", "undisturbed",
]  # fmt: skip
