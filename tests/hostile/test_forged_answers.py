"""Answers that no `measure` would give: each is no answer, or earns less than an honest one.

Whoever controls the notebook's process controls what comes out of it. So the answer of each check to the
master is forged, one thing at a time, and judged.
"""

import ast
import copy
import functools
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jupytext
import pytest
import torch

from autograder import mutants
from lastgood.recovery.learner.processes import Trusting
from lastgood.recovery.wire import pack, same, unpack
from lastgood.teaching.checks.core import Check
from lastgood.teaching.checks.report import Report

ROOT = Path(__file__).resolve().parents[2]
SEED = 7
FEW = 10  # forgeries of an answer, spread over all: what the quick tests try
ANY: Any = object()  # one name or place, whichever

Way = tuple[Any, ...]  # names and places, from the whole answer down to what was forged


class Forgery(NamedTuple):
    way: Way
    how: str
    answer: Any


class Harmless(NamedTuple):
    """What may be forged and still be worth all points, and why."""

    check: str
    way: Way
    hows: set[str] | None  # None: in any way
    why: str


HARMLESS = (
    Harmless(
        "lab00 self_attention",
        ("dropped",),
        {"[]", "shorter"},
        "whoever calls torch's dropout function leaves it empty: only what stands there is asked",
    ),
    Harmless("lab00 self_attention", ("dropped", ANY), {"dropped"}, "as above"),
    Harmless("lab00 gpt", ("shared",), {"not"}, "chooses the words where the parameters are too many"),
    Harmless(
        "lab00 train_step", ("norms",), {"[]", "shorter"}, "chooses the words where the update is wrong"
    ),
    Harmless("lab00 train_step", ("norms", ANY), {"dropped", "nan", "inf"}, "as above"),
    Harmless(
        "lab08 adamw_step",
        ("100 steps without decay", ANY),
        None,
        "its path alone is judged; what the function is handed, in the steps with decay",
    ),
    Harmless(
        "lab08 first_update",
        ("lent", ...),
        None,
        "tried with the learner's own update and with the course's: the better one counts",
    ),
    Harmless("lab08 first_update", ("own", ...), None, "as above"),
    Harmless(
        "lab17 clip_gradients",
        ("cases", ANY, "moved"),
        {"not"},
        "whether parameters change is asked of the gradient above the threshold alone",
    ),
    Harmless(
        "lab17 clip_gradients",
        ("cases", ANY, "norm"),
        {"nan", "inf"},
        "where a ValueError is right there is no norm to be judged",
    ),
    Harmless(
        "lab17 clip_gradients", ("listed", "after", ANY), None, "chooses the words where nothing is rescaled"
    ),
    Harmless("lab17 clip_gradients", ("listed", ANY), {"nan", "inf", "not", "''"}, "as above"),
    Harmless(
        "lab17 scheduler", ("resumed", "before", ANY), {"nan", "inf"}, "chooses the words where it is off"
    ),
    Harmless("lab17 scheduler", ("resumed", "beginning", ANY), {"nan", "inf"}, "as above"),
    Harmless("lab17 train", ("position",), {"nan", "inf"}, "chooses what a part without a save waits for"),
    Harmless(
        "lab19 last_good",
        ("all damaged", "skipped"),
        {"{}"},
        "where no checkpoint is good, nothing is asked of those passed over",
    ),
    Harmless("lab19 last_good", ("all damaged", "skipped", ANY), {"dropped", "''"}, "as above"),
    Harmless(
        "lab20 failure_times",
        ("lists", ANY),
        {"shorter"},
        "one failure more or less among thousands is as good a draw",
    ),
    Harmless("lab20 failure_times", ("lists", ANY, ANY), {"dropped"}, "as above"),
)

# The same, of what a process sent that ran a learner's functions, or of what the judge made of it.
SAID_BY_PROCESSES = (
    Harmless(
        "lab18 capture_restore",
        ("audit", ANY, "steps"),
        {"None", "{}", "[]", "''", "dropped", "nan", "inf"},
        "how many steps a function took is its own process's word",
    ),
    Harmless(
        "lab18 capture_restore",
        ("audit", ANY, "built"),
        None,
        "names who has restored nothing, whose run is not the right one either",
    ),
    Harmless(
        "lab18 capture_restore", ("audit", "writer", "bytes"), {"nan"}, "the judge's own: a file's size"
    ),
    Harmless(
        "lab18 save_load", ("saved", "reference"), None, "the judge's own: whether its functions stood in"
    ),
    Harmless("lab18 save_load", ("saved", "torn"), {"shorter"}, "the judge's own: the places that it tried"),
    Harmless("lab18 save_load", ("saved", "torn", ANY), {"dropped"}, "as above"),
    Harmless("lab18 save_load", ("saved", "saver", ANY), None, "chooses places and words"),
    Harmless(
        "lab18 save_load", ("saved", "loaded", "outside"), {"{}", "''"}, "a process's word on its files"
    ),
)

