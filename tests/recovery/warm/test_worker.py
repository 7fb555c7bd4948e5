"""The owner's handle on a worker: to talk with it, wait for it, end it and read what it printed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from lastgood.recovery.warm import WarmServer

PATIENCE = 10.0  # seconds, reached by a failing test only
Look = Callable[[int], bool]  # at the process of this id
Eventually = Callable[[Callable[[], bool]], bool]


def test_a_worker_answers_on_its_channel(server: WarmServer) -> None:
    with server.spawn("warm_targets:echo") as worker:
        for message in (b"state", b"", b"\x00\xff\n"):
            worker.channel.send(message)
            assert worker.channel.recv(PATIENCE) == message


def test_a_megabyte_passes_both_ways(server: WarmServer) -> None:
    data = os.urandom(1024 * 1024)
    with server.spawn("warm_targets:echo") as worker:
        worker.channel.send(data)
        assert worker.channel.recv(PATIENCE) == data


def test_waiting_for_a_running_worker_times_out(server: WarmServer) -> None:
    with server.spawn("warm_targets:echo") as worker:
        with pytest.raises(TimeoutError, match=f"worker {worker.pid} still runs"):
            worker.wait(0.01)
        with pytest.raises(TimeoutError):
            worker.channel.recv(0.01)
        worker.channel.send(b"and then works")
        assert worker.channel.recv(PATIENCE) == b"and then works"


def test_killed_worker_reports_minus_nine_and_leaves_no_zombie(server: WarmServer, exists: Look) -> None:
    worker = server.spawn("warm_targets:announce_and_hang")
    worker.channel.recv(PATIENCE)
    assert worker.alive
    worker.kill()
    assert worker.wait(PATIENCE) == -signal.SIGKILL
    assert not exists(worker.pid)
    assert not worker.alive
    worker.kill()  # of one already reaped: reaches nobody
    assert worker.wait(0) == -signal.SIGKILL


def test_a_worker_can_be_killed_before_it_runs(server: WarmServer) -> None:
    for _ in range(10):
        worker = server.spawn("warm_targets:announce_and_hang")
        worker.kill()
        assert worker.wait(PATIENCE) == -signal.SIGKILL


def test_leaving_the_with_block_kills_the_worker(server: WarmServer, exists: Look) -> None:
    with server.spawn("warm_targets:announce_and_hang") as worker:
        pass
    assert not exists(worker.pid)


def test_a_forgotten_worker_is_killed(server: WarmServer, exists: Look, eventually: Eventually) -> None:
    pid = server.spawn("warm_targets:announce_and_hang").pid
    assert eventually(lambda: not exists(pid))


@pytest.mark.parametrize("target", ["start_a_child_and_hang", "start_a_child_and_return"])
def test_what_a_worker_started_ends_with_it(
    server: WarmServer,
    target: str,
    runs: Look,
    eventually: Eventually,
) -> None:
    if target.endswith("return") and not hasattr(os, "waitid"):
        pytest.skip("macOS before Python 3.13 cannot look at a zombie without reaping it")
    with server.spawn(f"warm_targets:{target}") as worker:
        child = int(worker.channel.recv(PATIENCE))
        if target.endswith("return"):
            assert worker.wait(PATIENCE) == 0
    assert eventually(lambda: not runs(child))


def test_what_a_worker_writes_stays_out_of_our_own_streams(
    server: WarmServer, capfd: pytest.CaptureFixture[str]
) -> None:
    with server.spawn("warm_targets:write_both") as worker:
        worker.channel.recv(PATIENCE)
    assert worker.output().splitlines() == ["to stdout", "to stderr", "straight to descriptor 2"]
    assert capfd.readouterr() == ("", "")


def test_output_keeps_the_end_of_what_was_written(server: WarmServer) -> None:
    with server.spawn("warm_targets:write_much") as worker:
        assert worker.wait(PATIENCE) == 0
        assert len(worker.output()) == 64 * 1024
        assert worker.output().endswith("xthe end\n")


def test_what_a_worker_writes_goes_where_its_owner_says(server: WarmServer) -> None:
    read, write = os.pipe()
    with open(read, "rb") as reader, server.spawn("warm_targets:fail", output=write) as worker:
        os.close(write)
        assert worker.wait(PATIENCE) == 1
        assert b"ValueError: the loader lost its place" in reader.read()
        assert worker.output() == ""
