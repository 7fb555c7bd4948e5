"""What the supervisor says of failures and restarts."""

from __future__ import annotations

import linecache
from typing import Any

from lastgood.recovery.faults import CORRUPTED, HUNG, KILLED, TOLD_TO_LEAVE, Fault
from lastgood.recovery.warm import Worker

_NOUNS = {
    KILLED: "kill",
    HUNG: "hang",
    TOLD_TO_LEAVE: "notice to leave",
    CORRUPTED: "kill, newest checkpoint corrupted,",
}


def failure_text(fault: Fault, number: int, step: int, saving: int | None, on_notice: bool) -> str:
    """Which failure ended a process, where in the run, and when."""
    during = "" if saving is None else f", as it saved step {saving}"
    used = ", which it used to save" if on_notice else ""
    where = f"after step {step}{during}{used}"
    return f"{_NOUNS[fault.kind]} {number} {where} (hour {fault.time_hours:.1f}, host {fault.host})"


def restart_text(step: int, lost: int, newest: int, skipped: list[str]) -> str:
    """Where a restart resumed, and past what it had to fall back."""
    late = f", though step {newest} was saved" if step < newest else ""
    past = f" ({skipped[0]})" if skipped else ""
    return f"resumed at step {step}{late}{past}: {lost} step{'s' * (lost != 1)} to do again"


def raised_text(message: dict[str, Any], saving: int | None) -> str:
    """What one of the four functions raised, with the learner's own lines."""
    lines = [f"{message['function']} raised {message['error']}"]
    for file, number, name in message["frames"]:
        # A notebook's cells are known here, where they were typed, and not in the process that ran them.
        lines.append(f"  line {number} of {name}: {linecache.getline(file, number).strip()}".rstrip(": "))
    if message["function"] == "load" and saving is not None:
        lines.append(f"  The kill before had come in the middle of saving step {saving}.")
    return "\n".join(lines)


def last_words(worker: Worker, patience_s: float) -> str:
    """How a process ended, and the last line that it printed."""
    said = worker.output().strip().splitlines()
    return f"exit status {worker.wait(patience_s)}" + (f", {said[-1]}" if said else "")
