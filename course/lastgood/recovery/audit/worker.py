"""The audit's processes: one that captures and dies, those that resume, and the undisturbed run beside them.

The warm server calls each with a channel and its orders in plain data.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lastgood.recovery import learner, state
from lastgood.recovery.components import observe, transplant, upcoming
from lastgood.recovery.warm.channel import Channel
from lastgood.recovery.wire import pack, unpack
from lastgood.training.run import Run, RunConfig


@learner.answering
def begin(channel: Channel, orders: dict[str, Any]) -> None:
    """Before process 1, and by the library alone: train to where it is to capture, and put the run aside."""
    run = learner.start(orders)
    learner.advance(run, orders["before"])
    learner.keep(state.capture(run), Path(orders["begun"]))
    channel.send(pack({}))


@learner.answering
def write(channel: Channel, orders: dict[str, Any]) -> None:
    """Process 1: capture, train on, then save what was captured; then wait to be killed.

    It takes over a run that was begun elsewhere: whoever knew from what could train it again, and save that.
    """
    run = Run(RunConfig.from_dict(orders["config"]), seed=orders["other_seed"])
    state.restore(run, learner.kept(Path(orders["begun"])))
    functions = learner.load_functions(orders, channel.recv(learner.PATIENCE))
    before = observe(run)
    captured, steps = learner.captured_by(functions, run)
    after = learner.see(run)
    learner.advance(run, orders["extra"])
    size = learner.keep(captured, Path(orders["file"]))
    channel.send(pack({"before": before, "after": after, "steps": steps, "bytes": size}))
    channel.recv(learner.PATIENCE)


@learner.answering
def resume(channel: Channel, orders: dict[str, Any]) -> None:
    """Process 2 and 3: restore into another run, be looked at, and only then hear how far to go."""
    functions = learner.load_functions(orders, channel.recv(learner.PATIENCE))
    built = observe(Run(RunConfig.from_dict(orders["config"]), seed=orders["other_seed"]))
    run, steps = learner.restored(orders, functions, lambda: learner.kept(Path(orders["file"])))
    channel.send(pack({"built": built, "restored": learner.see(run), "steps": steps}))
    after, again = unpack(channel.recv(learner.PATIENCE))
    curve = learner.call("a step of the resumed run", learner.advance, run, after)
    result = {**curve, "end": learner.see(run)}
    if again:
        captured, _ = learner.captured_by(functions, run)
        learner.call("a step of the resumed run", learner.advance, run, orders["extra"])
        learner.keep(captured, Path(again))
    channel.send(pack(result))
    channel.recv(learner.PATIENCE)


@learner.answering
def reference(channel: Channel, orders: dict[str, Any]) -> None:
    """The undisturbed run, by the library alone: seen around the capture and at the end."""
    stranger = Run(RunConfig.from_dict(orders["config"]), seed=orders["other_seed"])
    run = learner.start(orders)
    last = min(1, orders["before"])
    learner.advance(run, orders["before"] - last)
    earlier = observe(run)
    learner.advance(run, last)
    captured, orders_of = observe(run), _other_orders(run, stranger.loader.seed)
    curve = learner.advance(run, orders["extra"])
    later = observe(run)
    rest = learner.advance(run, orders["after"] - orders["extra"])
    curve = {key: curve[key] + rest[key] for key in curve}
    seen = {"earlier": earlier, "captured": captured, "later": later, "end": observe(run)}
    channel.send(pack(seen | curve | {"orders": orders_of}))


def _other_orders(run: Run, seed: int) -> dict[str, list[list[list[int]]]]:
    """The batches to come if only the loader's epoch were another one, or its seed that of a new run."""
    position = run.loader.state_dict()
    return {
        "epoch": [upcoming(run, epoch=epoch) for epoch in range(position["epoch"])],
        "seed": [upcoming(run, seed=seed)],
    }


@learner.answering
def spoil(channel: Channel, orders: dict[str, Any]) -> None:
    """For each observed component: put it alone into the undisturbed run; which step is the first to
    change?
    """
    observation, names = unpack(channel.recv(learner.PATIENCE))
    found = {}
    for name in names:
        run = learner.start(orders)
        learner.advance(run, orders["before"])
        try:
            transplant(run, name, observation)
            found[name] = learner.advance(run, orders["after"])
        except Exception as error:
            found[name] = {"exception": f"{type(error).__name__}: {error}"[:500]}
    channel.send(pack(found))
