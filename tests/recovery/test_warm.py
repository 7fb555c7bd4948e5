"""The fork server, with real processes throughout."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from lastgood.recovery import warm
from lastgood.recovery.warm import Channel, ChannelError, WarmServer, WarmServerError, Worker

DEADLINE_S = 10.0

TARGETS = '''
"""What the workers of these tests run; they import it, as a forked process has no test module."""

import json, os, signal, subprocess, sys


def echo(channel):
    while True:
        try:
            channel.send(channel.recv())
        except EOFError:
            return


def arguments(channel, *args):
    channel.send(repr(args).encode())


def announce_and_hang(channel):
    channel.send(b"running")
    signal.pause()


def start_a_child_and_hang(channel):
    child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    channel.send(str(child.pid).encode())
    signal.pause()


def start_a_child_and_return(channel):
    child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    channel.send(str(child.pid).encode())


def fail(channel):
    print("printed before the failure")
    raise ValueError("the loader lost its place")


def write_both(channel):
    print("to stdout")
    print("to stderr", file=sys.stderr)
    os.write(2, b"straight to descriptor 2\\n")
    channel.send(b"written")
    signal.pause()


def write_much(channel):
    print("x" * 200_000 + "the end")


def leave(channel, status):
    sys.exit(status)


def describe(channel):
    import torch

    main = sys.modules["__main__"]
    main.marked = True
    channel.send(json.dumps({
        "threads": torch.get_num_threads(),
        "interop": torch.get_num_interop_threads(),
        "sum": torch.ones(300, 300).matmul(torch.ones(300, 300)).sum().item(),
        "main": sorted(vars(main)),
        "leader": os.getpgid(0) == os.getpid(),
        "cwd": os.getcwd(),
        "interrupt": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
        "child": signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL,
        "open": sorted(int(fd) for fd in os.listdir("/proc/self/fd")) if os.path.exists("/proc") else None,
    }).encode())
'''

# An owner in a process of its own, so that it can be interrupted and killed.
OWNER = """
import os, signal, sys
from lastgood.recovery.warm import WarmServer

server = WarmServer(preload=("json",))
worker = server.spawn("targets_of_test_warm:announce_and_hang")
worker.channel.recv(10)
signal.signal(signal.SIGINT, lambda *_: None)
if sys.argv[1] == "forked" and os.fork() == 0:
    while True:
        signal.pause()
print(server.pid, worker.pid, flush=True)
sys.stdin.readline()
with server.spawn("targets_of_test_warm:announce_and_hang") as second:
    print(second.channel.recv(10).decode(), worker.alive, flush=True)
sys.stdin.readline()
"""


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    folder = tmp_path_factory.mktemp("targets")
    (folder / "targets_of_test_warm.py").write_text(TARGETS)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}


@pytest.fixture(scope="module")
def server(env: Mapping[str, str]) -> Iterator[WarmServer]:
    with WarmServer(preload=("torch",), env=env) as server:
        yield server


@pytest.fixture
def pair() -> Iterator[tuple[Channel, Channel]]:
    left, right = (Channel(end) for end in socket.socketpair())
    yield left, right
    left.close()
    right.close()


def start(
    server: WarmServer, target: str, *args: bytes | str | float | None, cwd: str | None = None
) -> Worker:
    return server.spawn(f"targets_of_test_warm:{target}", *args, cwd=cwd)


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def runs(pid: int) -> bool:
    """Whether it exists and is no zombie: what reaps an orphan, and when, is not ours to decide."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        return exists(pid) and (
            not Path("/proc").exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
        )
    except FileNotFoundError:
        return False


def eventually(condition: Callable[[], bool]) -> bool:
    deadline, pause = time.monotonic() + DEADLINE_S, threading.Event()
    while not condition():
        if time.monotonic() > deadline:
            return False
        pause.wait(0.01)
    return True


def test_a_worker_answers_on_its_channel(server: WarmServer) -> None:
    with start(server, "echo") as worker:
        for message in (b"state", b"", b"\x00\xff\n"):
            worker.channel.send(message)
            assert worker.channel.recv(DEADLINE_S) == message


def test_a_megabyte_passes_both_ways(server: WarmServer) -> None:
    data = os.urandom(1024 * 1024)
    with start(server, "echo") as worker:
        worker.channel.send(data)
        assert worker.channel.recv(DEADLINE_S) == data


def test_arguments_arrive_as_they_were_given(server: WarmServer) -> None:
    args = (b"\x00bytes", "text é\n", 2**70, -0.1, None, True, b"", b"x" * 1_000_000)
    with start(server, "arguments", *args) as worker:
        assert worker.channel.recv(DEADLINE_S).decode() == repr(args)


def test_an_argument_of_another_kind_is_refused_before_a_process_is_made(server: WarmServer) -> None:
    with pytest.raises(ChannelError, match="argument 2 is a list"):
        server.spawn("targets_of_test_warm:arguments", b"", [1])  # type: ignore[arg-type]