# What a kernel says of how a function behaved, yes or no. Nobody else was there to see it: a kernel that lies
# is believed. It cannot be seen from outside, and trying each function out in a process of the judge's own
# would cost a class more than the point or two that each is worth.
SELF_REPORTED: dict[str, set[Way]] = {
    "lab00 self_attention": {("dropped", ANY)},  # were weights dropped, whose rows add up to 1
    "lab00 gpt": {("shared",)},  # do two parameters share memory
    "lab00 next_token_loss": {("differentiable",)},
    "lab00 train_step": {("empty",), ("graph",)},  # did it return nothing, or a loss with its graph
    "lab00 heldout_loss": {("dropping",), ("modes", ANY), ("moved",), ("tensor",)},
    "lab00 sample": {("global",)},  # was torch's global generator drawn from
    "lab08 momentum_step": {("touched",)},  # was the gradient changed
    "lab08 corrected_moments": {("touched",)},
    "lab08 adamw_step": {(ANY, "touched")},
    "lab17 clip_gradients": {("cases", ANY, "moved"), ("listed", "moved")},  # were parameters changed
    "lab17 scheduler": {("own", ANY)},  # did the state change with the object, or the object with it
    "lab17 resume_with_betas": {("kept",)},  # is the saved state as it was
    "lab18 next_token_loss": {("differentiable",)},
}


