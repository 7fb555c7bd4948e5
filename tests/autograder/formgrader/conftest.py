"""What the tests of the Formgrader's buttons share: a server that has them, and a child that does as told."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

# A child that says what it was asked, then waits where a test holds it. `…:WORDS` makes it say those instead.
CHILD = """
import json, os, sys
_, server, what, *rest = sys.argv
with open("asked", "a") as file:
    file.write(" ".join([what, *rest]) + "\\n")
if os.path.exists("begun"):
    open("begun", "w").write("!")
    os.read(os.open("go", os.O_RDONLY), 1)  # a byte, and none of the others
if os.path.exists("says"):
    print(open("says").read())
    sys.exit("it went wrong")
if what == "grade":
    students = rest[0].removeprefix("--students=").split(",")
    for student in students:
        print(json.dumps({"student": student, "seconds": 0.51, "fault": "", "notes": ["a note"]}))
    print(json.dumps({"done": {"graded": len(students), "failed": 0}}))
else:
    print(json.dumps({"success": True, "log": " ".join([what, *rest])}))
"""


@dataclass(frozen=True)
class Child:
    """The child, run in the folder `root`."""

    root: Path

    @property
    def command(self) -> tuple[str, ...]:
        return sys.executable, "-S", "-c", CHILD

    def asked(self) -> list[str]:
        """What it was asked, run by run."""
        path = self.root / "asked"
        return path.read_text().splitlines() if path.exists() else []

    def says(self, words: str) -> None:
        (self.root / "says").write_text(words)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[Callable[[], Awaitable[None]]]:
        """Hold children until this is left; gives a function that waits for one to have begun."""
        begun, go = (pipe(self.root / name) for name in ("begun", "go"))
        came = asyncio.Semaphore(0)

        def come() -> None:
            os.read(begun, 1)
            came.release()

        async def one() -> None:
            await asyncio.wait_for(came.acquire(), 60)

        asyncio.get_running_loop().add_reader(begun, come)
        try:
            yield one
        finally:
            os.write(go, b"!" * 50)  # one for each that may wait, and come yet
            asyncio.get_running_loop().remove_reader(begun)


def pipe(path: Path) -> int:
    """Make a named pipe and open it at both ends, so that neither side waits for the other to open it."""
    os.mkfifo(path)
    return os.open(path, os.O_RDWR | os.O_NONBLOCK)


@pytest.fixture
def child(tmp_path: Path) -> Child:
    root = tmp_path / "course"
    root.mkdir()
    return Child(root)