def test_killed_worker_reports_minus_nine_and_leaves_no_zombie(server: WarmServer) -> None:
    worker = start(server, "announce_and_hang")
    worker.channel.recv(DEADLINE_S)
    assert worker.alive
    worker.kill()
    assert worker.wait(DEADLINE_S) == -signal.SIGKILL
    assert not exists(worker.pid)
    assert not worker.alive
    worker.kill()  # of one already reaped: reaches nobody
    assert worker.wait(0) == -signal.SIGKILL


def test_a_worker_can_be_killed_before_it_runs(server: WarmServer) -> None:
    for _ in range(10):
        worker = start(server, "announce_and_hang")
        worker.kill()
        assert worker.wait(DEADLINE_S) == -signal.SIGKILL


def test_leaving_the_with_block_kills_the_worker(server: WarmServer) -> None:
    with start(server, "announce_and_hang") as worker:
        pass
    assert not exists(worker.pid)


def test_a_forgotten_worker_is_killed(server: WarmServer) -> None:
    pid = start(server, "announce_and_hang").pid
    assert eventually(lambda: not exists(pid))


@pytest.mark.parametrize("target", ["start_a_child_and_hang", "start_a_child_and_return"])
def test_what_a_worker_started_ends_with_it(server: WarmServer, target: str) -> None:
    if target.endswith("return") and not hasattr(os, "waitid"):
        pytest.skip("macOS before Python 3.13 cannot look at a zombie without reaping it")
    with start(server, target) as worker:
        child = int(worker.channel.recv(DEADLINE_S))
        if target.endswith("return"):
            assert worker.wait(DEADLINE_S) == 0
    assert eventually(lambda: not runs(child))


def test_a_failure_is_told_in_the_output_and_the_status(server: WarmServer) -> None:
    with start(server, "fail") as worker:
        assert worker.wait(DEADLINE_S) == 1
        assert "printed before the failure" in worker.output()
        assert "ValueError: the loader lost its place" in worker.output()


@pytest.mark.parametrize(
    ("target", "cause"),
    [
        ("no_such_module:run", "No module named 'no_such_module'"),
        ("targets_of_test_warm:no_such_function", "no_such_function"),
    ],
)
def test_a_missing_target_is_told_in_the_output(server: WarmServer, target: str, cause: str) -> None:
    with server.spawn(target, b"x" * 1_000_000) as worker:
        assert worker.wait(DEADLINE_S) == 1
        assert cause in worker.output()


def test_a_missing_working_directory_is_told_in_the_output(server: WarmServer, tmp_path: Path) -> None:
    with start(server, "echo", cwd=str(tmp_path / "gone")) as worker:
        assert worker.wait(DEADLINE_S) == 1
        assert "gone" in worker.output()


def test_a_malformed_target_is_refused(server: WarmServer) -> None:
    with pytest.raises(WarmServerError, match="module:function"):
        server.spawn("targets_of_test_warm")


@pytest.mark.parametrize(("asked", "status"), [(0, 0), (7, 7), (None, 0), ("plainly", 1)])
def test_sys_exit_gives_the_status_it_gives_a_script(
    server: WarmServer, asked: int | str | None, status: int
) -> None:
    with start(server, "leave", asked) as worker:
        assert worker.wait(DEADLINE_S) == status


def test_what_a_worker_writes_stays_out_of_our_own_streams(
    server: WarmServer, capfd: pytest.CaptureFixture[str]
) -> None:
    with start(server, "write_both") as worker:
        worker.channel.recv(DEADLINE_S)
    assert worker.output().splitlines() == ["to stdout", "to stderr", "straight to descriptor 2"]
    assert capfd.readouterr() == ("", "")


def test_output_keeps_the_end_of_what_was_written(server: WarmServer) -> None:
    with start(server, "write_much") as worker:
        assert worker.wait(DEADLINE_S) == 0
        assert len(worker.output()) == 64 * 1024
        assert worker.output().endswith("xthe end\n")


def test_a_worker_looks_like_a_new_single_threaded_process(server: WarmServer, tmp_path: Path) -> None:
    for _ in range(2):  # the second sees nothing of the first
        with start(server, "describe", cwd=str(tmp_path)) as worker:
            seen = json.loads(worker.channel.recv(DEADLINE_S))
        new_main = ["__builtins__", "__doc__", "__loader__", "__name__", "__package__", "__spec__", "marked"]
        assert seen["main"] == new_main
        assert (seen["threads"], seen["interop"]) == (1, 1)
        assert seen["sum"] == 300.0**3  # and it computes, where a fork of a computing parent hangs
        assert seen["leader"]
        assert seen["cwd"] == str(tmp_path.resolve())
        assert seen["interrupt"]
        assert seen["child"]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads /proc")
def test_a_worker_holds_no_descriptor_of_the_server_or_of_another_worker(server: WarmServer) -> None:
    with start(server, "echo"), start(server, "describe") as worker:
        open_there = json.loads(worker.channel.recv(DEADLINE_S))["open"]
        assert open_there[:3] == [0, 1, 2]
        assert len(open_there) == 5  # its channel, and the listing of this folder itself


