"""A control group for a kernel: how much memory and how many processes it may have, and whether it hit that.

Linux has two versions of them. In version 1 memory and processes are counted in separate trees, and a group
may be made in one's own. In version 2 there is one tree, and a group may be made only where no process is and
where the controllers are handed down: beside one's own group or further up.
"""

import itertools
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autograder.sandbox.settings import Sandbox

PREFIX = "lastgood-"
_numbers = itertools.count()


@dataclass(frozen=True)
class Counts:
    """How often a limit was met: processes that were killed for memory, and forks that were refused."""

    out_of_memory: int = 0
    out_of_processes: int = 0


@dataclass
class Group:
    """Folders in the trees of control groups. Without any, nothing is limited and nothing counted."""

    memory: Path | None = None
    processes: Path | None = None
    _folders: list[Path] = field(default_factory=list)

    @property
    def doors(self) -> list[str]:
        """Files to which a process writes 0 to join."""
        return [str(folder / "cgroup.procs") for folder in self._folders]

    def counts(self) -> Counts:
        killed = (
            _number_after("oom_kill", self.memory, "memory.events", "memory.oom_control")
            if self.memory
            else 0
        )
        refused = _number_after("max", self.processes, "pids.events") if self.processes else 0
        return Counts(killed, refused)

    def remove(self, patience: float = 2.0) -> None:
        """Remove the folders, once the last process in them is gone; `patience` in seconds."""
        give_up = time.monotonic() + patience
        for folder in self._folders:
            while folder.exists():
                try:
                    folder.rmdir()
                except OSError:
                    if time.monotonic() > give_up:
                        break  # the next kernel's group sweeps it away
                    time.sleep(0.01)
        self._folders.clear()


def make(sandbox: Sandbox, proc: Path = Path("/proc/self")) -> Group:
    """Make a group with the sandbox's limits, as far as this process may. `proc` is for tests."""
    group = Group()
    name = f"{PREFIX}{os.getpid()}-{next(_numbers)}"
    trees = _Trees(proc)
    memory = trees.parent("memory")
    if memory and (folder := _folder(memory / name)):
        group._folders.append(folder)
        if _set(folder, {"memory.max": sandbox.memory_bytes, "memory.swap.max": 0}) or _set(
            folder,
            {
                "memory.limit_in_bytes": sandbox.memory_bytes,
                "memory.memsw.limit_in_bytes": sandbox.memory_bytes,
            },
        ):
            group.memory = folder
    processes = trees.parent("pids")
    if processes and (folder := _folder(processes / name)):
        if folder not in group._folders:
            group._folders.append(folder)
        if _set(folder, {"pids.max": sandbox.processes}):
            group.processes = folder
    if not (group.memory or group.processes):
        group.remove(0)
    return group


class _Trees:
    """Where this process stands in the trees of control groups, read from /proc."""

    def __init__(self, proc: Path) -> None:
        self._own: dict[str, str] = {}  # by controller; version 2 is ""
        self._mounts: dict[str, tuple[str, Path]] = {}  # the tree's own root, and where it is mounted
        for line in _lines(proc / "cgroup"):
            _, controllers, path = line.split(":", 2)
            self._own |= dict.fromkeys(controllers.split(","), path)
        for line in _lines(proc / "mountinfo"):
            fields, _, rest = line.partition(" - ")
            kind, _, options = rest.split(" ", 2)
            root, mounted = fields.split(" ")[3:5]
            if kind in ("cgroup", "cgroup2"):
                names = options.split(",") if kind == "cgroup" else [""]
                self._mounts |= dict.fromkeys(names, (root, Path(mounted)))

    def parent(self, controller: str) -> Path | None:
        """The folder in which a group that `controller` governs can be made."""
        if controller in self._own and controller in self._mounts:
            own = self._folder(controller)
            _sweep(own)
            return own
        if "" not in self._own or "" not in self._mounts:
            return None
        top = self._mounts[""][1]
        own = self._folder("")
        for folder in (own, *own.parents):
            if not folder.is_relative_to(top):
                return None
            handed_down = " ".join(_lines(folder / "cgroup.subtree_control")).split()
            if {"memory", "pids"} <= set(handed_down) and os.access(folder, os.W_OK):
                _sweep(folder)
                return folder
        return None

    def _folder(self, controller: str) -> Path:
        root, mounted = self._mounts[controller]
        inside = os.path.relpath(self._own[controller], root)
        return mounted if inside.startswith("..") else (mounted / inside)


def _sweep(parent: Path) -> None:
    """Remove groups whose grader was killed before it could."""
    for left in parent.glob(f"{PREFIX}*"):
        maker = left.name.removeprefix(PREFIX).partition("-")[0]
        if not Path("/proc", maker).exists():
            try:
                left.rmdir()
            except OSError:
                continue


def _folder(path: Path) -> Path | None:
    try:
        path.mkdir(exist_ok=True)
    except OSError:
        return None
    return path


def _set(folder: Path, limits: dict[str, int]) -> bool:
    """Write the limits. The first one must hold; others, for swap, are not there on every machine."""
    for number, (name, value) in enumerate(limits.items()):
        try:
            with open(folder / name, "r+") as file:
                file.write(str(value))
        except OSError:
            if number == 0:
                return False
    return True


def _number_after(name: str, folder: Path, *files: str) -> int:
    for file in files:
        for line in _lines(folder / file):
            key, _, value = line.partition(" ")
            if key == name:
                return int(value)
    return 0


def _lines(path: Path) -> Iterator[str]:
    try:
        yield from path.read_text().splitlines()
    except OSError:
        return
