"""Who waits for whom: actions on one submission, and on an assignment those on it and its submissions."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class _Place:
    """A place in the queue. Without a student it is for the whole assignment."""

    assignment: str
    student: str | None

    def bars(self, other: "_Place") -> bool:
        if self.assignment != other.assignment:
            return False
        return None in (self.student, other.student) or self.student == other.student


class Turns:
    """Lets in, first come first served, whoever need not wait for one that came before."""

    def __init__(self) -> None:
        self._queue: list[_Place] = []
        self._moved = asyncio.Condition()

    @asynccontextmanager
    async def turn(self, assignment: str, student: str | None = None) -> AsyncIterator[None]:
        """Have the submission, or without a student the whole assignment, to oneself."""
        mine = _Place(assignment, student)
        self._queue.append(mine)
        try:
            async with self._moved:
                await self._moved.wait_for(lambda: self._is_up(mine))
            yield
        finally:
            self._queue.remove(mine)
            async with self._moved:
                self._moved.notify_all()

    def _is_up(self, mine: _Place) -> bool:
        return not any(earlier.bars(mine) for earlier in self._queue[: self._queue.index(mine)])
