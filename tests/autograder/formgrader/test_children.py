"""Children of a server: side by side up to a limit, heard as they speak, and gone when it is."""

import asyncio
import os
import select
import signal
import subprocess
import sys
from typing import Any

import pytest

from autograder.formgrader.children import ChildError, Children

from .conftest import pipe

# A server that starts a child and ends, in one way or another, once the child has begun.
SERVER = """
import asyncio, os, signal, sys
from pathlib import Path
from autograder.formgrader.children import Children

async def serve():
    asyncio.create_task(Children(sys.argv[2:]).run(["method", "lab"], Path(), print))
    begun = asyncio.Event()
    asyncio.get_running_loop().add_reader(os.open("begun", os.O_RDWR), begun.set)
    await begun.wait()
    if sys.argv[1] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)

loop = asyncio.new_event_loop()  # which Jupyter's server leaves as it is when it ends
loop.run_until_complete(serve())
"""
HANGING = """
alive = open("alive", "w")
open("begun", "w").write("!")
open("go").read(1)
"""
DEAF = (sys.executable, "-S", "-c", HANGING)  # a child that does not look after its parent
WORKER = (
    sys.executable,
    "-c",
    f"from autograder.formgrader import worker; worker.call = lambda *_: exec({HANGING!r}); worker.main()",
)


def test_lines_come_as_they_are_said(tmp_path):
    go = pipe(tmp_path / "go")
    command = (sys.executable, "-S", "-c", "print('one', flush=True); open('go').read(1); print('two')")
    said = []

    def each(line: bytes) -> None:
        said.append(line)
        os.write(go, b"!")

    log = asyncio.run(Children(command).run([], tmp_path, each))
    assert (said, log) == ([b"one\n", b"two\n"], "")
    os.close(go)


def test_the_end_of_a_long_log_is_kept_and_a_long_line_is_one(tmp_path):
    program = "import sys; print('x' * 10**6); print('y' * 10**6, 'the end', file=sys.stderr)"
    said = []
    log = asyncio.run(Children((sys.executable, "-S", "-c", program)).run([], tmp_path, said.append))
    assert len(said) == 1
    assert log.endswith("y the end")
    assert len(log) < 50_000


def test_no_more_run_at_once_than_there_is_room_for(child, monkeypatch):
    start, started = asyncio.create_subprocess_exec, []

    def counted(*command: str, **how: Any) -> Any:
        started.append(command[-2])
        return start(*command, **how)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", counted)

    async def scene() -> None:
        children = Children(child.command, many=2)
        async with child.held() as begun:
            running = [asyncio.create_task(children.run([n, "lab"], child.root, print)) for n in "abc"]
            await begun()
            await begun()
            assert started == ["a", "b"]
        await asyncio.gather(*running)
        assert started == ["a", "b", "c"]

    asyncio.run(scene())


def test_one_that_is_given_up_is_killed(child):
    async def scene() -> int:
        async with child.held() as begun:
            running = asyncio.create_task(Children(child.command).run(["a", "lab"], child.root, print))
            await begun()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(running, 60)
        return len(asyncio.all_tasks())

    assert asyncio.run(scene()) == 1


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ChildError, match="nowhere"):
        asyncio.run(Children().run([], tmp_path / "nowhere", print))


@pytest.mark.parametrize(("ending", "command"), [("stopped", DEAF), ("killed", WORKER)])
def test_they_end_with_the_server_however_it_ends(tmp_path, ending, command):
    begun, go = (pipe(tmp_path / name) for name in ("begun", "go"))
    os.mkfifo(tmp_path / "alive")
    alive = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)  # at its end once no child has it open
    server = [sys.executable, "-c", SERVER, ending, *command]
    done = subprocess.run(server, cwd=tmp_path, timeout=60, check=False)
    assert done.returncode == (0 if ending == "stopped" else -signal.SIGKILL)
    assert select.select([alive], [], [], 60)[0], "a child outlived its server"
    assert os.read(alive, 1) == b""
    for each in (begun, go, alive):
        os.close(each)
