"""Walls that hold when a program runs behind bubblewrap's command line, and do not when a flag is dropped."""

import contextlib
import inspect
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.sandbox import command as commands
from autograder.sandbox import probes
from autograder.sandbox.command import command, environment
from autograder.sandbox.settings import MB, Sandbox
from autograder.sandbox.visible import view

ROOT = Path(__file__).resolve().parents[3]
SANDBOX = Sandbox(disk_bytes=16 * MB)
SECRET = "hunter2-" * 3
pytestmark = pytest.mark.needs_bwrap
Change = Callable[[list[str]], list[str]]


def without(*words: str) -> Change:
    """Drop a flag with its values."""

    def change(line: list[str]) -> list[str]:
        at = next(n for n in range(len(line)) if tuple(line[n : n + len(words)]) == words)
        return line[:at] + line[at + len(words) :]

    return change


def with_(*words: str) -> Change:
    """Let something in, last."""
    return lambda line: [*line[:-4], *words, *line[-4:]] if words[0] != "--remount-ro" else line


def same(line: list[str]) -> list[str]:
    return line


def attempt(
    probe: str, change: Change, tmp_path: Path, variables: dict[str, str] | None = None
) -> tuple[bool, str]:
    """What a probe reports from inside."""
    line = change(command(view(ROOT), SANDBOX, tmp_path))
    source = f"{inspect.getsource(probes)}\nprint({probe})"
    done = subprocess.run(
        [*line, "--", sys.executable, "-I", "-"],
        env=environment(os.environ) if variables is None else variables,
        input=source,  # not an argument, which a probe would find among processes
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    held, saw = eval(done.stdout)
    return held, saw


@contextlib.contextmanager
def servers() -> Iterator[tuple[int, str]]:
    name = f"lastgood-test-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as other:
        other.bind(f"\0{name}")
        other.listen()
        yield server.getsockname()[1], name


def open_net(line: list[str]) -> list[str]:
    at = line.index("--unshare-all") + 1
    return [*line[:at], "--share-net", *line[at:]]


@pytest.mark.parametrize(("change", "held"), [(same, True), (open_net, False)])
def test_no_network(change: Change, held: bool, tmp_path: Path) -> None:
    with servers() as (port, name):
        assert attempt(f"unreachable({port}, {name!r})", change, tmp_path)[0] is held


def shared_processes(line: list[str]) -> list[str]:
    at = line.index("--unshare-all")
    kinds = ("--unshare-ipc", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")
    return without("--disable-userns")([*line[:at], *kinds, *line[at + 1 :]])


@pytest.mark.parametrize(("change", "held"), [(same, True), (shared_processes, False)])
def test_no_process_of_the_machine(change: Change, held: bool, tmp_path: Path) -> None:
    mark = f"lastgood-{os.getpid()}"
    with subprocess.Popen([sys.executable, "-Ic", "input()", mark], stdin=subprocess.PIPE) as process:
        found = attempt(f"alone({process.pid}, {mark!r})", change, tmp_path)[0]
        process.communicate(b"\n")
    assert found is held


@pytest.mark.parametrize(
    ("change", "held"), [(same, True), (without("--disable-userns"), False)], ids=["whole", "namespaces"]
)
def test_no_capability_and_none_to_be_gained(change: Change, held: bool, tmp_path: Path) -> None:
    if "--disable-userns" not in commands._namespaces():
        pytest.skip("this bubblewrap is older than 0.8 and cannot refuse namespaces")
    assert attempt("powerless()", change, tmp_path)[0] is held


@pytest.mark.parametrize(
    ("change", "held"),
    [
        (same, True),
        (without("--remount-ro", "/"), False),
        (without("--remount-ro", "/dev"), False),
        (with_("--bind", "/var/tmp", "/var/tmp"), False),
        pytest.param(
            without("--ro-bind", "/proc/sys", "/proc/sys"),
            False,
            marks=pytest.mark.skipif(os.getuid() != 0, reason="only root may write the machine's settings"),
        ),
    ],
    ids=["whole", "root", "dev", "folder", "proc"],
)
def test_nothing_can_be_written_but_the_small_disk(change: Change, held: bool, tmp_path: Path) -> None:
    assert attempt('unwritable(["/", "/dev", "/usr", "/submission"])', change, tmp_path)[0] is held


def test_the_disk_is_small(tmp_path: Path) -> None:
    held, saw = attempt(f"small_disk({SANDBOX.disk_bytes})", same, tmp_path)
    assert held, saw
    held, saw = attempt(f"small_disk({SANDBOX.disk_bytes // 2})", same, tmp_path)
    assert not held, saw


@pytest.mark.parametrize(
    ("change", "held"), [(same, True), (with_("--ro-bind", str(ROOT), str(ROOT)), False)]
)
def test_no_master_and_no_grader(change: Change, held: bool, tmp_path: Path) -> None:
    paths = [str(ROOT / name) for name in ("solutions", "autograder/__init__.py", "nbgrader_config.py")]
    assert attempt(f"unreadable({paths})", change, tmp_path)[0] is held


def test_nothing_of_home_but_the_environment(tmp_path: Path) -> None:
    shown = [str(path) for path in view(ROOT).shown]
    held, saw = attempt(f"home({str(Path.home())!r}, {shown})", same, tmp_path)
    assert held, saw


def test_the_environment_is_clean_even_of_the_first_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", SECRET)
    held, saw = attempt(f"clean({SECRET!r})", same, tmp_path)
    assert held, saw
    # what bubblewrap is started with, its first process inside shows
    cleared = lambda line: [*line, "--clearenv"]  # noqa: E731
    held, saw = attempt(f"clean({SECRET!r})", cleared, tmp_path, dict(os.environ))
    assert not held, saw


def test_the_library_can_be_used_and_the_grader_cannot(tmp_path: Path) -> None:
    line = [*command(view(ROOT), SANDBOX, tmp_path), "--", sys.executable, "-c"]
    for module, status in (
        ("lastgood.training", 0),
        ("numpy", 0),
        ("autograder", 1),
        ("autograder.mutants", 1),
    ):
        done = subprocess.run([*line, f"import {module}"], env=environment({}), capture_output=True)
        assert done.returncode == status, done.stderr
