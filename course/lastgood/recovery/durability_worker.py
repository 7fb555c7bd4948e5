"""The processes that save and die, and those that look at what they left.

The warm server calls each with a channel and its orders in plain data.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from lastgood.recovery import crash
from lastgood.recovery.learner import (
    PATIENCE,
    Functions,
    advance,
    answering,
    call,
    captured_by,
    keep,
    kept,
    load_functions,
    restored,
    returned,
    see,
    start,
)
from lastgood.recovery.warm_channel import Channel
from lastgood.recovery.wire import pack


def _in_folder(orders: dict[str, Any]) -> Path:
    folder = Path(orders["folder"])
    tempfile.tempdir = str(folder.parent)  # a temporary file of the learner's is part of its save
    return folder


def _recent(paths: set[str], orders: dict[str, Any]) -> list[str]:
    """Those of the files that are younger than the audit: not a library's, nor a setting, but kept state."""
    return sorted(
        path for path in paths if os.path.isfile(path) and os.path.getmtime(path) >= orders["since"]
    )


def _loaded(functions: Functions, folder: Path, orders: dict[str, Any], outside: list[str]) -> Any:
    """What `load` returns; the files outside the folder that it used are added to `outside`."""
    elsewhere = crash.strangers(folder.parent)
    value = call("load", functions["load"], str(folder))
    outside += _recent(elsewhere, orders)
    return returned("load", value)


@answering
def save_twice(channel: Channel, orders: dict[str, Any]) -> None:
    """Save an older and a newer state into one folder; keep both aside as well, and list the second's
    changes.
    """
    functions = load_functions(orders, channel.recv(PATIENCE))
    folder = _in_folder(orders)
    run = start(orders)
    advance(run, orders["before"])
    captured, _ = captured_by(functions, run)
    keep(captured, Path(orders["old"]))
    elsewhere = crash.strangers(folder.parent)
    call("save", functions["save"], captured, str(folder))
    outside = _recent(elsewhere, orders)
    shutil.copytree(folder, orders["folder_old"])
    advance(run, orders["extra"])
    captured, _ = captured_by(functions, run)
    keep(captured, Path(orders["new"]))
    changes: list[str] = []
    crash.watch(folder.parent, changes.append)
    call("the second save", functions["save"], captured, str(folder))
    sizes = [path.stat().st_size for path in list(folder.rglob("*")) if path.is_file()]
    channel.send(pack({"changes": list(changes), "largest": max(sizes, default=0), "outside": outside}))
    channel.recv(PATIENCE)


@answering
def save_and_die(channel: Channel, orders: dict[str, Any]) -> None:
    """Save the newer state over the older one, and be killed on the way."""
    functions = load_functions(orders, channel.recv(PATIENCE))
    folder = _in_folder(orders)
    newer = kept(Path(orders["new"]))
    if orders["change"] is None:
        crash.die_at_size(orders["size"])
    else:
        crash.die_at_change(folder.parent, orders["change"], done=orders["done"], then_bytes=orders["size"])
    functions["save"](newer, str(folder))


@answering
def look(channel: Channel, orders: dict[str, Any]) -> None:
    """Restore from the folder by the learner's `load`, or from a file kept aside; what the run then is."""
    functions = load_functions(orders, channel.recv(PATIENCE))
    outside: list[str] = []
    if orders["folder"] is None:
        run, _ = restored(orders, functions, lambda: kept(Path(orders["file"])))
    else:
        folder = _in_folder(orders)
        run, _ = restored(orders, functions, lambda: _loaded(functions, folder, orders, outside))
    channel.send(pack({"restored": see(run), "outside": outside}))
