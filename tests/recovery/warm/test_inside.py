"""A fork of the warm server steps into a sandbox: it has what is there, and nothing of where it came from."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator

import pytest

from lastgood.recovery.warm import Inside, WarmServer

PATIENCE = 10.0
pytestmark = pytest.mark.needs_bwrap

BWRAP = (
    *("bwrap", "--unshare-all", "--cap-drop", "ALL", "--die-with-parent"),
    *("--ro-bind", "/", "/", "--tmpfs", "/mnt", "--proc", "/proc", "--dev", "/dev", "--hostname", "walls"),
)


@pytest.fixture
def walls() -> Iterator[tuple[Inside, subprocess.Popen[bytes]]]:
    told, tell = os.pipe()
    holder = subprocess.Popen(
        [*BWRAP, "--info-fd", str(tell), "/bin/sh", "-c", "echo; exec sleep infinity"],
        stdout=subprocess.PIPE,
        pass_fds=[tell],
    )
    os.close(tell)
    assert holder.stdout is not None
    assert holder.stdout.read(1) == b"\n"
    about = json.loads(os.read(told, 65536))
    os.close(told)
    yield Inside(about["child-pid"], about["pid-namespace"]), holder
    holder.kill()
    holder.communicate()


def test_what_is_inside_is_another_machine(
    server: WarmServer, walls: tuple[Inside, subprocess.Popen[bytes]]
) -> None:
    with server.spawn("warm_targets:surroundings", inside=walls[0], cwd="/mnt") as worker:
        seen = json.loads(worker.channel.recv(PATIENCE))
    assert seen["host"] == "walls"
    assert seen["folder"] == "/mnt"
    assert 1 < seen["pid"] < 10
    assert seen["interfaces"] == ["lo"]
    assert int(seen["capabilities"], 16) == 0
    assert int(seen["bounding"], 16) == 0
    assert seen["no_new_privileges"] == "1"
    assert str(server.pid) not in seen["processes"]
    files = [name for name in seen["open"] if name.startswith("/") and "/dev/" not in name]
    assert len(files) == 2  # stdout and stderr, one file without a name
    assert all(name.endswith("(deleted)") for name in files)


def test_it_ends_as_any_worker_ends(
    server: WarmServer, walls: tuple[Inside, subprocess.Popen[bytes]]
) -> None:
    with server.spawn("warm_targets:leave", 7, inside=walls[0]) as worker:
        assert worker.wait(PATIENCE) == 7
    with server.spawn("warm_targets:echo", inside=walls[0]) as worker:
        worker.channel.send(b"?")
        assert worker.channel.recv(PATIENCE) == b"?"
        worker.kill()
        assert worker.wait(PATIENCE) == -signal.SIGKILL


def test_what_it_left_running_ends_with_the_walls(
    server: WarmServer,
    walls: tuple[Inside, subprocess.Popen[bytes]],
    eventually: Callable[[Callable[[], bool]], bool],
) -> None:
    with server.spawn("warm_targets:leave_a_daemon", inside=walls[0]) as worker:
        assert worker.channel.recv(PATIENCE) == b"left"
        assert worker.wait(PATIENCE) == 0
    mine = f"{walls[0].pid_namespace}"
    assert len(_inhabitants(mine)) > 1
    walls[1].kill()
    assert eventually(lambda: not _inhabitants(mine))


def _inhabitants(namespace: str) -> list[str]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/ns/pid") == f"pid:[{namespace}]":
                found.append(pid)
        except OSError:
            continue
    return found


def test_walls_that_have_fallen_are_not_entered(
    server: WarmServer, walls: tuple[Inside, subprocess.Popen[bytes]]
) -> None:
    inside, holder = walls
    other = Inside(inside.holder, inside.pid_namespace + 1)
    with server.spawn("warm_targets:echo", inside=other) as worker:
        assert worker.wait(PATIENCE) == 1
        assert "is not the sandbox's any more" in worker.output()
    holder.kill()
    holder.wait()
    with server.spawn("warm_targets:echo", inside=inside) as worker:
        assert worker.wait(PATIENCE) == 1
        assert "InsideError" in worker.output()


def test_a_control_group_that_refuses_keeps_it_out(
    server: WarmServer, walls: tuple[Inside, subprocess.Popen[bytes]]
) -> None:
    inside = Inside(walls[0].holder, walls[0].pid_namespace, ("/no/such/group",))
    with server.spawn("warm_targets:echo", inside=inside) as worker:
        assert worker.wait(PATIENCE) == 1
        assert "/no/such/group" in worker.output()
