"""What is sent to a worker: it imports the rest there, which whoever sends it has no use for."""

from __future__ import annotations

from pathlib import Path

from autograder.runner.job import Job, Outcome


def work(job: Job) -> Outcome:
    """Grade a submission: see `work.work`."""
    from autograder.runner import work as there

    return there.work(job)


def warm_up(root: Path, lab: str) -> None:
    """Prepare a worker for a lab: see `work.warm_up`."""
    from autograder.runner import work as there

    there.warm_up(root, lab)
