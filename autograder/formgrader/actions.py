"""What the Formgrader's buttons do: each in a child, in turn where two would be in each other's way."""

import json
from pathlib import Path
from typing import Any

from autograder.formgrader.children import ChildError, Children
from autograder.formgrader.grading import Grading, Reply, Runs, failure
from autograder.formgrader.turns import Turns


class Actions:
    """The actions, on courses in any folder. Whoever stops waiting for a reply stops nothing."""

    def __init__(self, children: Runs | None = None) -> None:
        self._children = Children() if children is None else children
        self._turns = Turns()
        self._gradings: dict[tuple[Path, str], Grading] = {}

    async def autograde(self, root: Path, lab: str, student: str) -> Reply:
        """Grade a submission, by way of the class runner."""
        grading = self._gradings.setdefault((root, lab), Grading(self._children, root, lab))
        async with self._turns.turn(lab, student):
            return await grading.grade(student)

    async def call(self, root: Path, method: str, lab: str, student: str | None = None) -> Reply:
        """Call a method of nbgrader's API for an assignment, or for one student's submission of it."""
        lines: list[bytes] = []
        arguments = [method, lab] if student is None else [method, lab, student]
        async with self._turns.turn(lab, student):
            try:
                log = await self._children.run(arguments, root, lines.append)
            except ChildError as error:
                return failure(str(error))
        try:
            reply: dict[str, Any] = json.loads(b"".join(lines))
        except ValueError:
            return failure(log or "The process stopped without an answer.")
        return reply
