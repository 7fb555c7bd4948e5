"""The preprocessor that judges: graded cells are measured in the notebook's kernel, and answers judged here.

A cell that is no `check.…(…)` of the course's is run in the sandbox as it stands, as nbgrader would.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, Final

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output

from autograder.inert.preprocessor import REPORTS
from autograder.judge.calls import Call, call_of
from autograder.judge.court import Court
from autograder.judge.warm import sitting
from autograder.sandbox.execute import SandboxedExecute
from lastgood.teaching.checks import ANSWER

ANSWER_BYTES: Final = 32 * 10**6  # in base64; the largest of an honest learner's is below a tenth of it
NO_ANSWER: Final = (
    "The check gave no answer. Something in the notebook has changed what the check itself needs, such as a "
    "name of Python's or of this course's library."
)
_LAB = re.compile(r"lab\d\d")
_ERRAND = "lastgood_errand"


class JudgedExecute(SandboxedExecute):
    """Runs a notebook's cells, and has what graded cells measure judged where no learner's code runs."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._court: Court | None = None
        self._lab = ""

    def preprocess(
        self, nb: NotebookNode, resources: Any, km: Any = None
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run and judge the notebook. Raises SandboxError, and CourtError where the judge itself fails."""
        self._court = None
        lab = _LAB.match(resources.get("nbgrader", {}).get("assignment", ""))
        if lab is None or not any(map(call_of, nb.cells)):
            return super().preprocess(nb, resources, km)
        self._lab = lab[0]
        with sitting(Path(self.root).resolve(), self.sandbox) as self._court:
            return super().preprocess(nb, resources, km)

    def preprocess_cell(self, cell: NotebookNode, resources: Any, index: int) -> tuple[NotebookNode, Any]:
        """Judge a graded cell, run any other."""
        call = call_of(cell)
        if call is None or self._court is None or self._ended is not None:
            return super().preprocess_cell(cell, resources, index)
        inputs = self._court.draw(self._lab, call.check)
        if inputs is None:
            return super().preprocess_cell(cell, resources, index)
        errand = new_code_cell(call.at_the_kernel(self._lab, inputs), metadata={_ERRAND: True})
        self.nb.cells[index] = errand  # a display that is updated while it runs is the errand's
        super().preprocess_cell(errand, resources, index)
        self._forget_displays(index)
        cell.execution_count = errand.execution_count
        cell.outputs = self._outcome(self._court, call, inputs, errand)
        self.nb.cells[index] = cell
        for output in cell.outputs:
            if "text/html" in output.get("data", {}):
                reports: MutableMapping[str, str] = resources.setdefault(REPORTS, {})
                reports[cell.metadata.nbgrader["grade_id"]] = output.data["text/html"]
        return cell, resources

    def _output_bytes(self, cell: NotebookNode) -> int:
        return ANSWER_BYTES if cell.metadata.get(_ERRAND) else super()._output_bytes(cell)

    def _count_output(self, cell: NotebookNode) -> None:
        if not cell.metadata.get(_ERRAND):  # of an errand's, what is kept is cut to a cell's share
            super()._count_output(cell)

    def _forget_displays(self, index: int) -> None:
        """What a learner's code displayed here could be told later to show something else in its place."""
        for places in self._display_id_map.values():
            places.pop(index, None)

    def _outcome(self, court: Court, call: Call, inputs: str, errand: NotebookNode) -> list[NotebookNode]:
        """What the graded cell shows: what was printed on the way, and an error or the report."""
        printed = self._printed(errand)
        errors = [_without(inputs, output) for output in errand.outputs if output.output_type == "error"]
        if errors:
            return [*printed, *errors]
        answers = [output.data[ANSWER] for output in errand.outputs if ANSWER in output.get("data", {})]
        if answers and isinstance(answers[-1], str):
            report = court.judge(self._lab, call.check, inputs, answers[-1])
        else:
            report = court.refuse(self._lab, call.check, NO_ANSWER)
        return [*printed, new_output("execute_result", data=report, execution_count=errand.execution_count)]

    def _printed(self, errand: NotebookNode) -> list[NotebookNode]:
        """What was printed while it measured, as far as a cell may."""
        streams = [o.text for o in errand.outputs if o.output_type == "stream" and o.name == "stdout"]
        text, most = "".join(streams), self.sandbox.output_bytes
        return [new_output("stream", name="stdout", text=text[:most])] if text else []


def _without(inputs: str, error: NotebookNode) -> NotebookNode:
    """The error without the frame of the errand, which holds what the learner was tested with."""
    error.traceback = [entry for entry in error.traceback if inputs not in entry]
    error.evalue = error.evalue.replace(inputs, "…")
    return error
