"""The half of a check that runs where the learner's objects live, for a judge that is somewhere else.

The judge draws the inputs and sends them; what comes back is packed plain data, shown as an output of a kind
of its own. Whoever controls this process can put anything there. It is an answer to be judged, and no more.
"""

from __future__ import annotations

import base64
import importlib
from typing import Any

from lastgood.recovery.wire import WireError, pack, unpack
from lastgood.teaching.checks import ANSWER
from lastgood.teaching.checks.core import quiet


def answer(lab: str, check: str, inputs: str, *arguments: Any, **named: Any) -> None:
    """Measure for the check of this name, and show the answer.

    `inputs` are base64 of packed plain data; the rest is what stands in the brackets of the graded cell.
    """
    from IPython.display import display

    checks = importlib.import_module(f"lastgood.teaching.checks.{lab}").check
    names = {str(i): value for i, value in enumerate(arguments)} | named
    with quiet() as said:
        try:
            measured = getattr(checks, check).measured(names, unpack(base64.b64decode(inputs)))
        except WireError as error:
            measured = pack({"error": f"The result is not made of tensors, numbers and text: {error}"})
    blob = pack({"measured": measured, "stderr": said()[-500:]})
    display({ANSWER: base64.b64encode(blob).decode("ascii")}, raw=True)
