"""The Autograde button: runs of the class runner, one at a time, with all who wait."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from autograder.formgrader.children import ChildError
from autograder.formgrader.grading import Grading

from .test_turns import settle

ROOT = Path("course")


class Runner:
    """A runner of this process: tells what it was asked, and says and ends as it is told."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.each: Callable[[bytes], None] = lambda _: None
        self._end: asyncio.Future[str] | None = None

    async def run(self, arguments: Sequence[str], root: Path, each: Callable[[bytes], None]) -> str:
        assert root == ROOT
        self.asked.append(" ".join(arguments))
        self.each, self._end = each, asyncio.get_running_loop().create_future()
        return await self._end

    def say(self, student: str, fault: str = "", notes: Sequence[str] = ()) -> None:
        self.each(
            json.dumps({"student": student, "seconds": 2.04, "fault": fault, "notes": notes}).encode() + b"\n"
        )

    async def end(self, log: str = "") -> None:
        assert self._end
        self._end.set_result(log)
        await settle()

    async def break_(self) -> None:
        assert self._end
        self._end.set_exception(ChildError("no process could be started"))
        await settle()


async def press(grading: Grading, *students: str) -> list[asyncio.Task[dict[str, Any]]]:
    tasks = [asyncio.create_task(grading.grade(student)) for student in students]
    await settle()
    return tasks


def test_who_comes_while_a_run_goes_on_is_graded_by_the_next_all_together():
    async def scene() -> None:
        runner = Runner()
        grading = Grading(runner, ROOT, "lab18")
        (ada,) = await press(grading, "ada")
        bob, cyd = await press(grading, "bob", "cyd")
        assert runner.asked == ["grade --students=ada --force --json -- lab18"]
        runner.say("ada", notes=["it was late"])
        await settle()
        assert ada.result() == {"success": True, "log": "Graded in 2.0 s.\nit was late"}
        assert len(runner.asked) == 1  # it has not ended yet
        await runner.end()
        assert runner.asked[1:] == ["grade --students=bob,cyd --force --json -- lab18"]
        runner.say("bob")
        await settle()
        assert bob.result()["success"]
        assert not cyd.done()
        runner.say("cyd")
        await runner.end()
        assert cyd.result()["success"]
        (again,) = await press(grading, "ada")
        assert runner.asked[2:] == ["grade --students=ada --force --json -- lab18"]
        again.cancel()

    asyncio.run(scene())


def test_a_submission_that_cannot_be_graded_is_told_and_the_others_are_graded():
    async def scene() -> None:
        runner = Runner()
        ada, bob = await press(Grading(runner, ROOT, "lab18"), "ada", "bob")
        runner.say("ada", "its notebook is not JSON", ["it was late"])
        runner.say("bob")
        await runner.end()
        expected = {"success": False, "error": "its notebook is not JSON", "log": "it was late"}
        assert ada.result() == expected
        assert bob.result()["success"]

    asyncio.run(scene())


def test_a_run_that_stops_tells_its_words_to_whom_it_owes_an_answer():
    async def scene() -> None:
        runner = Runner()
        ada, bob = await press(Grading(runner, ROOT, "lab18"), "ada", "bob")
        runner.say("ada")
        runner.each("✗ lab18\n".encode())
        runner.each(b"  another run is at work\n")
        await runner.end("a warning")
        assert ada.result()["success"]
        error = "✗ lab18\n  another run is at work"
        assert bob.result() == {"success": False, "error": error, "log": "a warning"}

    asyncio.run(scene())


def test_a_run_that_cannot_start_is_told_and_the_next_is_tried():
    async def scene() -> None:
        runner = Runner()
        grading = Grading(runner, ROOT, "lab18")
        (ada,) = await press(grading, "ada")
        (bob,) = await press(grading, "bob")
        await runner.break_()
        assert ada.result() == {"success": False, "error": "no process could be started"}
        runner.say("bob")
        await runner.end()
        assert bob.result()["success"]

    asyncio.run(scene())


def test_whoever_stops_waiting_stops_nobody_else():
    async def scene() -> None:
        runner = Runner()
        ada, bob = await press(Grading(runner, ROOT, "lab18"), "ada", "bob")
        ada.cancel()
        runner.say("ada")
        runner.say("bob")
        await runner.end()
        assert bob.result()["success"]

    asyncio.run(scene())


def test_a_name_that_the_runner_would_take_for_two_is_refused():
    async def scene() -> None:
        runner = Runner()
        reply = await Grading(runner, ROOT, "lab18").grade("ada,bob")
        assert not reply["success"]
        assert "comma" in reply["error"]
        assert runner.asked == []

    asyncio.run(scene())
