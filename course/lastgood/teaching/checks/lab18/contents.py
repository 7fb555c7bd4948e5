"""Lab 18, part B: `capture` and `restore`, audited component by component."""

from __future__ import annotations

from typing import Any

from lastgood.recovery import audit
from lastgood.recovery.components import LOADER, STEP, TITLES
from lastgood.recovery.learner import bundle
from lastgood.recovery.learner.processes import Processes
from lastgood.recovery.learner.reads import data_globals
from lastgood.teaching.checks import exact
from lastgood.teaching.checks.core import Check, Data, borrowed
from lastgood.teaching.checks.lab18.passages import COPIES, MORE_THAN_WEIGHTS, THREADS
from lastgood.teaching.checks.lab18.plan import draw, plan
from lastgood.teaching.checks.report import Part, Report, part
from lastgood.teaching.checks.words import also_reads, raised, sentence


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    functions = {"capture": names["0"], "restore": names["1"]}
    for name, function in functions.items():
        refused = borrowed(function)
        if refused:
            return {"error": f"{name}: {refused}"}
    try:
        blob = bundle.dumps(functions)
    except bundle.BundleError as error:
        return {"error": str(error)}
    return {"blob": blob, "texts": bundle.texts(functions), "reads": data_globals(functions.values())}


def _try_out(inputs: Data, data: Data, processes: Processes) -> Data:
    if "error" in data:
        return data
    followed = audit.follow(data["blob"], plan(inputs), processes, exact.texts(data["texts"]))
    return {"audit": followed, "reads": data["reads"]}


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return CONTENTS.failed(data["error"])
    found = audit.judge(plan(inputs), data["audit"])
    reads = also_reads(exact.words(data["reads"]))
    if found.stopped:
        return CONTENTS.failed(raised(found.stopped) + reads, pending=found.stopped["blank"])
    if found.refused:
        reread = THREADS if found.threads[0] != found.threads[1] else MORE_THAN_WEIGHTS
        return CONTENTS.failed(sentence(found.refused) + reads, reread)
    each = CONTENTS.worth / len(found.findings)
    parts = tuple(_part(finding, found, each) for finding in found.findings)
    figure, note = "", "The resumed run is the run it continues: every loss is equal, bit for bit."
    if not found.passed:
        from lastgood.teaching.views.curves import loss_curves_svg  # matplotlib: 1 s, for a picture of a loss

        curves = _curve_words(found)
        figure = loss_curves_svg(found.expected, list(found.found), found.captured_at, curves)
        # With one component lost, the curves tell what its line has told.
        note = curves if len([p for p in parts if not p.passed]) > 1 or found.first_step is None else ""
        note = (note or f"Captured after {found.captured_at} steps.") + reads
    return Report(CONTENTS.exercise, parts, note, figure)


def _part(finding: audit.Finding, found: audit.Audit, worth: float) -> Part:
    reread = COPIES if finding.live else MORE_THAN_WEIGHTS
    return part(TITLES[finding.component], worth, _fault(finding, found), reread)


def _fault(finding: audit.Finding, found: audit.Audit) -> str:
    if finding.kept:
        return ""
    fault = sentence(finding.why)
    if finding.first_step is not None:
        fault += f" {_FIRST.get(finding.component, 'First step whose loss differs')}: {finding.first_step}"
        fault += " (the first after the capture)" if finding.first_step == found.captured_at else ""
        fault += f"; the loss is off by up to {finding.gap:.3g} nats." if finding.gap else "."
    return fault


_FIRST = {STEP: "First step with another learning rate", LOADER: "First step on other windows"}


def _curve_words(found: audit.Audit) -> str:
    if found.first_step is None:
        return "The first resumed run looks exactly right."
    if not found.found:
        return f"Captured after {found.captured_at} steps. The resumed run could not take its first step."
    gap = max(abs(a - b) for a, b in zip(found.expected, found.found, strict=True))
    return (
        f"Captured after {found.captured_at} steps. The resumed run differs from the undisturbed one "
        f"from step {found.first_step} on; the largest gap of the loss is {gap:.3g} nats."
    )


CONTENTS = Check("capture_restore", "B Capture and restore", 10, draw, _measure, _judge, _try_out)
