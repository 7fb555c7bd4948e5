"""What the audit runs in fresh processes: the learner's functions, and nothing that knows the answer.

Each function here is called by the warm server with a channel and its orders in plain data, and answers in
plain data. What a learner's function raises is an answer too: where, what, and on which of its lines.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import traceback
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

import torch

from lastgood.recovery import bundle, crash, state
from lastgood.recovery.components import observe, transplant
from lastgood.recovery.warm_channel import Channel
from lastgood.recovery.wire import pack, unpack
from lastgood.training.rng import seed_everything
from lastgood.training.run import Run, RunConfig

Functions = dict[str, Callable[..., Any]]
_LIBRARY = str(Path(__file__).resolve().parents[1])
_PATIENCE = 60.0  # seconds until a worker that hears nothing gives up


class LearnerError(Exception):
    """Something that a learner's function raised, and in which of them."""

    def __init__(self, stage: str, error: BaseException) -> None:
        super().__init__(f"{stage} raised {type(error).__name__}")
        self.stage = stage
        self.error = error

    def as_data(self) -> dict[str, Any]:
        frames = traceback.extract_tb(self.error.__traceback__)
        mine = [f for f in frames if not f.filename.startswith((_LIBRARY, sys.prefix, sys.base_prefix))]
        message = str(self.error)
        if isinstance(self.error, ImportError) and isinstance(
            sys.modules.get(self.error.name or ""), _Taught
        ):
            message = f"{self.error.name} {_REFUSAL}"
        return {
            "stage": self.stage,
            "kind": type(self.error).__name__,
            "message": message[:2000],
            # The text of a notebook's cell is known only where it was typed: there, `line` is looked up.
            "file": mine[-1].filename if mine else "",
            "number": mine[-1].lineno if mine else 0,
            "line": "",
            "blank": isinstance(self.error, NotImplementedError),
        }


def call(stage: str, function: Callable[..., Any], *args: Any) -> Any:
    """The learner's function, with whatever it raises made a LearnerError of this stage."""
    try:
        return function(*args)
    except BaseException as error:
        raise LearnerError(stage, error) from error


def answering(work: Callable[[Channel, dict[str, Any]], None]) -> Callable[[Channel, bytes], None]:
    """A worker's entry: orders unpacked, one thread, a learner's exception sent instead of an answer."""

    def entry(channel: Channel, orders: bytes) -> None:
        torch.set_num_threads(1)
        try:
            work(channel, unpack(orders))
        except LearnerError as error:
            channel.send(pack({"error": error.as_data()}))

    entry.__doc__ = work.__doc__
    return entry


def start(orders: dict[str, Any]) -> Run:
    """The run that the audit starts from: a fresh one, moved by a secret, so that no seed leads to it."""
    run = Run(RunConfig.from_dict(orders["config"]), seed=orders["seed"])
    private = torch.Generator().manual_seed(orders["secret"])
    with torch.no_grad():
        for parameter in run.model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=private), alpha=1e-2)
    position = {**run.loader.state_dict(), "seed": int(torch.randint(2**31, (1,), generator=private))}
    run.loader.load_state_dict(position)
    seed_everything(int(torch.randint(2**31, (1,), generator=private)))
    return run


def advance(run: Run, steps: int) -> dict[str, Any]:
    """Take steps by the library's own `advance`, whatever the learner hung on the run; what was seen."""
    results = [Run.advance(run) for _ in range(steps)]
    return {
        "losses": [result.loss for result in results],
        "lrs": [result.lr for result in results],
        "indices": [list(result.indices) for result in results],
    }


def load_functions(orders: dict[str, Any], blob: bytes) -> Functions:
    """The learner's functions, in a process where the modules that the lab teaches cannot be imported."""
    forbid(orders["taught"])
    functions: Functions = call("unpickling", bundle.loads, blob)
    if orders.get("reference"):  # the learner's own are not usable: test the rest with the library's
        functions |= {"capture": _CAPTURE, "restore": _RESTORE}
    return functions


_CAPTURE, _RESTORE = state.capture, state.restore


class _Taught(types.ModuleType):
    def __getattr__(self, name: str) -> NoReturn:
        # Not an ImportError: pickle looks through every module for a name, and takes only this for a no.
        raise AttributeError(f"{self.__name__} {_REFUSAL}")


_REFUSAL = "is what this lab asks you to write, so it cannot be imported here"


def forbid(modules: Iterable[str]) -> None:
    """Put a module that refuses in the place of each of these."""
    for name in modules:
        package, _, child = name.rpartition(".")
        refuses = _Taught(name)
        sys.modules[name] = refuses
        if package in sys.modules:
            setattr(sys.modules[package], child, refuses)


def _counting_steps(work: Callable[[], Any]) -> tuple[Any, int]:
    """The result of `work`, and how many optimizer steps it took on the way."""
    original, count = Run.advance, 0

    def counted(run: Run) -> Any:
        nonlocal count
        count += 1
        return original(run)

    Run.advance = counted  # type: ignore[method-assign,assignment]
    try:
        return work(), count
    finally:
        Run.advance = original  # type: ignore[method-assign]


