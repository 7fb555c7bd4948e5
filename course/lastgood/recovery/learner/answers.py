"""What a worker that runs a learner's functions answers, or why it does not."""

from __future__ import annotations

import linecache
import re
from collections.abc import Mapping
from typing import Any

from lastgood.recovery.learner import STAGE_MARK
from lastgood.recovery.warm import Worker
from lastgood.recovery.wire import unpack

STAGE_SECONDS = 20.0
LONGEST = 160  # characters of a message


def ask(
    worker: Worker, *, timeout: float = STAGE_SECONDS, texts: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """A worker's next answer, or an `error` in plain data where it died or took too long.

    `texts` are the cells that the learner's functions were written in, by the names that tracebacks give
    them; without it they are those of this process.
    """
    try:
        answer: dict[str, Any] = unpack(worker.channel.recv(timeout))
        if "error" in answer:
            error = answer["error"]
            error["line"] = _line(texts, error["file"], error["number"]).strip()[:200]
        return answer
    except TimeoutError:
        worker.kill()
        return {"error": _gone(worker, "TimeoutError", f"it had not finished after {timeout:.0f} seconds")}
    except EOFError:
        status = worker.wait(STAGE_SECONDS)
        return {"error": _gone(worker, "ProcessDied", f"its process ended with status {status}")}


def _line(texts: Mapping[str, str] | None, file: str, number: int) -> str:
    """A line of a cell. Where texts are given no file is opened, whatever the worker calls it."""
    if texts is None:
        return linecache.getline(file, number)
    lines = texts.get(file, "").splitlines()
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _gone(worker: Worker, kind: str, message: str) -> dict[str, Any]:
    *_, stage = ["the process", *STAGE_MARK.findall(worker.output())]
    return {"stage": stage, "kind": kind, "message": message, "line": "", "blank": False}


def plain(error: dict[str, Any]) -> str:
    """The message of a learner's exception in one line, without colours and the advice that libraries add."""
    message = re.sub(r"\x1b\[[0-9;]*m", "", error["message"]).strip()
    if "weights_only" in message:
        return "torch.load refuses objects such as NumPy's by default; see weights_only in its documentation"
    if message.startswith("Error(s) in loading state_dict"):
        return _misfit(message)
    return _short(next(iter(message.splitlines()), "no message"))


def _misfit(message: str) -> str:
    """The first of the lines in which torch lists every key and shape that does not fit."""
    _, *lines = (line.strip() for line in message.splitlines())
    first, count = (lines or ["the state does not fit"])[0], len(lines)
    if shapes := _SHAPES.fullmatch(first):
        name, found, wanted = shapes.groups()
        first = f"{name} has shape ({found}) in the state and ({wanted}) in the run"
    elif keys := _KEYS.match(first):
        names = re.findall(r'"([^"]+)"', first)
        count = len(names)
        first = f"the state has {'no' if keys[1] == 'Missing' else 'an unknown'} key {names[0]!r}"
    return _short(first) + (f" (and {count - 1} more like it)" if count > 1 else "")


_KEYS = re.compile(r"(Missing|Unexpected) key\(s\) in state_dict: ")
_SHAPES = re.compile(
    r"size mismatch for (\S+): copying a param with shape torch\.Size\(\[(.*)\]\) from checkpoint, "
    r"the shape in current model is torch\.Size\(\[(.*)\]\)\."
)


def _short(line: str) -> str:
    return line if len(line) < LONGEST else line[:LONGEST].rsplit(". ", 1)[0] + " …"