def test_many_workers_run_at_once_and_end_each_on_its_own(server: WarmServer) -> None:
    workers = [start(server, "echo") for _ in range(5)]
    workers[2].kill()
    assert workers[2].wait(DEADLINE_S) == -signal.SIGKILL
    for index in (0, 1, 3, 4):
        workers[index].channel.send(b"%d" % index)
        assert workers[index].channel.recv(DEADLINE_S) == b"%d" % index
        workers[index].channel.close()
        assert workers[index].wait(DEADLINE_S) == 0


def test_several_threads_share_a_server(server: WarmServer) -> None:
    answers: dict[int, bytes] = {}

    def work(index: int) -> None:
        for _ in range(3):
            with start(server, "echo") as worker:
                worker.channel.send(b"%d" % index)
                answers[index] = worker.channel.recv(DEADLINE_S)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_S)
    assert answers == {index: b"%d" % index for index in range(4)}


def test_waiting_for_a_running_worker_times_out(server: WarmServer) -> None:
    with start(server, "echo") as worker:
        with pytest.raises(TimeoutError, match=f"worker {worker.pid} still runs"):
            worker.wait(0.01)
        with pytest.raises(TimeoutError):
            worker.channel.recv(0.01)
        worker.channel.send(b"and then works")
        assert worker.channel.recv(DEADLINE_S) == b"and then works"


def test_receiving_goes_on_in_the_middle_of_a_frame_after_a_timeout() -> None:
    left, right = socket.socketpair()
    channel = Channel(right)
    left.sendall(b"\x00\x00\x00\x05he")
    with pytest.raises(TimeoutError):
        channel.recv(0)
    left.sendall(b"llo")
    assert channel.recv(0) == b"hello"
    left.sendall(b"\x00\x00\x00\x05he")
    left.close()
    with pytest.raises(EOFError, match="6 bytes into a frame"):
        channel.recv(DEADLINE_S)


def test_what_was_sent_before_hanging_up_is_still_received(pair: tuple[Channel, Channel]) -> None:
    left, right = pair
    left.send(b"last words")
    left.close()
    assert right.recv(DEADLINE_S) == b"last words"
    with pytest.raises(EOFError):
        right.recv(DEADLINE_S)
    with pytest.raises(EOFError):
        right.send(b"anyone there?")
    with pytest.raises(EOFError, match="at this end"):
        left.recv(0)


def test_sending_to_an_end_that_does_not_read_times_out_and_hangs_up(pair: tuple[Channel, Channel]) -> None:
    left, right = pair
    with pytest.raises(TimeoutError):
        left.send(bytes(4_000_000), timeout=0.01)
    with pytest.raises(EOFError, match="into a frame"):
        right.recv(DEADLINE_S)


def test_a_frame_over_the_limit_is_refused_at_both_ends(pair: tuple[Channel, Channel]) -> None:
    left, right = pair
    with pytest.raises(ChannelError, match="67,108,865 bytes refused"):
        left.send(bytes(64 * 1024 * 1024 + 1), timeout=0.1)
    left.send(b"the refusal did not spoil the channel")
    assert right.recv(DEADLINE_S) == b"the refusal did not spoil the channel"
    right.max_frame = 10
    left.send(b"12345678901")
    with pytest.raises(ChannelError, match="11 bytes refused"):
        right.recv(DEADLINE_S)


def test_a_failed_start_is_reported_with_its_cause(
    env: Mapping[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    with WarmServer(preload=("no_such_module",), env=env) as broken:
        with pytest.raises(WarmServerError, match=r"(?s)did not start.*No module named 'no_such_module'"):
            broken.wait_ready(DEADLINE_S)
        assert not broken.alive
        with pytest.raises(WarmServerError, match="did not start"):
            start(broken, "echo")
    assert capfd.readouterr() == ("", "")


def test_a_closed_server_takes_its_workers_along_and_says_so(env: Mapping[str, str]) -> None:
    with WarmServer(preload=("json",), env=env) as server:
        worker = start(server, "announce_and_hang")
    assert worker.wait(DEADLINE_S) == -signal.SIGKILL
    assert not exists(worker.pid)
    assert not exists(server.pid)
    with pytest.raises(WarmServerError, match="closed"):
        start(server, "echo")


def test_a_dead_server_is_reported_and_its_workers_are_gone(env: Mapping[str, str]) -> None:
    with WarmServer(preload=("json",), env=env) as server:
        worker = start(server, "announce_and_hang")
        os.kill(server.pid, signal.SIGKILL)
        with pytest.raises(WarmServerError, match="its server died first"):
            worker.wait(DEADLINE_S)
        with pytest.raises(WarmServerError, match="has died"):
            start(server, "echo")
        if sys.platform == "linux":
            assert eventually(lambda: not runs(worker.pid))


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
def test_server_and_workers_vanish_with_a_killed_owner(env: Mapping[str, str], kind: str) -> None:
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


def test_the_shared_server_is_one_and_is_replaced_when_dead() -> None:
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
