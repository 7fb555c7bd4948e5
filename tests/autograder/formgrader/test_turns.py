"""Who waits for whom."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from autograder.formgrader.turns import Turns

ADA, BOB, ALL = ("lab18", "ada"), ("lab18", "bob"), ("lab18", None)


async def settle() -> None:
    """Let every task run as far as it can."""
    for _ in range(20):
        await asyncio.sleep(0)


class Line:
    """Those who asked for a turn, in their order, and who has one."""

    def __init__(self) -> None:
        self._turns = Turns()
        self.held: list[tuple[str, str | None]] = []

    async def come(self, who: tuple[str, str | None]) -> asyncio.Event:
        leave = asyncio.Event()

        async def take() -> None:
            async with self._turns.turn(*who):
                self.held.append(who)
                await leave.wait()
                self.held.remove(who)

        self._tasks = [*getattr(self, "_tasks", []), asyncio.create_task(take())]
        await settle()
        return leave


@pytest.mark.parametrize(
    ("first", "second", "waits"),
    [
        (ADA, ADA, True),
        (ADA, BOB, False),
        (ADA, ALL, True),
        (ALL, ADA, True),
        (ALL, ALL, True),
        (ADA, ("lab19", "ada"), False),
        (ALL, ("lab19", None), False),
    ],
)
def test_a_second_waits_where_it_would_be_in_the_way(first, second, waits):
    async def scene() -> None:
        line = Line()
        leave = await line.come(first)
        await line.come(second)
        assert line.held == ([first] if waits else [first, second])
        leave.set()
        await settle()
        assert line.held == [second]

    asyncio.run(scene())


def test_nobody_overtakes_whom_they_would_keep_waiting():
    async def scene() -> None:
        line = Line()
        leave = await line.come(ADA)
        all_leave = await line.come(ALL)
        await line.come(BOB)  # who is not in ada's way
        assert line.held == [ADA]
        leave.set()
        await settle()
        assert line.held == [ALL]
        all_leave.set()
        await settle()
        assert line.held == [BOB]

    asyncio.run(scene())


def test_who_gives_up_waiting_is_waited_for_no_more():
    async def scene() -> None:
        turns = Turns()
        async with AsyncExitStack() as first:
            await first.enter_async_context(turns.turn(*ADA))
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(turns.turn(*ADA).__aenter__(), 0)
        async with asyncio.timeout(60), turns.turn(*ADA):
            pass

    asyncio.run(scene())
