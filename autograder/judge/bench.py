"""The judge's own process. It draws, has functions tried out, and judges.

    python -m autograder.judge.bench ROOT SANDBOX

ROOT is the course's folder, SANDBOX the sandbox's limits as JSON. Files that are of no use after a check go
where TMPDIR says. Requests come on stdin and replies go to stdout, one JSON object a line. It never runs a
line of a learner's. It lives from one check to the next, because importing torch costs more than judging;
whoever asks kills it when it takes too long.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import resource
import secrets
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from autograder.judge.walls import processes, server
from autograder.sandbox.settings import Sandbox
from lastgood.recovery.learner.processes import Processes
from lastgood.recovery.warm import WarmServer
from lastgood.recovery.wire import WireError, pack, unpack
from lastgood.teaching.checks.core import Check
from lastgood.teaching.checks.report import Report

LONGEST: Final = 2_000  # characters of a reason: an exception's message is the learner's to choose
MEMORY: Final = 3  # times what a notebook may have: addresses, of which torch takes more than it uses
NOT_AN_ANSWER = "What came back from the notebook is not an answer that this check can give."


class Bench:
    """What can be asked of the judge. Each request is a dictionary, and so is its reply."""

    def __init__(self, root: Path, sandbox: Sandbox) -> None:
        self._root = root
        self._sandbox = sandbox
        self._server: WarmServer | None = None

    def _processes(self) -> Processes:
        if self._server is None or not self._server.alive:
            self._server = server(self._sandbox, self._root)
        return processes(self._server, self._sandbox, self._root)

    def draw(self, request: dict[str, Any]) -> dict[str, Any]:
        """What a check measures with, in base64; `{}` where the course has no such check.

        Where functions are tried out, that is nothing: who knew what was drawn could bring the answer along.
        """
        check = _check(request)
        if check is None:
            return {}
        if check.try_out is None:
            inputs = check.draw(request["seed"])
        else:
            inputs = {}
            self._processes()  # begins to import torch while the notebook's kernel measures
        return {"inputs": base64.b64encode(pack(inputs)).decode()}

    def judge(self, request: dict[str, Any]) -> dict[str, Any]:
        """The report on an answer: its points as nbgrader reads them, and its HTML."""
        check = _check(request)
        assert check is not None, "inputs were drawn for it"
        inputs, answer = (base64.b64decode(request[name]) for name in ("inputs", "answer"))
        return _shown(self._report(check, inputs, answer))

    def refuse(self, request: dict[str, Any]) -> dict[str, Any]:
        """The report on a check that got no answer, for the reason given."""
        check = _check(request)
        assert check is not None, "inputs were drawn for it"
        return _shown(check.failed(request["why"]))

    def _report(self, check: Check, inputs: bytes, answer: bytes) -> Report:
        # For functions that are tried out it is drawn only now that they can no longer change.
        given = unpack(inputs) if check.try_out is None else check.draw(secrets.randbits(31))
        try:
            told = unpack(answer)
            measured = unpack(told["measured"])
            if not isinstance(measured, dict) or not isinstance(told["stderr"], str):
                raise WireError("an answer is a dictionary")
            if check.try_out is not None:
                measured = check.try_out(given, measured, self._processes())
            return check.verdict(given, measured | {"stderr": told["stderr"]})
        except Exception:  # of any kind: the answer may be made to be misread
            traceback.print_exc()
            return check.failed(NOT_AN_ANSWER)


def _check(request: dict[str, Any]) -> Check | None:
    name = f"lastgood.teaching.checks.{request['lab']}"
    if not request["lab"].isidentifier() or importlib.util.find_spec(name) is None:
        return None
    checks = {check.name: check for check in importlib.import_module(name).CHECKS}
    return checks.get(request["check"])


def _shown(report: Report) -> dict[str, Any]:
    parts = tuple(replace(part, why=part.why[:LONGEST]) for part in report.parts)
    short = replace(report, parts=parts, note=report.note[:LONGEST])
    return {"text/plain": repr(short), "text/html": short._repr_html_()}


def main() -> None:
    """Serve until stdin ends."""
    # Whatever a library prints goes to stderr: stdout holds the replies alone.
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sandbox = Sandbox(**json.loads(sys.argv[2]))
    # An answer can be made to unpack to more than there is. It is then none.
    most = MEMORY * sandbox.memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    bench = Bench(Path(sys.argv[1]), sandbox)
    does = {"draw": bench.draw, "judge": bench.judge, "refuse": bench.refuse}
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(does[request["do"]](request)), file=replies, flush=True)


if __name__ == "__main__":
    main()