@functools.cache
def master(lab: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The names of a lab's master, and the call of each check."""
    names: dict[str, Any] = {"__name__": "__main__"}
    calls: dict[str, str] = {}
    text = mutants.master_text(ROOT, lab)
    code = [cell for cell in jupytext.reads(text, fmt="py:percent").cells if cell.cell_type == "code"]
    for number, cell in enumerate(code):
        about = cell.metadata.get("nbgrader", {})
        if about.get("grade") and not about.get("solution"):
            calls[cell.source.partition("(")[0].removeprefix("check.")] = cell.source
        elif number == 0 or about:
            exec(compile(cell.source, f"<cell {number}>", "exec"), names)
    return names, calls


class Answer(NamedTuple):
    """What a check measured of the master."""

    check: Check
    inputs: Any
    measured: Any


@functools.cache
def answer(name: str) -> Answer:
    lab, _, which = name.partition(" ")
    names, calls = master(lab)
    check = next(
        c for c in importlib.import_module(f"lastgood.teaching.checks.{lab}").CHECKS if c.name == which
    )
    call = ast.parse(calls[which]).body[0]
    assert isinstance(call, ast.Expr)
    assert isinstance(call.value, ast.Call)
    arguments = {str(i): eval(ast.unparse(a), names) for i, a in enumerate(call.value.args)}
    inputs = unpack(pack(check.draw(SEED)))
    return Answer(check, inputs, unpack(check.measured(arguments, inputs)))


def named(*, tried_out: bool) -> list[str]:
    """The checks of all labs: those whose functions are tried out in processes, or the others."""
    modules = {lab: importlib.import_module(f"lastgood.teaching.checks.{lab}") for lab in mutants.labs()}
    return [
        f"{lab} {check.name}"
        for lab, module in modules.items()
        for check in module.CHECKS
        if (check.try_out is not None) is tried_out
    ]


PLAIN, TRIED_OUT = named(tried_out=False), named(tried_out=True)


def ways(value: Any, way: Way = ()) -> Iterator[Way]:
    """The way to each thing in an answer. Of a list the first three, which stand for the others."""
    yield way
    inside = (
        value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    )
    for name, item in inside:
        yield from ways(item, (*way, name))


def at(answer: Any, way: Way) -> Any:
    return functools.reduce(lambda value, name: value[name], way, answer)


def put(answer: Any, way: Way, new: Any) -> Any:
    """The answer with something else at the end of the way; `DROPPED` takes it out."""
    if not way:
        return new
    changed, (name, *rest) = copy.copy(answer), way
    if not rest and new is DROPPED:
        del changed[name]
    else:
        changed[name] = put(changed[name], tuple(rest), new)
    return changed


DROPPED: Any = object()


def instead(value: Any) -> Iterator[tuple[str, Any]]:
    """What a forger may put in a value's place."""
    yield "dropped", DROPPED
    yield "None", None
    yield "{}", {}
    yield "[]", []
    yield "''", ""
    match value:
        case bool():
            yield "not", not value
        case bytes():
            yield "no bytes", b""
            yield "half", value[: len(value) // 2]
        case int() | float():
            yield "nan", float("nan")
            yield "inf", float("inf")
        case list() if len(value) > 1:
            yield "shorter", value[:-1]
        case torch.Tensor():
            yield "empty tensor", torch.zeros(0)
            if value.is_floating_point():
                yield "nan", torch.full_like(value, float("nan"))


def forgeries(answer: Any) -> list[Forgery]:
    """An answer with one thing in it forged, for each thing and each way to forge it."""
    return [
        Forgery(way, how, put(answer, way, new))
        for way in ways(answer)
        for how, new in instead(at(answer, way))
        if not (new is DROPPED and not way) and not same(at(answer, way), new)
    ]


def judged(check: Check, inputs: Any, data: Any) -> Report | None:
    """The report; None where the data is no answer, which the judge takes any exception for."""
    try:
        return check.verdict(inputs, data | {"stderr": ""})
    except Exception:
        return None


def leads(way: Way, pattern: Way) -> bool:
    """Whether a way is of this pattern; one that ends in `...` has all that is inside."""
    if pattern[-1:] == (...,):
        way, pattern = way[: len(pattern) - 1], pattern[:-1]
    return len(way) == len(pattern) and all(
        p is ANY or p == name for name, p in zip(way, pattern, strict=True)
    )


def harmless(name: str, forgery: Forgery) -> Harmless | None:
    known = (
        h
        for h in (*HARMLESS, *SAID_BY_PROCESSES)
        if h.check == name and leads(forgery.way, h.way) and (h.hows is None or forgery.how in h.hows)
    )
    return next(known, None)


def got_away(name: str, tried: list[Forgery]) -> list[Forgery]:
    """The forgeries that earn all points."""
    check, inputs, _ = answer(name)
    reports = [(forgery, judged(check, inputs, forgery.answer)) for forgery in tried]
    return [forgery for forgery, report in reports if report is not None and report.passed]


def told(name: str, found: list[Forgery]) -> list[tuple[Way, str]]:
    return [(forgery.way, forgery.how) for forgery in found if harmless(name, forgery) is None]


@pytest.mark.parametrize("name", PLAIN)
def test_a_forged_answer_does_not_earn_all_points(name: str) -> None:
    check, inputs, measured = answer(name)
    honest = judged(check, inputs, measured)
    assert honest is not None
    assert honest.passed
    every = forgeries(measured)
    assert told(name, got_away(name, every[:: 1 + len(every) // FEW])) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAIN)
def test_no_forged_answer_of_all_earns_all_points_and_what_is_called_harmless_is(name: str) -> None:
    found = got_away(name, forgeries(answer(name).measured))
    assert told(name, found) == []
    used = {id(harmless(name, forgery)) for forgery in found}
    assert [h.way for h in HARMLESS if h.check == name and id(h) not in used] == []


@pytest.mark.parametrize("name", PLAIN)
def test_what_a_kernel_says_of_its_own_conduct_is_known(name: str) -> None:
    measured = answer(name).measured
    said = [way for way in ways(measured) if isinstance(at(measured, way), bool)]
    known = SELF_REPORTED.get(name, set())
    assert [way for way in said if not any(leads(way, pattern) for pattern in known)] == []
    assert [pattern for pattern in known if not any(leads(way, pattern) for way in said)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", TRIED_OUT)
def test_functions_that_are_none_earn_nothing_in_the_processes_that_are_to_try_them_out(name: str) -> None:
    check, inputs, measured = answer(name)
    assert check.try_out is not None
    words = {"texts", "reads"}  # of the notebook: they choose the words of a report
    for way, how, forged in forgeries({key: value for key, value in measured.items() if key not in words}):
        if not way or how in LEFT_OUT.get(way, ()):
            continue
        try:
            data = check.try_out(
                inputs, {key: measured[key] for key in words & measured.keys()} | forged, Trusting()
            )
        except Exception:
            continue
        report = judged(check, inputs, data)
        assert report is None or report.points == 0, (way, how)


# A capture that cannot travel is not what save and load are tested for: the library's stands in.
# And these alone are tried only where all four together are of no use.
LEFT_OUT = {
    ("every",): {"None", "no bytes", "half"},
    ("own",): {"None", "{}", "[]", "''", "no bytes", "half"},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TRIED_OUT if name.startswith("lab18")])
def test_what_processes_say_that_ran_a_learners_functions_is_no_more_believed(name: str) -> None:
    check, inputs, measured = answer(name)
    assert check.try_out is not None
    data = unpack(pack(check.try_out(inputs, measured, Trusting())))
    honest = judged(check, inputs, data)
    assert honest is not None
    assert honest.passed
    shallow = [forgery for forgery in forgeries(data) if len(forgery.way) <= 3]
    found = [f for f in shallow if (report := judged(check, inputs, f.answer)) is not None and report.passed]
    assert told(name, found) == []


def test_what_is_named_here_is_a_check() -> None:
    assert {h.check for h in HARMLESS} | SELF_REPORTED.keys() <= {*PLAIN, *TRIED_OUT}
