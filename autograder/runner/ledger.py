"""What was graded from which files, in a small JSON file for each submission.

It is written before a submission is recorded (`recording`) and after (`graded`). A run that was killed in
between leaves the first: the next one then grades that submission again, whatever the gradebook says of it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from lastgood.recovery.disk import write_synced

FOLDER: Final = ".grading"  # in the folder of the autograded submissions; nbgrader passes over such names
_RECORDING, _GRADED, _FAILED = "recording", "graded", "failed"


class LedgerError(Exception):
    """Another run grades the same lab in the same folder."""


class Ledger:
    """The ledger of a lab, in the folder that holds all autograded submissions."""

    def __init__(self, autograded: Path, lab: str) -> None:
        self._folder = autograded / FOLDER / lab

    @contextmanager
    def open(self, place: Callable[[str], Path]) -> Iterator[None]:
        """Hold the ledger, and clear away what a killed run has left. Raises LedgerError.

        `place` is where a student's autograded folder stands: one that was being replaced goes back there.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._folder / "lock")
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise LedgerError(
                f"another `autograder grade` is at work on {self._folder.name} in this folder: "
                "wait for it to be done, or stop it"
            ) from None
        try:
            for left in self._folder.glob("*.old"):
                if not place(left.stem).exists():
                    left.rename(place(left.stem))
            for left in (*self._folder.glob("*.new"), *self._folder.glob("*.old")):
                shutil.rmtree(left)
            for left in self._folder.glob("*.part"):
                left.unlink()
            yield
        finally:
            lock.release()

    def graded(self, student: str) -> str:
        """The digest of the files that the student's grade stands on; empty where there is no such grade."""
        return self._read(student).get(_GRADED, "")

    def recording(self, student: str) -> None:
        """From now on, until `done`, the student's grade is not to be relied on."""
        self._write(student, {_RECORDING: True})

    def done(self, student: str, digest: str) -> None:
        """The student's grade is recorded, from files of this digest."""
        self._write(student, {_GRADED: digest})

    def failed(self, student: str, fault: str) -> None:
        """The student's submission could not be graded. What was recorded before stays."""
        self._write(student, {_FAILED: fault})

    def staged(self, student: str) -> Path:
        """Where a submission is put together before it takes its place."""
        return self._folder / f"{student}.new"

    def replaced(self, student: str) -> Path:
        """Where the one that it replaces goes for a moment."""
        return self._folder / f"{student}.old"

    def _read(self, student: str) -> dict[str, str]:
        try:
            found = json.loads((self._folder / f"{student}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):  # nothing there, or nothing that can be relied on
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, student: str, about: dict[str, object]) -> None:
        part = self._folder / f"{student}.json.part"
        write_synced(part, json.dumps(about).encode())
        part.replace(self._folder / f"{student}.json")
