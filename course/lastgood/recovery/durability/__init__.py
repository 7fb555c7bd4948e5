"""Does what `save` wrote come back after a kill, and is the older checkpoint safe while the newer is written?

Whatever `capture` misses is not counted twice: a state that went through the learner's `save` and `load` must
restore to the same run as the same state kept aside. Then a save over an older one is killed at each of its
changes to the file system, and `load` must find the older state or the newer one, whole.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lastgood.recovery.audit.plan import Plan, with_many_saves
from lastgood.recovery.components import PARAMETERS, STEP, TITLES, differences
from lastgood.recovery.durability.points import Point, points
from lastgood.recovery.learner import bundle
from lastgood.recovery.learner.answers import ask, plain
from lastgood.recovery.warm import WarmServer, shared_server
from lastgood.recovery.wire import pack, same

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
            where = points(data["saver"]["changes"], data["saver"]["largest"])
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
    seen = {"says": point.says, "then_saved": point.then_saved}
    for _ in range(point.kills):
        run("save_and_die", folder=str(folder), change=point.change, done=point.done, size=point.size)
    if point.then_saved:
        saved = run("save_once", folder=str(folder))
        if "error" in saved:
            return seen | saved
    moved = scratch / f"found{number}" / "checkpoints"
    folder.parent.rename(moved.parent)
    return seen | run("look", folder=str(moved))


@dataclass(frozen=True)
class Durability:
    """The verdict on `save` and `load`."""

    stopped: dict[str, Any] | None = None
    round_trip: str = ""  # what went wrong after a finished save; empty where nothing did
    torn: tuple[str, ...] = ()  # one sentence for each point at which a kill left neither state
    points: int = 0  # how many points were tried
    reference: bool = False  # tested with the library's capture and restore

    @property
    def passed(self) -> bool:
        return self.stopped is None and not self.round_trip and not self.torn and self.points > 0


def judge(data: dict[str, Any]) -> Durability:
    """The verdict, from what the processes saw."""
    reference = data["reference"]
    for stage in ("saver", "loaded"):
        if "error" in data.get(stage, {}):
            return Durability(stopped=data[stage]["error"], reference=reference)
    for seen in data["kept"]:
        if "error" in seen:
            return Durability(stopped=seen["error"], reference=reference)
    old, new, after = (seen["restored"] for seen in data["kept"])
    torn = (_saved_words(s, after) if s["then_saved"] else _torn_words(s, old, new) for s in data["torn"])
    found = tuple(f"killed {seen['says']}: {w}" for seen, w in zip(data["torn"], torn, strict=True) if w)
    return Durability(None, _round_trip(data, new), found, len(data["torn"]), reference)


def _round_trip(data: dict[str, Any], new: dict[str, Any]) -> str:
    """What is wrong with what `load` returned after the last save; empty where nothing is."""
    loaded = data["loaded"]["restored"]
    outside = sorted({*data["saver"]["outside"], *data["loaded"]["outside"]})
    if outside:
        return (
            f"save and load use a file outside the folder that they were given, {outside[0]}: "
            "when a node is lost, what lies outside the folder is lost with it"
        )
    if same(loaded, new):
        return ""
    step, newest = loaded[STEP]["step"], new[STEP]["step"]
    parts = differences(loaded, new)
    if len(parts) > 1 and step < newest:
        return f"load found the state of step {step}, though the newest that was saved is of step {newest}"
    return "what load returned is not what save was given: " + "; ".join(
        f"{TITLES[name]} ({difference})" for name, difference in parts.items()
    )


def _torn_words(seen: dict[str, Any], old: dict[str, Any], new: dict[str, Any]) -> str:
    """What a kill led to; empty where `load` finds one of the two states."""
    if "error" in seen:
        return _error_words(seen["error"])
    if same(seen["restored"], old) or same(seen["restored"], new):
        return ""
    return "load returned a state that is neither the older nor the newer one"


def _saved_words(seen: dict[str, Any], saved: dict[str, Any]) -> str:
    """What a kill and a whole save after it led to; empty where `load` finds what was saved."""
    if "error" in seen:
        return _error_words(seen["error"])
    return "" if same(seen["restored"], saved) else "load did not find what it saved"


def _error_words(error: dict[str, Any]) -> str:
    kind, message = error["kind"], plain(error)
    if error["stage"] == "load" and kind == "FileNotFoundError":
        path = Path(error["message"].rpartition(": ")[2].strip("'\""))
        return f"load found no file of the name {path.name}"
    if error["stage"] == "load" and (kind in _HALF or any(sign in message for sign in _SIGNS_OF_HALF)):
        return f"load found half a file ({kind})"
    return f"{error['stage']} raised {kind} ({_INSIDE.sub('checkpoints', message)})"


_HALF = ("EOFError", "UnpicklingError", "BadZipFile", "JSONDecodeError", "SafetensorError")
_SIGNS_OF_HALF = ("PytorchStreamReader", "[Errno 22]")
_INSIDE = re.compile(r"/\S*/lastgood-save-[^/]*/[^/]*/checkpoints")
