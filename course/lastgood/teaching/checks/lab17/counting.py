"""Lab 17, part C: a schedule that counts its own steps, and goes on in another process."""

from __future__ import annotations

from typing import Any

from lastgood.teaching.checks import exact
from lastgood.teaching.checks.core import NOT_WRITTEN, Check, Data
from lastgood.teaching.checks.lab17.counted import AFTER, FOLLOWED, NAMES, RATES, SOME, USED, draw, measure
from lastgood.teaching.checks.lab17.own import alike, blank, near, right_rate
from lastgood.teaching.checks.lab17.passages import CHECKPOINT, WITHOUT_A_WORD
from lastgood.teaching.checks.report import Part, Report, untested


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return COUNTING.failed(data["error"])
    counted = _fault_of(data["counted"]) or _counted_fault(data["counted"], inputs)
    resumed = _fault_of(data["resumed"]) or _resumed_fault(data["resumed"], inputs)
    own = _fault_of(data["own"]) or _own_fault(data["own"])
    parts = (
        blank("counts", 1, counted, CHECKPOINT),
        blank("resumes exactly", 2, resumed, CHECKPOINT),
        _waiting("a state of its own", 1, own, resumed),
        _refusing(inputs, data["others"], resumed),
    )
    return Report(COUNTING.exercise, parts)


def _fault_of(measured: Any) -> str:
    return str(measured["error"]) if isinstance(measured, dict) and "error" in measured else ""


def _waiting(title: str, worth: float, fault: str, first: str) -> Part:
    """A part that repeats no fault which another one has told."""
    if fault and fault == first and fault != NOT_WRITTEN:
        return untested(title, worth, "First a state has to be loaded again.")
    return blank(title, worth, fault, CHECKPOINT)


def _counted_fault(counted: Any, inputs: Data) -> str:
    curve = inputs["curve"]
    rates = exact.numbers(counted, curve[2] + AFTER)
    right = [right_rate(step, *curve) for step in range(len(rates) + 1)]
    if alike(rates, right[:-1]):
        return ""
    if len(set(rates)) == 1:
        return (
            f"The rate never changes: it is {rates[0]:.4g} before each step. step() has to move the position."
        )
    if alike(rates, right[1:]):
        return "One step ahead: before the first step, lr should be the rate of step 0."
    if alike(rates[1:], right[: len(rates) - 1]):
        return "One step behind: after one step(), lr should be the rate of step 1."
    step = next(i for i, rate in enumerate(rates) if not near(rate, right[i]))
    return f"After {step} steps lr is {rates[step]:.4g}, and {right[step]:.4g} is right."


def _resumed_fault(found: dict[str, list[float]], inputs: Data) -> str:
    for rates in exact.under(found, RATES).values():
        exact.numbers(rates, FOLLOWED)
    right, fresh, used, at = found["undisturbed"], found["fresh"], found["used"], inputs["saved_at"]
    if fresh == right == used:
        return ""
    old = (
        "The first rate after loading is still that from before: it was computed earlier and "
        "kept. Compute it anew."
    )
    if fresh[1:] == right[1:] and fresh[0] != right[0]:
        return old
    if fresh == found["beginning"]:
        return (
            f"It begins anew: saved after {at} steps, loaded into a new object, the next rate is "
            f"{fresh[0]:.4g}, and "
            f"{right[0]:.4g} is right. Is the position in the state, and does load_state_dict take it out?"
        )
    if fresh == found["before"]:
        return (
            f"One step behind: saved after {at} steps, it makes the last of them again. The position in the "
            "state is that of the step before."
        )
    if fresh[:-1] == right[1:]:
        return f"One step ahead: saved after {at} steps, it leaves one out."
    if fresh == right and used[:-USED] == right[USED:]:
        return (
            f"Loaded into an object that had made {USED} steps already, it stands at {at + USED} "
            f"instead of {at}: the "
            "saved position is added. It has to replace the old one."
        )
    if fresh == right:
        return f"Loaded into an object that had made {USED} steps already, it goes on with other rates."
    step = next(i for i, rate in enumerate(fresh) if rate != right[i])
    return (
        f"Saved after {at} steps: rate number {step + 1} after loading is {fresh[step]!r}, undisturbed it is "
        f"{right[step]!r}."
    )


def _own_fault(found: dict[str, bool]) -> str:
    exact.flags(list(exact.under(found, ("moved", "written", "follows")).values()))
    if found["moved"]:
        return "The state changes while the run trains on: it is the object's own dict. Return a copy."
    if found["written"]:
        return (
            "Steps after loading change the dict that was loaded: the object has kept it. Take "
            "the numbers out of it."
        )
    if found["follows"]:
        return (
            "Whoever changes the loaded dict changes the schedule: it has kept the dict. Take "
            "the numbers out of it."
        )
    return ""


def _refusing(inputs: Data, others: Data, resumed: str) -> Part:
    title, worth = "refuses another curve", 2
    fault = next(filter(None, map(_fault_of, others.values())), "")
    if fault:
        return _waiting(title, worth, fault, resumed)
    for name in NAMES:
        for rates in ("rates", "untouched"):
            exact.numbers(others[name][rates], SOME)
    silent = [name for name in NAMES if not others[name]["raised"]]
    if silent:
        return blank(title, worth, _silent(inputs, others[silent[0]], silent), WITHOUT_A_WORD)
    for name, found in others.items():
        if found["raised"] != "ValueError":
            fault = f"With another {name} it raises {found['raised']}. A ValueError was asked for."
        elif found["rates"] != found["untouched"]:
            fault = (
                f"With another {name} it raises, but has moved before: check first, then take the position."
            )
        if fault:
            break
    if not fault and resumed.startswith("load_state_dict raised ValueError"):
        fault = "It refuses each state, also one of the same curve."
    return blank(title, worth, fault, CHECKPOINT)


def _silent(inputs: Data, found: Data, silent: list[str]) -> str:
    name, curve = silent[0], inputs["curve"]
    saved = curve[NAMES.index(name)]
    words = (
        f"A state saved with {name} {saved:g} goes into a schedule with {name} "
        f"{inputs['others'][name]:g} without a word. "
    )
    undisturbed, now = right_rate(inputs["saved_at"], *curve), found["rates"][0]
    if near(now, undisturbed):
        words += "The saved curve has replaced the one that this job was given."
    else:
        words += f"Undisturbed the next rate is {undisturbed:.4g}, now it is {now:.4g}."
    if len(silent) > 1:
        words += f" The same holds for {', '.join(silent[1:])}."
    return words


COUNTING = Check("scheduler", "C1 A schedule that counts", 6, draw, measure, _judge)
