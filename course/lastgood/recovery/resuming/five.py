"""The five functions that tell an audit how to train, save and resume."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Five(NamedTuple):
    """What an audit asks of training code. All calls for one run are made in one process, from one thread.

    make: a new run, as the training script builds it at its start.
    advance: train so many optimizer steps; return the loss of each, in order.
    save: write a checkpoint into a folder that exists and is empty. It is finished when this returns: the
        process is killed next.
    resume: in a fresh process, the run that goes on from the checkpoint in a folder.
    observe: the run's components by name, in tensors and plain data; it changes nothing that training sees.
        Without it the audit can only tell the first step that differs.

    The calls of a process are one of these, and `save` never comes right after `observe`:
        make, observe, advance, observe, advance, observe, advance
        make, advance, save
        resume, observe, advance, save
        resume, observe, advance
    """

    make: Callable[[], Any]
    advance: Callable[[Any, int], Sequence[Any]]
    save: Callable[[Any, Path], None]
    resume: Callable[[Path], Any]
    observe: Callable[[Any], dict[str, Any]] | None = None
