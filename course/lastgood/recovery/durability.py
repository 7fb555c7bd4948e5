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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lastgood.recovery import bundle
from lastgood.recovery.audit import Plan, ask, plain
from lastgood.recovery.components import PARAMETERS, TITLES, differences
from lastgood.recovery.warm import WarmServer, shared_server
from lastgood.recovery.wire import pack, same

WORKER = "lastgood.recovery.durability_worker:"
MOST_CHANGES, MOST_RENAMES, MOST_OPENED = 5, 2, 2
FRACTIONS = (0.3, 0.9)  # of the largest file


def measure(
    functions: dict[str, Callable[..., Any]], plan: Plan, server: WarmServer | None = None
) -> dict[str, Any]:
    """Save twice, be killed, load; then die at each point of a save. Plain data: what each process saw.

    Where the learner's `capture` and `restore` cannot be used, the library's stand in, and `reference` says
    so. Raises BundleError where `save` and `load` cannot travel to another process.
    """
    server = server or shared_server()
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
            "folder_old": str(scratch / "older"),
        }
        orders = orders | paths | {"since": int(time.time())}

        def run(target: str, **more: Any) -> dict[str, Any]:
            with server.spawn(WORKER + target, pack(orders | more)) as worker:
                worker.channel.send(blob)
                return ask(worker)  # leaving kills it

        data: dict[str, Any] = {"saver": run("save_twice", folder=str(folder))}
        if Path(paths["new"]).exists() and not _blank(data["saver"]):
            with ThreadPoolExecutor(2) as both:  # two at a time, as there are at least two cores
                data["kept"] = list(
                    both.map(lambda file: run("look", folder=None, file=file), (paths["old"], paths["new"]))
                )
        if "error" in data["saver"]:
            return data
        moved = scratch / "elsewhere" / "checkpoints"  # a path that the saver never heard of
        moved.parent.mkdir()
        shutil.move(folder, moved)
        data["loaded"] = run("look", folder=str(moved))
        if "error" not in data["loaded"]:
            points = _points(data["saver"])
            with ThreadPoolExecutor(2) as both:
                data["torn"] = list(both.map(lambda p: _tear(run, scratch, paths, *p), enumerate(points)))
        return data


def _blank(answer: dict[str, Any]) -> bool:
    return bool(answer.get("error", {}).get("blank"))


def _points(saver: dict[str, Any]) -> list[dict[str, Any]]:
    """Where to kill a save: before its changes, after its renames, in the middle of what it writes."""
    changes, half = saver["changes"], max(1, saver["largest"] // 2)
    renames = [n for n, change in enumerate(changes) if change.startswith("rename ") and "…" not in change]
    opened = [n for n, change in enumerate(changes) if change.startswith("open ")]
    points = [_point(f"just before “{changes[n]}”", n) for n in _spread(len(changes), MOST_CHANGES)]
    points += [_point(f"just after “{changes[n]}”", n, done=True) for n in renames[-MOST_RENAMES:]]
    points += [
        _point(f"when half of {changes[n][5:]} was written", n, size=half) for n in opened[-MOST_OPENED:]
    ]
    if saver["largest"]:  # torch opens files where Python does not see it
        for share in FRACTIONS:
            size = max(1, int(share * saver["largest"]))
            points.append(_point(f"when {share:.0%} of the new state was written", None, size=size))
        again = "in one save and again in the next, over what the first one left"
        points.append(_point(again, None, size=half, twice=True))
        if changes:
            points.append(_point(f"{again}, late in both", len(changes) - 1, size=half, twice=True))
    return points


def _point(
    says: str, change: int | None, *, done: bool = False, size: int | None = None, twice: bool = False
) -> dict[str, Any]:
    return {"says": says, "change": change, "done": done, "size": size, "twice": twice}


def _spread(count: int, most: int) -> list[int]:
    """At most `most` of the numbers below `count`, evenly spread, the last among them."""
    return sorted({round(i * (count - 1) / max(1, min(count, most) - 1)) for i in range(min(count, most))})


def _tear(
    run: Callable[..., dict[str, Any]],
    scratch: Path,
    paths: dict[str, str],
    number: int,
    point: dict[str, Any],
) -> dict[str, Any]:
    folder = scratch / f"torn{number}" / "checkpoints"
    shutil.copytree(paths["folder_old"], folder)
    where = {key: point[key] for key in ("change", "done", "size")}
    for _ in range(2 if point["twice"] else 1):
        run("save_and_die", folder=str(folder), **where)
    moved = scratch / f"found{number}" / "checkpoints"
    folder.parent.rename(moved.parent)
    return {"says": point["says"], **run("look", folder=str(moved))}


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
    old, new = (seen["restored"] for seen in data["kept"])
    loaded = data["loaded"]["restored"]
    outside = sorted({*data["saver"]["outside"], *data["loaded"]["outside"]})
    round_trip = ""
    if outside:
        round_trip = (
            f"save and load use a file outside the folder that they were given, {outside[0]}: "
            "when a node is lost, what lies outside the folder is lost with it"
        )
    elif not same(loaded, new):
        if same(loaded, old):
            round_trip = "after two saves, load found the older state"
        else:
            parts = differences(loaded, new)
            round_trip = "what load returned is not what save was given: " + "; ".join(
                f"{TITLES[name]} ({difference})" for name, difference in parts.items()
            )
    torn = [
        f"Killed {seen['says']}: {_torn_words(seen)}"
        for seen in data["torn"]
        if "error" in seen or not (same(seen["restored"], old) or same(seen["restored"], new))
    ]
    return Durability(None, round_trip, tuple(torn), len(data["torn"]), reference)


def _torn_words(seen: dict[str, Any]) -> str:
    if "error" in seen:
        error = seen["error"]
        return f"{error['stage']} raised {error['kind']} ({plain(error)})"
    return "load returned a state that is neither the older nor the newer one"
