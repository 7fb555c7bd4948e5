"""Lab 17, part C: what a schedule that counts does, saved, loaded, and loaded into another curve."""

from __future__ import annotations

import json
import random
from typing import Any

from lastgood.teaching.checks.core import NOT_WRITTEN, Data, attempt
from lastgood.teaching.checks.lab17.own import lent, number, refused

NAMES = ("peak", "warmup", "horizon", "floor")
FOLLOWED = 50  # rates after a restart
AFTER = 10  # rates beyond the horizon
RATES = "undisturbed", "beginning", "before", "fresh", "used"  # after a save: of whom
SOME = 5  # rates after a state of another curve
USED = 3  # steps that an object has made before it loads


class _FaultError(Exception):
    """Something of the learner's did not give what it should. The text is a sentence for them."""


def draw(seed: int) -> Data:
    """A curve, where on it to save, and for each of its numbers another one."""
    source = random.Random(seed)
    warmup = source.randrange(8, 16)
    saved_at = warmup + source.randrange(5, 30)
    horizon = saved_at + source.randrange(70, 100)
    peak = source.randrange(10, 60) / 10_000
    return {
        "curve": [peak, warmup, horizon, round(peak * source.uniform(0.1, 0.3), 6)],
        "saved_at": saved_at,
        "others": {  # one number of the curve differs: as a job may be started with
            "peak": peak * 2,
            "warmup": warmup + 4,
            "horizon": horizon - saved_at,
            "floor": 0.0,
        },
    }


def measure(names: dict[str, Any], inputs: Data) -> Data:
    """Rates and booleans; under "error" a sentence, where something did not come to an end."""
    made = names["0"]
    fault = refused(made)
    if fault:
        return {"error": fault}
    with lent(made):
        return {
            "counted": _or_fault(lambda: _counted(made, inputs)),
            "resumed": _or_fault(lambda: _resumed(made, inputs)),
            "own": _or_fault(lambda: _own(made, inputs)),
            "others": {name: _or_fault(lambda n=name: _refuses(made, inputs, n)) for name in NAMES},
        }


def _or_fault(measured: Any) -> Any:
    try:
        return measured()
    except _FaultError as fault:
        return {"error": str(fault)}


def _called(what: str, function: Any, *arguments: Any) -> Any:
    value, fault = attempt(function, *arguments)
    if fault:
        raise _FaultError(fault if fault == NOT_WRITTEN else fault.replace("Your function", what))
    return value


def _made(cls: Any, curve: list[Any], steps: int = 0) -> Any:
    schedule = _called("__init__", cls, *curve)
    for _ in range(steps):
        _called("step", lambda: schedule.step())
    return schedule


def _rate(schedule: Any) -> float:
    rate, fault = number(_called("lr", lambda: schedule.lr))
    if fault:
        raise _FaultError(f"lr: {fault}")
    return rate


def _rates(schedule: Any, count: int) -> list[float]:
    rates = []
    for _ in range(count):
        rates.append(_rate(schedule))
        _called("step", lambda: schedule.step())
    return rates


def _state(schedule: Any) -> tuple[Any, str]:
    """What state_dict returns, and the same as text: what a file would hold."""
    state = _called("state_dict", lambda: schedule.state_dict())
    if state is None:
        raise _FaultError("state_dict returned None. Is a `return` missing?")
    try:
        return state, json.dumps(state)
    except (TypeError, ValueError) as error:
        raise _FaultError(
            f"The state does not go into JSON: {error}. Plain numbers, text, lists and dicts."
        ) from None


def _load(schedule: Any, state: Any) -> None:
    _called("load_state_dict", lambda: schedule.load_state_dict(state))


def _counted(cls: Any, inputs: Data) -> list[float]:
    return _rates(_made(cls, inputs["curve"]), inputs["curve"][2] + AFTER)


def _resumed(cls: Any, inputs: Data) -> dict[str, list[float]]:
    """The rates after a save: of the object that was saved, of a new one, and of a used one."""
    curve, steps = inputs["curve"], inputs["saved_at"]
    saved = _made(cls, curve, steps)
    _rate(saved)
    _, text = _state(saved)
    undisturbed = _rates(saved, FOLLOWED)
    found = {"undisturbed": undisturbed, "beginning": _rates(_made(cls, curve), FOLLOWED)}
    found["before"] = _rates(_made(cls, curve, steps - 1), FOLLOWED)
    for name, used in (("fresh", 0), ("used", USED)):
        other = _made(cls, curve, used)
        _rate(other)  # whatever it keeps of it is old after the load
        _load(other, json.loads(text))
        found[name] = _rates(other, FOLLOWED)
    return found


def _own(cls: Any, inputs: Data) -> dict[str, bool]:
    """Does the state stay as it is while the run trains on, and the object while the state is changed?"""
    curve = inputs["curve"]
    saved = _made(cls, curve, inputs["saved_at"])
    state, text = _state(saved)
    _rates(saved, 5)
    moved = json.dumps(state) != text
    used, spoiled, control = (_made(cls, curve) for _ in range(3))
    _load(used, loaded := json.loads(text))
    _rates(used, 2)
    _load(spoiled, given := json.loads(text))
    _spoil(given)
    _load(control, json.loads(text))
    right = _rates(control, 5)
    found, _ = attempt(_rates, spoiled, 5)
    return {"moved": moved, "written": json.dumps(loaded) != text, "follows": found != right}


def _spoil(state: Any) -> None:
    """Set every number in it to 1."""
    for key, value in list(state.items() if isinstance(state, dict) else enumerate(state)):
        if isinstance(value, dict | list):
            _spoil(value)
        elif isinstance(value, int | float):
            state[key] = 1


def _refuses(cls: Any, inputs: Data, name: str) -> dict[str, Any]:
    """What happens where a state meets a schedule that differs in one number."""
    curve, steps = inputs["curve"], inputs["saved_at"]
    changed = [inputs["others"][n] if n == name else v for n, v in zip(NAMES, curve, strict=True)]
    _, text = _state(_made(cls, curve, steps))
    other = _made(cls, changed, USED)
    right = _rates(_made(cls, changed, USED), SOME)
    raised = ""
    try:
        other.load_state_dict(json.loads(text))
    except NotImplementedError:
        raise _FaultError(NOT_WRITTEN) from None
    except Exception as error:
        raised = (
            "ValueError" if isinstance(error, ValueError) else f"{type(error).__name__}: {str(error)[:200]}"
        )
    return {"raised": raised, "rates": _rates(other, SOME), "untouched": right}
