"""The audit's processes: one that captures and dies, those that resume, and the undisturbed run beside them.

The warm server calls each with a channel and its orders in plain data.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lastgood.recovery.components import observe, transplant
from lastgood.recovery.learner import (
    PATIENCE,
    advance,
    answering,
    call,
    captured_by,
    keep,
    kept,
    load_functions,
    restored,
    see,
    start,
)
from lastgood.recovery.warm_channel import Channel
from lastgood.recovery.wire import pack, unpack
from lastgood.training.run import Run, RunConfig


@answering
def write(channel: Channel, orders: dict[str, Any]) -> None:
    """Process 1: advance, capture, train on, then save what was captured; then wait to be killed."""
    functions = load_functions(orders, channel.recv(PATIENCE))
    run = start(orders)
    advance(run, orders["before"])
    before = observe(run)
    captured, steps = captured_by(functions, run)
    after = see(run)
    advance(run, orders["extra"])
    size = keep(captured, Path(orders["file"]))
    channel.send(pack({"before": before, "after": after, "steps": steps, "bytes": size}))
    channel.recv(PATIENCE)


@answering
def resume(channel: Channel, orders: dict[str, Any]) -> None:
    """Process 2 and 3: restore into another run, be looked at, and only then hear how far to go."""
    functions = load_functions(orders, channel.recv(PATIENCE))
    built = observe(Run(RunConfig.from_dict(orders["config"]), seed=orders["other_seed"]))
    run, steps = restored(orders, functions, lambda: kept(Path(orders["file"])))
    channel.send(pack({"built": built, "restored": see(run), "steps": steps}))
    after, again = unpack(channel.recv(PATIENCE))
    curve = call("a step of the resumed run", advance, run, after)
    result = {**curve, "end": see(run)}
    if again:
        captured, _ = captured_by(functions, run)
        call("a step of the resumed run", advance, run, orders["extra"])
        keep(captured, Path(again))
    channel.send(pack(result))
    channel.recv(PATIENCE)


@answering
def reference(channel: Channel, orders: dict[str, Any]) -> None:
    """The undisturbed run, by the library alone: seen at the capture, shortly after it, and at the end."""
    run = start(orders)
    advance(run, orders["before"])
    seen = [observe(run)]
    curve = advance(run, orders["extra"])
    seen.append(observe(run))
    rest = advance(run, orders["after"] - orders["extra"])
    curve = {key: curve[key] + rest[key] for key in curve}
    channel.send(pack({"captured": seen[0], "later": seen[1], "end": observe(run), **curve}))


@answering
def spoil(channel: Channel, orders: dict[str, Any]) -> None:
    """For each observed component: put it alone into the undisturbed run; which step is the first to
    change?
    """
    observation, names = unpack(channel.recv(PATIENCE))
    found = {}
    for name in names:
        run = start(orders)
        advance(run, orders["before"])
        try:
            transplant(run, name, observation)
            found[name] = advance(run, orders["after"])
        except Exception as error:
            found[name] = {"exception": f"{type(error).__name__}: {error}"[:500]}
    channel.send(pack(found))