def _capture(functions: Functions, run: Run) -> tuple[Any, int]:
    return _counting_steps(lambda: call("capture", functions["capture"], run))


def _restored(
    orders: dict[str, Any], functions: Functions, captured: Callable[[Run], Any]
) -> tuple[Run, int]:
    run = Run(RunConfig.from_dict(orders["config"]), seed=orders["other_seed"])
    value = captured(run)
    result, steps = _counting_steps(lambda: call("restore", functions["restore"], run, value))
    return (result if isinstance(result, Run) else run), steps


def _see(run: Run) -> dict[str, Any]:
    try:
        return observe(run)
    except Exception as error:
        raise LearnerError("looking at the restored run", error) from error


def _keep(value: Any, path: Path) -> int:
    call("writing what capture returned", torch.save, value, path)
    return path.stat().st_size


def _kept(path: Path) -> Any:
    # Runs in a worker that already runs the learner's code: pickle adds no power here.
    return call("reading what capture returned", lambda: torch.load(path, weights_only=False))


@answering
def write(channel: Channel, orders: dict[str, Any]) -> None:
    """Process 1: advance, capture, train on, then save what was captured; then wait to be killed."""
    functions = load_functions(orders, channel.recv(_PATIENCE))
    run = start(orders)
    advance(run, orders["before"])
    before = observe(run)
    captured, steps = _capture(functions, run)
    after = _see(run)
    advance(run, orders["extra"])
    size = _keep(captured, Path(orders["file"]))
    channel.send(pack({"before": before, "after": after, "steps": steps, "bytes": size}))
    channel.recv(_PATIENCE)


@answering
def resume(channel: Channel, orders: dict[str, Any]) -> None:
    """Process 2 and 3: restore into another run, be looked at, and only then hear how far to go."""
    functions = load_functions(orders, channel.recv(_PATIENCE))
    run, steps = _restored(orders, functions, lambda _: _kept(Path(orders["file"])))
    channel.send(pack({"restored": _see(run), "steps": steps}))
    after, again = unpack(channel.recv(_PATIENCE))
    curve = call("a step of the resumed run", advance, run, after)
    result = {**curve, "end": _see(run)}
    if again:
        captured, _ = _capture(functions, run)
        call("a step of the resumed run", advance, run, orders["extra"])
        _keep(captured, Path(again))
    channel.send(pack(result))
    channel.recv(_PATIENCE)


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
    observation, names = unpack(channel.recv(_PATIENCE))
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


def _in_folder(orders: dict[str, Any]) -> Path:
    folder = Path(orders["folder"])
    tempfile.tempdir = str(folder.parent)  # a temporary file of the learner's is part of its save
    return folder


@answering
def save_twice(channel: Channel, orders: dict[str, Any]) -> None:
    """Save an older and a newer state into one folder; keep both aside as well, and list the second's
    changes.
    """
    functions = load_functions(orders, channel.recv(_PATIENCE))
    folder = _in_folder(orders)
    run = start(orders)
    advance(run, orders["before"])
    captured, _ = _capture(functions, run)
    _keep(captured, Path(orders["old"]))
    call("save", functions["save"], captured, str(folder))
    shutil.copytree(folder, orders["folder_old"])
    advance(run, orders["extra"])
    captured, _ = _capture(functions, run)
    _keep(captured, Path(orders["new"]))
    changes: list[str] = []
    crash.watch(folder.parent, changes.append)
    call("the second save", functions["save"], captured, str(folder))
    sizes = [path.stat().st_size for path in list(folder.rglob("*")) if path.is_file()]
    channel.send(pack({"changes": list(changes), "largest": max(sizes, default=0)}))
    channel.recv(_PATIENCE)


@answering
def save_and_die(channel: Channel, orders: dict[str, Any]) -> None:
    """Save the newer state over the older one, and be killed on the way."""
    functions = load_functions(orders, channel.recv(_PATIENCE))
    folder = _in_folder(orders)
    newer = _kept(Path(orders["new"]))
    if orders["size"] is None:
        crash.die_before_change(folder.parent, orders["change"])
    else:
        crash.die_at_size(orders["size"])
    functions["save"](newer, str(folder))


@answering
def look(channel: Channel, orders: dict[str, Any]) -> None:
    """Restore from the folder by the learner's `load`, or from a file kept aside; what the run then is."""
    functions = load_functions(orders, channel.recv(_PATIENCE))
    if orders["folder"] is None:
        run, _ = _restored(orders, functions, lambda _: _kept(Path(orders["file"])))
    else:
        folder = str(_in_folder(orders))
        run, _ = _restored(orders, functions, lambda _: call("load", functions["load"], folder))
    channel.send(pack({"restored": _see(run)}))
