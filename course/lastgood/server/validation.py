"""Run a notebook's checks in a process of their own, under a deadline.

nbgrader's `Validator` runs every cell in a fresh kernel and says which graded cells fail. It blocks while it
does, so it runs in a child (`worker.py`) that a server can wait for without blocking.
"""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lastgood.server.environment import with_our_tools

DEADLINE = 180.0  # seconds; a whole lab is meant to take under 25
GRACE = 5.0  # seconds for the child to shut its kernel down once asked to stop


class ValidationError(Exception):
    """The notebook could not be run to its end; the message is for the learner."""


@dataclass(frozen=True)
class Failed:
    """A graded cell that does not earn all its points.

    `error` is HTML, what the cell showed where it showed something; `text` is the same in plain words.
    """

    source: str
    error: str
    text: str


@dataclass(frozen=True)
class Scored:
    """A graded cell, by its `grade_id`, with the points that it earns of those that it can."""

    name: str
    earned: float
    possible: float


@dataclass(frozen=True)
class Result:
    """What validating found. `failed` is judged only where nothing stands in `changed` and `type_changed`.

    `scored` has the cells that are graded by themselves, in their order; none where nothing was judged.
    """

    failed: list[Failed] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    type_changed: list[dict[str, str]] = field(default_factory=list)
    scored: list[Scored] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """True where every graded cell earns its points and none was altered."""
        return not (self.failed or self.changed or self.type_changed)


async def validate(notebook: Path, root: Path, deadline: float = DEADLINE) -> Result:
    """Run the saved notebook in a fresh kernel and return what its checks say.

    Args:
        notebook: the file.
        root: the course's root, whose `nbgrader_config.py` applies.
        deadline: seconds until the run is stopped.

    Raises:
        ValidationError: there is no such file, it is not an nbgrader notebook, or the deadline passed.
    """
    if not notebook.is_file():
        raise ValidationError(f"There is no notebook at {notebook}. Save it, or put it back, then try again.")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "lastgood.server.worker",
        str(notebook),
        cwd=root,
        env=with_our_tools(os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Ctrl-C in the server's terminal is for the server, which then stops the child itself.
        start_new_session=True,
    )
    try:
        out, log = await asyncio.wait_for(process.communicate(), deadline)
    except TimeoutError:
        raise ValidationError(
            f"Validation was stopped: the notebook still ran after {deadline:g} s. Look for a cell that "
            "is slow or never ends: Kernel > Restart Kernel and Run All Cells shows which."
        ) from None
    finally:
        await _stop(process)
    return _result(out, log.decode(errors="replace"))


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Stop a child that still runs: politely, so that it takes its kernel along, then for good."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), GRACE)
        except TimeoutError:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


def _result(out: bytes, log: str) -> Result:
    """Read the child's answer."""
    try:
        answer: dict[str, Any] = json.loads(out)
    except ValueError:
        last = log.strip().splitlines()[-1:] or ["it said nothing"]
        raise ValidationError(f"The validator stopped without an answer: {last[0]}") from None
    if "problem" in answer:
        raise ValidationError(str(answer["problem"]))
    return Result(
        failed=[Failed(**cell) for cell in answer["failed"]],
        changed=answer["changed"],
        type_changed=answer["type_changed"],
        scored=[Scored(**cell) for cell in answer["scored"]],
    )
