"""Does what `save` wrote come back after a kill, and is the older checkpoint safe while the newer is written?

Whatever `capture` misses is not counted twice: a state that went through the learner's `save` and `load` must
restore to the same run as the same state kept aside. Then a save over an older one is killed at each of its
changes to the file system, and `load` must find the older state or the newer one, whole.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lastgood.recovery.audit.plan import Plan, with_many_saves
from lastgood.recovery.components import PARAMETERS
from lastgood.recovery.durability.points import Point, points
from lastgood.recovery.durability.verdict import Durability, judge
from lastgood.recovery.learner import bundle
from lastgood.recovery.learner.answers import ask
from lastgood.recovery.learner.processes import Processes, Trusting
from lastgood.recovery.warm import WarmServer, shared_server
from lastgood.recovery.wire import pack, same

__all__ = ["WORKER", "Durability", "bundles", "follow", "judge", "measure"]

Paths = Sequence[Path]
WORKER = "lastgood.recovery.durability.worker:"
MOST_BYTES, MOST_FILES = 100 * 10**6, 1000  # in a folder of states, of which each has a megabyte
_COPIED = {stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK}


def measure(
    functions: dict[str, Callable[..., Any]], plan: Plan, server: WarmServer | None = None
) -> dict[str, Any]:
    """Save again and again, be killed, load; then die at each point of a save. Plain data: what was seen.

    Where the learner's `capture` and `restore` cannot be used, the library's stand in, and `reference` says
    so. Raises BundleError where `save` and `load` cannot travel to another process.
    """
    return follow(*bundles(functions), plan, Trusting(server or shared_server()))


def bundles(functions: dict[str, Callable[..., Any]]) -> tuple[bytes | None, bytes]:
    """All the functions as bytes, None where they cannot travel; and `save` and `load` alone.

    Raises BundleError where `save` and `load` cannot travel.
    """
    own = bundle.dumps({name: functions[name] for name in ("save", "load")})
    try:
        return bundle.dumps(functions), own
    except bundle.BundleError:
        return None, own


def follow(
    every: bytes | None,
    own: bytes,
    plan: Plan,
    processes: Processes,
    texts: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """`measure` of functions that are bytes already, in processes of the caller's choice.

    `texts`: as `ask` takes them.
    """
    plan = with_many_saves(plan)
    with processes.spawn(WORKER + "reference", pack(plan.orders())) as worker:
        right = ask(worker)["parameters"]
    if every is not None:
        data = _measure(every, plan, False, processes, texts)
        if not _upstream_failed(data, right):
            return {**data, "reference": False, "true": True}
    data = _measure(own, plan, True, processes, texts)
    return {**data, "reference": True, "true": _true(data.get("kept", []), right)}


def _upstream_failed(data: dict[str, Any], right: list[dict[str, Any]]) -> bool:
    """Whether capture or restore alone, without save and load, give no state to test with."""
    stages = ("unpickling", "capture", "writing what capture returned")
    if data["saver"].get("error", {}).get("stage") in stages:
        return True
    kept = data.get("kept")
    if kept is None:  # it ended before: in save, which is not upstream
        return False
    if any("error" in seen for seen in kept):
        return True
    return not _true(kept, right)


def _true(kept: list[dict[str, Any]], right: list[dict[str, Any]]) -> bool:
    """Whether the states kept aside bring back the parameters that the library's own run has there.

    They come from processes that ran the learner's functions, which could agree on any run.
    """
    if any("error" in seen for seen in kept):
        return False
    return same([seen["restored"][PARAMETERS]["values"] for seen in kept], right)


def _unfit(*folders: Path) -> dict[str, Any] | None:
    """Why what a save has left cannot be copied and looked at, as a worker's `error`; None where it can."""
    count = size = 0
    for folder in folders:
        if not stat.S_ISDIR(folder.lstat().st_mode):
            return _left("something else in its place")
        for at, inside, files in os.walk(folder):
            abouts = [Path(at, name).lstat() for name in (*inside, *files)]
            if any(stat.S_IFMT(about.st_mode) not in _COPIED for about in abouts):
                return _left("something in it that is no file")
            count += len(abouts)
            size += sum(about.st_size for about in abouts)
            if count > MOST_FILES or size > MOST_BYTES:
                return _left(f"more in it than {MOST_FILES:,} files or {MOST_BYTES // 10**6} MB")
    return None


def _left(what: str) -> dict[str, Any]:
    message = f"it was to leave states in the folder that it was given, and left {what}"
    return {"stage": "save", "kind": "ProcessDied", "message": message, "line": "", "blank": False}


