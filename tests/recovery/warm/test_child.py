"""What a fork becomes: a process that looks new, and says in its output what went wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lastgood.recovery.warm import WarmServer

PATIENCE = 10.0  # seconds, reached by a failing test only


def test_a_worker_looks_like_a_new_single_threaded_process(server: WarmServer, tmp_path: Path) -> None:
    for _ in range(2):  # the second sees nothing of the first
        with server.spawn("warm_targets:describe", cwd=str(tmp_path)) as worker:
            seen = json.loads(worker.channel.recv(PATIENCE))
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
    with server.spawn("warm_targets:echo"), server.spawn("warm_targets:describe") as worker:
        open_there = json.loads(worker.channel.recv(PATIENCE))["open"]
        assert open_there[:3] == [0, 1, 2]
        assert len(open_there) == 5  # its channel, and the listing of this folder itself


def test_arguments_arrive_as_they_were_given(server: WarmServer) -> None:
    args = (b"\x00bytes", "text é\n", 2**70, -0.1, None, True, b"", b"x" * 1_000_000)
    with server.spawn("warm_targets:arguments", *args) as worker:
        assert worker.channel.recv(PATIENCE).decode() == repr(args)


def test_a_failure_is_told_in_the_output_and_the_status(server: WarmServer) -> None:
    with server.spawn("warm_targets:fail") as worker:
        assert worker.wait(PATIENCE) == 1
        assert "printed before the failure" in worker.output()
        assert "ValueError: the loader lost its place" in worker.output()


@pytest.mark.parametrize(
    ("target", "cause"),
    [
        ("no_such_module:run", "No module named 'no_such_module'"),
        ("warm_targets:no_such_function", "no_such_function"),
    ],
)
def test_a_missing_target_is_told_in_the_output(server: WarmServer, target: str, cause: str) -> None:
    with server.spawn(target, b"x" * 1_000_000) as worker:
        assert worker.wait(PATIENCE) == 1
        assert cause in worker.output()


def test_a_missing_working_directory_is_told_in_the_output(server: WarmServer, tmp_path: Path) -> None:
    with server.spawn("warm_targets:echo", cwd=str(tmp_path / "gone")) as worker:
        assert worker.wait(PATIENCE) == 1
        assert "gone" in worker.output()


@pytest.mark.parametrize(("asked", "status"), [(0, 0), (7, 7), (None, 0), ("plainly", 1)])
def test_sys_exit_gives_the_status_it_gives_a_script(
    server: WarmServer, asked: int | str | None, status: int
) -> None:
    with server.spawn("warm_targets:leave", asked) as worker:
        assert worker.wait(PATIENCE) == status
