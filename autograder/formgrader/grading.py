"""The Autograde button, which grades one submission, by way of the class runner, which grades many.

One run of `autograder grade` at a time grades a lab. Whoever is asked for meanwhile waits, and all who wait
are graded by the next one: its start takes seconds, and it keeps every core busy.
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

Reply = dict[str, Any]  # as nbgrader's API answers: `success`, and where there are any `log` and `error`


class Runs(Protocol):
    """What runs a child: `children.Children`."""

    async def run(self, arguments: list[str], root: Path, each: Callable[[bytes], None], /) -> str:
        """Run it to its end."""


class Grading:
    """Grades submissions of one lab of the course in the folder `root`."""

    def __init__(self, children: Runs, root: Path, lab: str) -> None:
        self._children, self._root, self._lab = children, root, lab
        self._waiting: dict[str, asyncio.Future[Reply]] = {}
        self._worker: asyncio.Task[None] | None = None

    async def grade(self, student: str) -> Reply:
        """Grade a submission, also one that was graded before. Ask for nobody twice at once."""
        if "," in student:
            return failure(f"{student!r} has a comma in it, which stands between names: rename the folder.")
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting[student] = reply
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await reply

    async def _work(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, {}
            try:
                rest = await self._run(batch)
            except Exception as error:  # whatever it is, somebody waits for an answer
                rest = failure(str(error))
            for reply in batch.values():
                _give(reply, rest)

    async def _run(self, batch: dict[str, asyncio.Future[Reply]]) -> Reply:
        """Grade these; returns the reply for those of whom the runner said nothing."""
        said: list[str] = []

        def each(line: bytes) -> None:
            words = line.decode(errors="replace").rstrip()
            about = _parsed(words)
            if about is None:
                said.append(words)
            elif about.get("student") in batch:
                _give(batch[about["student"]], _reply(about))

        students = ",".join(batch)
        arguments = ["grade", f"--students={students}", "--force", "--json", "--", self._lab]
        log = await self._children.run(arguments, self._root, each)
        return failure("\n".join(said) or "The grader stopped without an answer.", log)


def failure(error: str, log: str = "") -> Reply:
    """A reply that says what is wrong."""
    return {"success": False, "error": error, **({"log": log} if log else {})}


def _reply(about: dict[str, Any]) -> Reply:
    notes = "\n".join(about["notes"])
    if about["fault"]:
        return failure(about["fault"], notes)
    return {"success": True, "log": f"Graded in {about['seconds']:.1f} s.\n{notes}".rstrip()}


def _give(reply: asyncio.Future[Reply], what: Reply) -> None:
    if not reply.done():
        reply.set_result(what)


def _parsed(words: str) -> dict[str, Any] | None:
    try:
        found = json.loads(words)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
