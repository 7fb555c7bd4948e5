"""The fork server, and what becomes of it and its workers when it, its owner or a fork of that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import pytest

from lastgood.recovery import warm
from lastgood.recovery.warm import ChannelError, WarmServer, WarmServerError

PATIENCE = 10.0  # seconds, reached by a failing test only
Look = Callable[[int], bool]  # at the process of this id
Eventually = Callable[[Callable[[], bool]], bool]


def test_a_failed_start_is_reported_with_its_cause(
    env: Mapping[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    with WarmServer(preload=("no_such_module",), env=env) as broken:
        with pytest.raises(WarmServerError, match=r"(?s)did not start.*No module named 'no_such_module'"):
            broken.wait_ready(PATIENCE)
        assert not broken.alive
        with pytest.raises(WarmServerError, match="did not start"):
            broken.spawn("warm_targets:echo")
    assert capfd.readouterr() == ("", "")


def test_an_argument_of_another_kind_is_refused_before_a_process_is_made(server: WarmServer) -> None:
    with pytest.raises(ChannelError, match="argument 2 is a list"):
        server.spawn("warm_targets:arguments", b"", [1])  # type: ignore[arg-type]


def test_a_malformed_target_is_refused(server: WarmServer) -> None:
    with pytest.raises(WarmServerError, match="module:function"):
        server.spawn("warm_targets")


def test_many_workers_run_at_once_and_end_each_on_its_own(server: WarmServer) -> None:
    workers = [server.spawn("warm_targets:echo") for _ in range(5)]
    workers[2].kill()
    assert workers[2].wait(PATIENCE) == -signal.SIGKILL
    for index in (0, 1, 3, 4):
        workers[index].channel.send(b"%d" % index)
        assert workers[index].channel.recv(PATIENCE) == b"%d" % index
        workers[index].channel.close()
        assert workers[index].wait(PATIENCE) == 0


def test_several_threads_share_a_server(server: WarmServer) -> None:
    answers: dict[int, bytes] = {}

    def work(index: int) -> None:
        for _ in range(3):
            with server.spawn("warm_targets:echo") as worker:
                worker.channel.send(b"%d" % index)
                answers[index] = worker.channel.recv(PATIENCE)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert answers == {index: b"%d" % index for index in range(4)}


def test_a_closed_server_takes_its_workers_along_and_says_so(env: Mapping[str, str], exists: Look) -> None:
    with WarmServer(preload=("json",), env=env) as server:
        worker = server.spawn("warm_targets:announce_and_hang")
    assert worker.wait(PATIENCE) == -signal.SIGKILL
    assert not exists(worker.pid)
    assert not exists(server.pid)
    with pytest.raises(WarmServerError, match="closed"):
        server.spawn("warm_targets:echo")


def test_a_dead_server_is_reported_and_its_workers_are_gone(
    env: Mapping[str, str], runs: Look, eventually: Eventually
) -> None:
    with WarmServer(preload=("json",), env=env) as server:
        worker = server.spawn("warm_targets:announce_and_hang")
        os.kill(server.pid, signal.SIGKILL)
        with pytest.raises(WarmServerError, match="its server died first"):
            worker.wait(PATIENCE)
        with pytest.raises(WarmServerError, match="has died"):
            server.spawn("warm_targets:echo")
        if sys.platform == "linux":
            assert eventually(lambda: not runs(worker.pid))


# An owner in a process of its own, so that it can be interrupted and killed.
OWNER = """
import os, signal, sys
from lastgood.recovery.warm import WarmServer

server = WarmServer(preload=("json",))
worker = server.spawn("warm_targets:announce_and_hang")
worker.channel.recv(10)
signal.signal(signal.SIGINT, lambda *_: None)
if sys.argv[1] == "forked" and os.fork() == 0:
    while True:
        signal.pause()
print(server.pid, worker.pid, flush=True)
sys.stdin.readline()
with server.spawn("warm_targets:announce_and_hang") as second:
    print(second.channel.recv(10).decode(), worker.alive, flush=True)
sys.stdin.readline()
"""


@contextmanager
def owner(env: Mapping[str, str], kind: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, kind],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def line_from(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


@pytest.mark.parametrize("kind", ["plain", "forked"])  # a fork of the owner keeps its sockets open
def test_server_and_workers_vanish_with_a_killed_owner(
    env: Mapping[str, str], kind: str, runs: Look, eventually: Eventually
) -> None:
    with owner(env, kind) as process:
        server_pid, worker_pid = map(int, line_from(process).split())
        assert runs(server_pid)
        assert runs(worker_pid)
        process.kill()
        assert eventually(lambda: not runs(server_pid))
        assert eventually(lambda: not runs(worker_pid))


def test_an_interrupt_of_the_owners_process_group_reaches_neither(env: Mapping[str, str]) -> None:
    with owner(env, "plain") as process:
        line_from(process)
        os.killpg(process.pid, signal.SIGINT)
        assert process.stdin is not None
        process.stdin.write("go on\n")
        process.stdin.flush()
        assert line_from(process) == "running True\n"


def test_the_shared_server_is_one_and_is_replaced_when_dead(eventually: Eventually) -> None:
    first = warm.shared_server()
    assert warm.shared_server() is first
    os.kill(first.pid, signal.SIGKILL)
    assert eventually(lambda: not first.alive)
    second = warm.shared_server()
    assert second is not first
    second.close()


def test_a_fork_of_the_owner_neither_uses_nor_harms_its_server(env: Mapping[str, str]) -> None:
    script = """
import os
from lastgood.recovery.warm import WarmServer, WarmServerError, shared_server

mine, shared = WarmServer(preload=("json",)), shared_server()
mine.wait_ready()
if (child := os.fork()) == 0:
    try:
        mine.spawn("json:dumps")
    except WarmServerError as error:
        print(error, flush=True)
    own = shared_server()
    print(own is not shared, flush=True)
    own.close()
    mine.close()
    os._exit(0)
os.waitpid(child, 0)
print(mine.alive, shared.alive)
"""
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    refused, own, after = done.stdout.splitlines()
    assert "is a fork" in refused
    assert (own, after) == ("True", "True True")
