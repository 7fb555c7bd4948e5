"""Where control groups are made, in both versions, and that a real one counts."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.sandbox import groups, probes
from autograder.sandbox.groups import Counts, make
from autograder.sandbox.settings import MB, Sandbox

SANDBOX = Sandbox(memory_bytes=256 * MB, processes=16)


def machine(tmp_path: Path, own: str, mounts: list[tuple[str, str, str, str]]) -> Path:
    """A made-up /proc/self: lines of `cgroup`, and mounts as (root, folder, kind, options)."""
    proc = tmp_path / "proc"
    proc.mkdir()
    (proc / "cgroup").write_text(own)
    lines = [
        f"{n} 1 0:{n} {root} {tmp_path / folder} rw,relatime - {kind} {kind} rw,{options}\n"
        for n, (root, folder, kind, options) in enumerate(mounts)
    ]
    (proc / "mountinfo").write_text("".join(lines))
    return proc


def control_files(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let every group that is made have these files, as Linux does."""
    mkdir = Path.mkdir

    def made(path: Path, *arguments: object, **options: object) -> None:
        mkdir(path, *arguments, **options)  # type: ignore[arg-type]
        for name in names:
            (path / name).touch()

    monkeypatch.setattr(Path, "mkdir", made)


def test_in_version_1_it_lies_in_ones_own_group_of_each_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("memory/box", "pids"):
        (tmp_path / folder).mkdir(parents=True)
    proc = machine(
        tmp_path,
        "4:memory:/docker/7/box\n8:pids:/\n0::/\n",
        [("/docker/7", "memory", "cgroup", "memory"), ("/", "pids", "cgroup", "pids")],
    )
    control_files(monkeypatch, "memory.limit_in_bytes", "pids.max")
    group = make(SANDBOX, proc)
    assert group.memory is not None
    assert group.processes is not None
    assert group.memory.parent == tmp_path / "memory/box"
    assert group.processes.parent == tmp_path / "pids"
    assert (group.memory / "memory.limit_in_bytes").read_text() == str(SANDBOX.memory_bytes)
    assert (group.processes / "pids.max").read_text() == str(SANDBOX.processes)
    assert len(group.doors) == 2


def test_in_version_2_it_lies_where_controllers_are_handed_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "tree/user.slice/app.slice/terminal.scope"
    own.mkdir(parents=True)
    for folder, controllers in ((own, ""), (own.parent, "memory pids"), (own.parents[1], "cpu memory pids")):
        (folder / "cgroup.subtree_control").write_text(controllers)
    proc = machine(
        tmp_path, "0::/user.slice/app.slice/terminal.scope\n", [("/", "tree", "cgroup2", "nsdelegate")]
    )
    control_files(monkeypatch, "memory.max", "memory.swap.max", "pids.max")
    group = make(SANDBOX, proc)
    assert group.memory == group.processes
    assert group.memory is not None
    assert group.memory.parent == own.parent
    assert (group.memory / "memory.swap.max").read_text() == "0"
    assert len(group.doors) == 1
    (group.memory / "memory.events").write_text("low 0\noom 3\noom_kill 2\n")
    (group.memory / "pids.events").write_text("max 5\n")
    assert group.counts() == Counts(2, 5)


@pytest.mark.parametrize("own", ["", "0::/\n", "0::/../elsewhere\n", "4:memory:/\n"])
def test_where_none_can_be_had_there_is_none_and_nothing_is_left(tmp_path: Path, own: str) -> None:
    (tmp_path / "tree").mkdir()
    proc = machine(tmp_path, own, [("/", "tree", "cgroup2", "nsdelegate"), ("/", "gone", "cgroup", "memory")])
    group = make(SANDBOX, proc)
    assert (group.memory, group.processes, group.doors) == (None, None, [])
    assert group.counts() == Counts()
    assert list((tmp_path / "tree").iterdir()) == []


def test_what_a_killed_grader_left_is_swept_away_and_a_living_ones_stays(tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as gone:
        pass
    for maker in (gone.pid, 1):
        (tmp_path / f"{groups.PREFIX}{maker}-0").mkdir()
    groups._sweep(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [f"{groups.PREFIX}1-0"]


def test_a_real_group_refuses_processes_and_counts_that() -> None:
    group = make(SANDBOX)
    if group.processes is None:
        pytest.skip("this user may make no control group here")
    try:
        join = 'for door; do echo 0 >"$door"; done; exec "$PYTHON" -c "$SOURCE"'
        source = f"{inspect.getsource(probes)}\nprint(start_processes({SANDBOX.processes}))"
        run = {"PYTHON": sys.executable, "SOURCE": source}
        done = subprocess.run(["sh", "-c", join, "sh", *group.doors], env=run, capture_output=True, text=True)
        assert done.stdout.startswith("refused after ")
        assert group.counts().out_of_processes
    finally:
        folders = list(map(Path, group.doors))
        group.remove(10.0)
    assert not any(door.parent.exists() for door in folders)
