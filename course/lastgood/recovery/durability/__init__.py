"""Does what `save` wrote come back after a kill, and is the older checkpoint safe while the newer is written?

Whatever `capture` misses is not counted twice: a state that went through the learner's `save` and `load` must
restore to the same run as the same state kept aside. Then a save over an older one is killed at each of its
changes to the file system, and `load` must find the older state or the newer one, whole.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lastgood.recovery.audit.plan import Plan, with_many_saves
from lastgood.recovery.components import PARAMETERS
from lastgood.recovery.durability.points import Point, points
from lastgood.recovery.durability.verdict import Durability, judge
from lastgood.recovery.learner import bundle
from lastgood.recovery.learner.answers import ask
from lastgood.recovery.warm import WarmServer, shared_server
from lastgood.recovery.wire import pack, same

__all__ = ["WORKER", "Durability", "judge", "measure"]

WORKER = "lastgood.recovery.durability.worker:"


def measure(
    functions: dict[str, Callable[..., Any]], plan: Plan, server: WarmServer | None = None
) -> dict[str, Any]:
    """Save again and again, be killed, load; then die at each point of a save. Plain data: what was seen.

    Where the learner's `capture` and `restore` cannot be used, the library's stand in, and `reference` says
    so. Raises BundleError where `save` and `load` cannot travel to another process.
    """
    server = server or shared_server()
    plan = with_many_saves(plan)
    try:
        data = _measure(bundle.dumps(functions), plan.orders(reference=False), server)
        usable = not _upstream_failed(data)
    except bundle.BundleError:
        usable = False
    if not usable:
        own = {name: functions[name] for name in ("save", "load")}
        data = _measure(bundle.dumps(own), plan.orders(reference=True), server)
    return {**data, "reference": not usable}


def _upstream_failed(data: dict[str, Any]) -> bool:
    """Whether capture or restore alone, without save and load, give no state to test with."""
    stages = ("unpickling", "capture", "writing what capture returned")
    if data["saver"].get("error", {}).get("stage") in stages:
        return True
    kept = data.get("kept")
    if kept is None:  # it ended before: in save, which is not upstream
        return False
    if any("error" in seen for seen in kept):
        return True
    return same(kept[0]["restored"][PARAMETERS], kept[1]["restored"][PARAMETERS])


def _measure(blob: bytes, orders: dict[str, Any], server: WarmServer) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="lastgood-save-") as name:
        scratch = Path(name)
        folder = scratch / "run" / "checkpoints"
        folder.mkdir(parents=True)
        paths = {
            "old": str(scratch / "old.pt"),
            "new": str(scratch / "new.pt"),
            "next": str(scratch / "next.pt"),
            "folder_old": str(scratch / "older"),
        }
        orders = orders | paths | {"since": int(time.time())}

        def run(target: str, **more: Any) -> dict[str, Any]:
            with server.spawn(WORKER + target, pack(orders | more)) as worker:
                worker.channel.send(blob)
                return ask(worker)  # leaving kills it

        data: dict[str, Any] = {"saver": run("save_series", folder=str(folder))}
        if Path(paths["next"]).exists() and not _blank(data["saver"]):
            with ThreadPoolExecutor(2) as both:  # two at a time, as there are at least two cores
                data["kept"] = list(
                    both.map(lambda name: run("look", folder=None, file=paths[name]), ("old", "new", "next"))
                )
        if "error" in data["saver"]:
            return data
        moved = scratch / "elsewhere" / "checkpoints"  # a path that the saver never heard of
        moved.parent.mkdir()
        shutil.move(folder, moved)
        data["loaded"] = run("look", folder=str(moved))
        if "error" not in data["loaded"]:
            largest = max((size for _, size in data["saver"]["files"]), default=0)
            where = points(data["saver"]["changes"], largest)
            with ThreadPoolExecutor(2) as both:
                data["torn"] = list(both.map(lambda p: _tear(run, scratch, paths, *p), enumerate(where)))
        return data


def _blank(answer: dict[str, Any]) -> bool:
    return bool(answer.get("error", {}).get("blank"))


def _tear(
    run: Callable[..., dict[str, Any]], scratch: Path, paths: dict[str, str], number: int, point: Point
) -> dict[str, Any]:
    """Kill at the point, then see what `load` finds, in a folder that was moved in between."""
    folder = scratch / f"torn{number}" / "checkpoints"
    shutil.copytree(paths["folder_old"], folder)
    seen: dict[str, Any] = {"says": point.says, "then_saved": point.then_saved, "survived": 0, "cut": []}
    for _ in range(point.kills):
        where = {"change": point.change, "done": point.done, "size": point.size}
        seen["survived"] += "survived" in run("save_and_die", folder=str(folder), **where)
        seen["cut"].append(_cut(folder.parent, point.size))
    renamed = folder.parent / point.target
    seen["bytes"] = renamed.stat().st_size if point.target and renamed.is_file() else None
    seen["target"] = point.target
    if point.then_saved:
        saved = run("save_once", folder=str(folder))
        if "error" in saved:
            return seen | saved
    moved = scratch / f"found{number}" / "checkpoints"
    folder.parent.rename(moved.parent)
    return seen | run("look", folder=str(moved))


def _cut(root: Path, size: int | None) -> list[str]:
    """The files below `root` that end where no more could be written, the newest first."""
    files = [path for path in root.rglob("*") if path.is_file() and path.stat().st_size == size]
    files.sort(key=lambda path: path.stat().st_mtime_ns, reverse=True)
    return [str(path.relative_to(root)) for path in files]
