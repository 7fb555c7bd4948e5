"""The processes that save and die, and those that look at what they left.

The warm server calls each with a channel and its orders in plain data.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lastgood.recovery import learner
from lastgood.recovery.components import PARAMETERS, observe
from lastgood.recovery.durability import crash
from lastgood.recovery.warm.channel import Channel
from lastgood.recovery.wire import pack
from lastgood.training.rng import capture_rng, restore_rng


def _in_folder(orders: dict[str, Any]) -> Path:
    folder = Path(orders["folder"])
    tempfile.tempdir = str(folder.parent)  # a temporary file of the learner's is part of its save
    return folder


def _recent(paths: set[str], orders: dict[str, Any]) -> list[str]:
    """Those of the files that are younger than the audit: not a library's, nor a setting, but kept state."""
    return sorted(
        path for path in paths if os.path.isfile(path) and os.path.getmtime(path) >= orders["since"]
    )


def _loaded(functions: learner.Functions, folder: Path, orders: dict[str, Any], outside: list[str]) -> Any:
    """What `load` returns; the files outside the folder that it used are added to `outside`."""
    elsewhere = crash.strangers(folder.parent)
    value = learner.call("load", functions["load"], str(folder))
    outside += _recent(elsewhere, orders)
    return learner.returned("load", value, functions["load"])


def _written(path: Path) -> int:
    return path.stat().st_mtime_ns


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Whoever draws random numbers in here, such as for the name of a file, changes no later step."""
    before = capture_rng()
    yield
    restore_rng(before)


@learner.answering
def reference(channel: Channel, orders: dict[str, Any]) -> None:
    """The parameters of the three states that are kept aside, by the library alone."""
    run = learner.start(orders)
    found = []
    for steps in (orders["before"], orders["extra"], 1):
        learner.advance(run, steps)
        found.append(observe(run)[PARAMETERS]["values"])
    channel.send(pack({"parameters": found}))


@learner.answering
def save_series(channel: Channel, orders: dict[str, Any]) -> None:
    """Save after each step, and once more later on: the last two are the older and the newer state.

    Keep these two aside as well, and the one that comes next, and list the changes that the last save makes.
    """
    functions = learner.load_functions(orders, channel.recv(learner.PATIENCE))
    folder = _in_folder(orders)
    elsewhere = crash.strangers(folder.parent)
    used_by_save: set[str] = set()
    run = learner.start(orders)
    for _ in range(orders["before"]):
        learner.advance(run, 1)
        with _undisturbed():
            captured, _steps = learner.captured_by(functions, run)
            learner.keep(captured, Path(orders["old"]))
            already = set(elsewhere)
            learner.call("save", functions["save"], captured, str(folder))
            used_by_save |= elsewhere - already
    outside = _recent(used_by_save, orders)
    shutil.copytree(folder, orders["folder_old"], symlinks=True)
    learner.advance(run, orders["extra"])
    changes: list[str] = []
    with _undisturbed():
        captured, _steps = learner.captured_by(functions, run)
        learner.keep(captured, Path(orders["new"]))
        crash.watch(folder.parent, changes.append)
        learner.call("save", functions["save"], captured, str(folder))
    files = sorted((path for path in folder.rglob("*") if path.is_file()), key=_written)
    sizes = {str(path.relative_to(folder.parent)): path.stat().st_size for path in files}
    learner.advance(run, 1)
    captured, _steps = learner.captured_by(functions, run)
    learner.keep(captured, Path(orders["next"]))
    channel.send(pack({"changes": list(changes), "files": list(sizes.items()), "outside": outside}))
    channel.recv(learner.PATIENCE)


@learner.answering
def save_and_die(channel: Channel, orders: dict[str, Any]) -> None:
    """Save the newer state over the older one, and be killed on the way. Whoever is not, says so."""
    functions = learner.load_functions(orders, channel.recv(learner.PATIENCE))
    folder = _in_folder(orders)
    newer = learner.kept(Path(orders["new"]))
    if orders["change"] is None:
        crash.die_at_size(orders["size"])
    else:
        crash.die_at_change(folder.parent, orders["change"], done=orders["done"], then_bytes=orders["size"])
    functions["save"](newer, str(folder))
    channel.send(pack({"survived": True}))


@learner.answering
def save_once(channel: Channel, orders: dict[str, Any]) -> None:
    """Save the state that comes next, over whatever a kill left."""
    functions = learner.load_functions(orders, channel.recv(learner.PATIENCE))
    folder = _in_folder(orders)
    learner.call("save", functions["save"], learner.kept(Path(orders["next"])), str(folder))
    channel.send(pack({}))


@learner.answering
def look(channel: Channel, orders: dict[str, Any]) -> None:
    """Restore from the folder by the learner's `load`, or from a file kept aside; what the run then is."""
    functions = learner.load_functions(orders, channel.recv(learner.PATIENCE))
    outside: list[str] = []
    if orders["folder"] is None:
        run, _ = learner.restored(orders, functions, lambda: learner.kept(Path(orders["file"])))
    else:
        folder = _in_folder(orders)
        run, _ = learner.restored(orders, functions, lambda: _loaded(functions, folder, orders, outside))
    channel.send(pack({"restored": learner.see(run), "outside": outside}))