def _measure(
    blob: bytes, plan: Plan, reference: bool, processes: Processes, texts: Mapping[str, str] | None
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="lastgood-save-") as name:
        scratch = Path(name)
        folder = scratch / "run" / "checkpoints"
        aside = {kept: scratch / kept / "state.pt" for kept in ("old", "new", "next")}
        older = scratch / "older" / "checkpoints"
        for path in (folder / "…", *aside.values(), older):
            path.parent.mkdir(parents=True)
        paths = {kept: str(file) for kept, file in aside.items()}
        known = paths | {"folder_old": str(older), "since": int(time.time()), "reference": reference}

        def run(target: str, reads: Paths = (), writes: Paths = (), **more: Any) -> dict[str, Any]:
            orders = (plan.orders if target == "save_series" else plan.orders_to_resume)(**known)
            folders = {"reads": [str(p.parent) for p in reads], "writes": [str(p.parent) for p in writes]}
            with processes.spawn(WORKER + target, pack(orders | more), **folders) as worker:
                worker.channel.send(blob)
                return ask(worker, texts=texts)  # leaving kills it

        def look_aside(kept: str) -> dict[str, Any]:
            return run("look", [aside[kept]], folder=None, file=paths[kept])

        saved = run("save_series", writes=[folder, older, *aside.values()], folder=str(folder))
        data: dict[str, Any] = {"saver": saved}
        if aside["next"].exists() and not _blank(saved):
            with ThreadPoolExecutor(2) as both:  # two at a time, as there are at least two cores
                data["kept"] = list(both.map(look_aside, aside))
        if "error" in saved:
            return data
        if unfit := _unfit(folder, older):
            return data | {"saver": {"error": unfit}}
        # By the folder itself: the process that saved may say of its files what it likes.
        about = [path.lstat() for path in folder.rglob("*")]
        largest = max((file.st_size for file in about if stat.S_ISREG(file.st_mode)), default=0)
        moved = scratch / "elsewhere" / "checkpoints"  # a path that the saver never heard of
        moved.parent.mkdir()
        shutil.move(folder, moved)
        data["loaded"] = run("look", writes=[moved], folder=str(moved))
        if "error" not in data["loaded"]:
            where = points(saved["changes"], largest)
            with ThreadPoolExecutor(2) as both:
                data["torn"] = list(both.map(lambda p: _tear(run, older, aside, *p), enumerate(where)))
        return data


def _blank(answer: dict[str, Any]) -> bool:
    return bool(answer.get("error", {}).get("blank"))


def _tear(
    run: Callable[..., dict[str, Any]], older: Path, aside: dict[str, Path], number: int, point: Point
) -> dict[str, Any]:
    """Kill at the point, then see what `load` finds, in a folder that was moved in between."""
    scratch = older.parent.parent
    folder = scratch / f"torn{number}" / "checkpoints"
    # What a link points to is not ours to copy: whoever set it chose where it leads.
    shutil.copytree(older, folder, symlinks=True)
    seen: dict[str, Any] = {"says": point.says, "then_saved": point.then_saved, "survived": 0, "cut": []}
    for _ in range(point.kills):
        where = {"change": point.change, "done": point.done, "size": point.size}
        told = run("save_and_die", [aside["new"]], [folder], folder=str(folder), **where)
        seen["survived"] += "survived" in told
        seen["cut"].append(_cut(folder.parent, point.size))
    seen["bytes"] = _size(folder.parent, point.target)
    seen["target"] = point.target
    if point.then_saved:
        saved = run("save_once", [aside["next"]], [folder], folder=str(folder))
        if "error" in saved:
            return seen | saved
    moved = scratch / f"found{number}" / "checkpoints"
    folder.parent.rename(moved.parent)
    return seen | run("look", writes=[moved], folder=str(moved))


def _size(root: Path, target: str) -> int | None:
    """Bytes of the file that is called so below `root`; None where there is no such file there."""
    path = Path(os.path.normpath(root / target))
    if not target or not path.is_relative_to(root):
        return None
    try:
        about = path.lstat()
    except OSError:
        return None
    return about.st_size if stat.S_ISREG(about.st_mode) else None


def _cut(root: Path, size: int | None) -> list[str]:
    """The files below `root` that end where no more could be written, the newest first."""
    found = [(path, path.lstat()) for path in root.rglob("*")]
    files = [
        (about.st_mtime_ns, path)
        for path, about in found
        if stat.S_ISREG(about.st_mode) and about.st_size == size
    ]
    return [str(path.relative_to(root)) for _, path in sorted(files, reverse=True)]
