"""What the buttons do, and which of them wait for which."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest

from autograder.formgrader.actions import Actions
from autograder.formgrader.children import ChildError

from .test_turns import settle

ROOT = Path("course")


class Endless:
    """Children of which the first does not end before it is told to."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.end = asyncio.Event()

    async def run(self, arguments: Sequence[str], root: Path, each: Callable[[bytes], None]) -> str:
        first = not self.begun
        self.begun.append(arguments[0])
        if first:
            await self.end.wait()
        each(b'{"success": true}\n')
        return ""


Press = Callable[[Actions], Coroutine[Any, Any, dict[str, Any]]]


def autograde(student: str) -> Press:
    return lambda actions: actions.autograde(ROOT, "lab18", student)


def call(method: str, student: str | None = None, lab: str = "lab18") -> Press:
    return lambda actions: actions.call(ROOT, method, lab, student)


@pytest.mark.parametrize(
    ("first", "second", "waits"),
    [
        (autograde("ada"), call("generate_feedback", "ada"), True),
        (autograde("ada"), call("generate_feedback", "bob"), False),
        (autograde("ada"), call("collect"), True),
        (call("collect"), autograde("ada"), True),
        (call("generate_feedback"), call("release_feedback"), True),
        (call("collect"), call("collect", lab="lab19"), False),
    ],
)
def test_a_button_waits_for_one_that_it_would_be_in_the_way_of(first, second, waits):
    async def scene() -> None:
        children = Endless()
        actions = Actions(children)
        pressed = [asyncio.create_task(press(actions)) for press in (first, second)]
        await settle()
        assert len(children.begun) == (1 if waits else 2)
        children.end.set()
        await asyncio.gather(*pressed)
        assert len(children.begun) == 2

    asyncio.run(scene())


def test_a_child_that_cannot_start_is_told():
    class None_:
        async def run(self, *_: object) -> str:
            raise ChildError("no process could be started")

    reply = asyncio.run(Actions(None_()).call(ROOT, "collect", "lab18"))
    assert reply == {"success": False, "error": "no process could be started"}
