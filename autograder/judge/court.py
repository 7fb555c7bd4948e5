"""The grader's end of the judge's process: questions with a deadline, and a fresh judge after each missed."""

from __future__ import annotations

import json
import os
import secrets
import selectors
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from autograder.memory import in_memory, remove
from autograder.sandbox import command
from autograder.sandbox.settings import Sandbox

START_S: Final = 60.0  # importing torch from a cold disk can take most of it
JUDGE_S: Final = 60.0  # a verdict takes milliseconds; trying functions out, a few seconds
_HOME, _FILES = "home", "files"  # in the judge's folder; the second is emptied after each notebook
TOO_LATE = f"The check could not be judged within {JUDGE_S:.0f} s, and was stopped."


class CourtError(Exception):
    """The judge's process failed by itself; the message carries the end of what it printed."""


class Court:
    """Asks the judge. A context manager; may be used for one notebook after another.

    The judge starts in the background at once, and anew at the next question after it was stopped.
    """

    def __init__(self, root: Path, sandbox: Sandbox) -> None:
        self._root = root
        self._limits = limits(sandbox)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - open for as long as the court is
        self._folder: Path | None = None  # the judge's files, which outlive it where it is killed
        self._bench: subprocess.Popen[bytes] | None = None
        self._start()

    def draw(self, lab: str, check: str, seed: int | None = None) -> str | None:
        """Inputs for a check, in base64; None where the course has no such check. `seed` repeats a draw."""
        seed = secrets.randbits(31) if seed is None else seed
        reply = self._ask({"do": "draw", "lab": lab, "check": check, "seed": seed}, START_S)
        return None if reply is None else reply.get("inputs")

    def judge(self, lab: str, check: str, inputs: str, answer: str) -> dict[str, str]:
        """The report on an answer (base64) as a notebook's output holds it, by MIME type."""
        about = {"lab": lab, "check": check}
        reply: dict[str, str] | None = self._ask(
            {"do": "judge", **about, "inputs": inputs, "answer": answer}, JUDGE_S
        )
        return self.refuse(lab, check, TOO_LATE) if reply is None else reply

    def refuse(self, lab: str, check: str, why: str) -> dict[str, str]:
        """The report on a check that got no answer."""
        reply: dict[str, str] | None = self._ask(
            {"do": "refuse", "lab": lab, "check": check, "why": why}, START_S
        )
        if reply is None:
            raise CourtError(f"the judge did not answer within {START_S:.0f} s")
        return reply

    def forget(self) -> None:
        """Remove what a notebook has left here, before the next one is judged."""
        if self._folder is not None:
            files = self._folder / _FILES
            remove(files)
            files.mkdir(exist_ok=True)
        self._log.seek(0)  # where the judge goes on to write, too: it is the same open file
        self._log.truncate()

    def close(self) -> None:
        """Stop the judge. Closing twice does nothing."""
        if self._bench is None:
            return
        bench, self._bench = self._bench, None
        bench.kill()
        bench.communicate()
        if self._folder is not None:
            remove(self._folder)
            self._folder = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        self._log.close()

    def _start(self) -> subprocess.Popen[bytes]:
        self._folder = Path(tempfile.mkdtemp(prefix="lastgood-judge-", dir=in_memory()))
        home, files = (self._folder / name for name in (_HOME, _FILES))
        for folder in (home, files):
            folder.mkdir()
        self._bench = subprocess.Popen(
            [sys.executable, "-P", "-m", "autograder.judge.bench", str(self._root), json.dumps(self._limits)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            # What it starts is a fork of it as far as the environment goes: nothing of the instructor's.
            # A home of its own: Python and libraries run what they find at home.
            env=command.environment({})
            | {"TMPDIR": str(files), "HOME": str(home), "MPLCONFIGDIR": str(home)},
            start_new_session=True,  # an interrupt of the grader's is the grader's to handle
        )
        return self._bench

    def _ask(self, request: dict[str, Any], seconds: float) -> Any:
        """The reply; None where it took too long, and the judge was stopped."""
        bench = self._bench or self._start()
        assert bench.stdin is not None
        assert bench.stdout is not None
        try:
            line = _exchanged(bench, json.dumps(request).encode() + b"\n", time.monotonic() + seconds)
        except BaseException:
            self.close()  # what it still says must not be taken for an answer to the next question
            raise
        if line is None:
            self.close()
            return None
        if not line.endswith(b"\n"):
            self.close()
            self._log.seek(max(0, os.fstat(self._log.fileno()).st_size - 4096))
            raise CourtError(f"the judge stopped:\n{self._log.read().decode(errors='replace').strip()}")
        return json.loads(line)


def limits(sandbox: Sandbox) -> dict[str, Any]:
    """The sandbox's limits by name, as the judge's process gets them."""
    return {name: getattr(sandbox, name) for name in sandbox.trait_names(config=True)}


def _exchanged(bench: subprocess.Popen[bytes], request: bytes, deadline: float) -> bytes | None:
    """The line that answers the request: whole, cut short where the judge ended, None after the deadline."""
    assert bench.stdin is not None
    assert bench.stdout is not None
    os.set_blocking(bench.stdin.fileno(), False)
    reply = b""
    with selectors.DefaultSelector() as selector:
        selector.register(bench.stdout, selectors.EVENT_READ)
        selector.register(bench.stdin, selectors.EVENT_WRITE)
        while not reply.endswith(b"\n"):
            ready = selector.select(deadline - time.monotonic())
            if not ready:
                return None
            for key, _ in ready:
                if key.fileobj is bench.stdout:
                    chunk = os.read(bench.stdout.fileno(), 1 << 20)
                    if not chunk:
                        return reply
                    reply += chunk
                    continue
                try:
                    request = request[os.write(bench.stdin.fileno(), request[: 1 << 16]) :]
                except BrokenPipeError:
                    request = b""
                if not request:
                    selector.unregister(bench.stdin)
    return reply
