"""Running a learner's functions in a process that is to be thrown away, and nothing that knows the answer.

Orders come and answers go as plain data. What a learner's function raises is an answer too: where, what,
and on which of its lines.
"""

from __future__ import annotations

import dis
import itertools
import re
import sys
import traceback
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

import torch

import lastgood
from lastgood.recovery import state
from lastgood.recovery.components import observe
from lastgood.recovery.learner import bundle
from lastgood.recovery.warm.channel import Channel
from lastgood.recovery.wire import pack, unpack
from lastgood.training.rng import seed_everything
from lastgood.training.run import Run, RunConfig

STAGE_MARK = re.compile("\x1e([^\x1e]+)\x1e")
Functions = dict[str, Callable[..., Any]]
_LIBRARY = str(Path(lastgood.__file__).resolve().parent)
PATIENCE = 60.0  # seconds until a worker that hears nothing gives up


def own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of a traceback that are the learner's: neither the library's nor Python's."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f for f in frames if not f.filename.startswith((_LIBRARY, sys.prefix, sys.base_prefix))]


class LearnerError(Exception):
    """Something that a learner's function raised, and in which of them."""

    def __init__(self, stage: str, error: BaseException) -> None:
        super().__init__(f"{stage} raised {type(error).__name__}")
        self.stage = stage
        self.error = error

    def as_data(self) -> dict[str, Any]:
        mine = own_frames(self.error)
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


class ReturnedNone(Exception):
    """A function that should return something did not."""


def call(stage: str, function: Callable[..., Any], *args: Any) -> Any:
    """The learner's function, with whatever it raises made a LearnerError of this stage."""
    print(f"\x1e{stage}\x1e", flush=True)  # if nothing more comes, this is where it hung
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


_ADVANCE = Run.advance


def advance(run: Run, steps: int) -> dict[str, Any]:
    """Take steps by the library's own `advance`, whatever the learner put in its place; what was seen."""
    results = [_ADVANCE(run) for _ in range(steps)]
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


def counting_steps(work: Callable[[], Any]) -> tuple[Any, int]:
    """The result of `work`, and how many optimizer steps it took on the way."""
    count = 0

    def counted(run: Run) -> Any:
        nonlocal count
        count += 1
        return _ADVANCE(run)

    Run.advance = counted  # type: ignore[method-assign,assignment]
    try:
        return work(), count
    finally:
        Run.advance = _ADVANCE  # type: ignore[method-assign]


def captured_by(functions: Functions, run: Run) -> tuple[Any, int]:
    """What the learner's `capture` returns, and how many optimizer steps it took."""
    value, steps = counting_steps(lambda: call("capture", functions["capture"], run))
    return returned("capture", value, functions["capture"]), steps


def returned(stage: str, value: Any, function: Callable[..., Any]) -> Any:
    """The value, or a LearnerError where there is none."""
    if value is not None:
        return value
    missing = " in a fresh process." if _can_return(function) else ". Is a `return` missing?"
    raise LearnerError(stage, ReturnedNone(f"it returned None{missing}"))


def _can_return(function: Callable[..., Any]) -> bool:
    """Whether a `return` with something behind it is in the code, as far as the code can be seen."""
    if not isinstance(code := getattr(function, "__code__", None), types.CodeType):
        return True
    steps = [(step.opname, step.argval) for step in dis.get_instructions(code)]
    return any(
        before != ("LOAD_CONST", None) if step[0] == "RETURN_VALUE" else step[1] is not None
        for before, step in itertools.pairwise(steps)
        if step[0] in ("RETURN_VALUE", "RETURN_CONST")
    )


def restored(orders: dict[str, Any], functions: Functions, captured: Callable[[], Any]) -> tuple[Run, int]:
    """A run of another seed after the learner's `restore`, and how many optimizer steps that took."""
    run = Run(RunConfig.from_dict(orders["config"]), seed=orders["other_seed"])
    value = captured()
    result, steps = counting_steps(lambda: call("restore", functions["restore"], run, value))
    return (result if isinstance(result, Run) else run), steps


def see(run: Run) -> dict[str, Any]:
    """What the run is now; a LearnerError where its parts no longer answer."""
    try:
        return observe(run)
    except Exception as error:
        raise LearnerError("looking at the restored run", error) from error


def keep(value: Any, path: Path) -> int:
    """Put what `capture` returned into a file; its size in bytes."""
    call("writing what capture returned", torch.save, value, path)
    return path.stat().st_size


def kept(path: Path) -> Any:
    """What `keep` put there."""
    # Runs in a worker that already runs the learner's code: pickle adds no power here.
    return call("reading what capture returned", lambda: torch.load(path, weights_only=False))
