"""Lab 18, part C: `save` and `load`, killed at each change that they make to the file system."""

from __future__ import annotations

from typing import Any

from lastgood.recovery import durability
from lastgood.recovery.learner.bundle import BundleError, texts
from lastgood.recovery.learner.processes import Processes
from lastgood.recovery.learner.reads import data_globals
from lastgood.teaching.checks import exact
from lastgood.teaching.checks.core import Check, Data, borrowed
from lastgood.teaching.checks.lab18.passages import CANNOT_TEAR
from lastgood.teaching.checks.lab18.plan import draw, plan
from lastgood.teaching.checks.report import Report, part, untested
from lastgood.teaching.checks.words import also_reads, raised, sentence

COMES_BACK, SURVIVES = "comes back in a fresh process", "survives a kill at any moment of a save"
POINTS = {COMES_BACK: 2.0, SURVIVES: 4.0}
STILL = "That process has only what save left in the folder."
FRESH = "It ran in a fresh process, which has only what save left in the folder."
NOT_IT = "It takes what capture returned; so look at what save wrote and what load returned."
MISSING = ("AttributeError", "FileNotFoundError", "IndexError", "KeyError", "NameError", "ReturnedNone")
STAND_IN = "Your capture and restore do not bring a run back yet, so this was tried with the course's own."


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    functions = dict(zip(("save", "load", "capture", "restore"), names.values(), strict=True))
    for name in ("save", "load"):
        refused = borrowed(functions[name])
        if refused:
            return {"error": f"{name}: {refused}"}
    try:
        every, own = durability.bundles(functions)
    except BundleError as error:
        return {"error": str(error)}
    reads = data_globals([functions["save"], functions["load"]])
    return {"every": every, "own": own, "texts": texts(functions), "reads": reads}


def _try_out(inputs: Data, data: Data, processes: Processes) -> Data:
    if "error" in data:
        return data
    saved = durability.follow(data["every"], data["own"], plan(inputs), processes, exact.texts(data["texts"]))
    return {"saved": saved, "reads": data["reads"]}


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return DURABILITY.failed(data["error"])
    reads = also_reads(exact.words(data["reads"]))
    found = durability.judge(data["saved"])
    note = STAND_IN if found.reference else ""
    if found.stopped:
        return _stopped(found.stopped, reads, note)
    if found.round_trip:
        lost = part(COMES_BACK, POINTS[COMES_BACK], sentence(found.round_trip) + reads, CANNOT_TEAR)
        later = untested(SURVIVES, POINTS[SURVIVES], "First a state has to come back.")
        return Report(DURABILITY.exercise, (lost, later), note)
    if not found.points:
        raise exact.NotAnAnswer("a state came back, and its save is said to have written nothing")
    parts = (
        part(COMES_BACK, POINTS[COMES_BACK], ""),
        part(SURVIVES, POINTS[SURVIVES], _torn(found), CANNOT_TEAR),
    )
    return Report(DURABILITY.exercise, parts, note)


def _stopped(error: Data, reads: str, note: str) -> Report:
    if error["blank"]:
        report = DURABILITY.failed(raised(error), pending=True)
    elif error["stage"] == "restore":
        report = DURABILITY.failed(f"{raised(error)}\n{NOT_IT}", CANNOT_TEAR)
    elif error["stage"] == "load" and error["kind"] in MISSING:
        told = raised(error)
        rest = reads or f"\n{STILL if 'fresh process' in told else FRESH}"
        report = DURABILITY.failed(told + rest, CANNOT_TEAR)
    else:
        report = DURABILITY.failed(raised(error) + reads)
    return Report(report.exercise, report.parts, note)


def _torn(found: durability.Durability) -> str:
    if not found.torn:
        return ""
    first, *more = (sentence(line) for line in found.torn)
    lines = [first, *more[:1]]
    lines.append(
        f"Failed at {len(found.torn)} of {found.points} places; after each, load must find the old state or "
        "the new one."
    )
    return "\n".join(lines)


DURABILITY = Check("save_load", "C Save and load", sum(POINTS.values()), draw, _measure, _judge, _try_out)
