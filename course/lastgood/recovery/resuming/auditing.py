"""The audit itself: which processes, in which order, and what is compared with what."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lastgood.recovery.inspect import InspectError, inspect
from lastgood.recovery.inspect import Report as Described
from lastgood.recovery.inspect.effects import EFFECTS
from lastgood.recovery.resuming.children import Child, Trouble, child
from lastgood.recovery.resuming.comparing import Leaves, different, untouched, why
from lastgood.recovery.resuming.report import BROKEN, KEPT, LOST, UNSTABLE, Finding, Report

BEFORE, AFTER, PATIENCE = 7, 8, 600.0
_Observation = dict[str, Leaves]
_Held = dict[str, str]  # of `lastgood inspect`'s components: held, missing, cannot be told
# What `lastgood inspect` calls the parts of a component; every other name is its own.
_PARTS = {
    "optimizer": ("moments", "counts"),
    "schedule": ("position",),  # its horizon is as a rule a setting of the script
    "data loader": ("loader",),
    "ema": ("EMA",),
}
_AS_NEW = ("parameters", "optimizer", "step", "schedule")


class AuditError(Exception):
    """Nothing can be said about how this code resumes, and why."""

    def __init__(self, message: str, detail: str = ""):
        super().__init__(message)
        self.detail = detail  # a traceback, or the last of what was printed


def audit(
    module: str,
    *,
    before: int = BEFORE,
    after: int = AFTER,
    patience: float = PATIENCE,
    on_stage: Callable[[str], None] = lambda words: None,
) -> Report:
    """Train, save, kill, resume in a fresh process, and compare with an undisturbed run; then once more.

    Args:
        module: a file that ends in .py, or a dotted name. It defines what `five.Five` describes.
        before: steps until the save. Choose it to lie inside an epoch and inside the warm-up.
        after: steps of the resumed run. Choose them to go past an epoch's end.
        patience: seconds that one call of the five functions may take.
        on_stage: called with a few words as each process begins.

    Raises AuditError where the module cannot be used, an undisturbed run fails, or two undisturbed runs are
    not alike. That resuming fails is no error but a finding.
    """
    return _Audit(module, before, after, patience, on_stage).run()


@dataclass(frozen=True)
class _Truth:
    """The undisturbed run."""

    losses: list[float]  # until the save, of the resumed run, and after the second resume
    start: _Observation
    saved: _Observation
    end: _Observation


class _Audit:
    """One audit, and its report so far: what is known stays known when a later process fails."""

    def __init__(
        self, module: str, before: int, after: int, patience: float, on_stage: Callable[[str], None]
    ) -> None:
        self.before, self.after, self.patience, self.on_stage = before, after, patience, on_stage
        self.report = Report(module, before, after)
        self._unstable: set[str] | None = None  # components that differ between undisturbed runs

    def run(self) -> Report:
        self.on_stage("An undisturbed run …")
        truth = self._undisturbed("The undisturbed run")
        self._add(expected=truth.losses[self.before : self.before + self.after])
        with tempfile.TemporaryDirectory(prefix="lastgood-audit-") as scratch:
            first, second = Path(scratch, "first"), Path(scratch, "second")
            first.mkdir()
            second.mkdir()
            try:
                self._disturbed(truth, first, second)
            except Trouble as trouble:
                self._add(stopped=str(trouble), detail=trouble.detail)
                self._tell_chance(truth)
        return self.report

    def _add(self, **found: Any) -> None:
        self.report = replace(self.report, **found)

    def _disturbed(self, truth: _Truth, first: Path, second: Path) -> None:
        self.on_stage("The same run, saved and killed …")
        self._save(truth, first)
        held = self._describe(first)
        self.on_stage("Resumed in a fresh process, saved and killed …")
        self._resume(truth, first, held, second)
        self._tell_chance(truth)
        if self.report.status == 0:
            self.on_stage("Resumed once more …")
            self._again(truth, second)
            self._tell_chance(truth)

    def _child(self) -> Any:
        return child(self.report.module, self.patience)

    def _undisturbed(self, which: str) -> _Truth:
        try:
            with self._child() as process:
                process.ask("make")
                start = _look(process)
                losses = process.ask("advance", self.before)
                saved = _look(process)
                losses += process.ask("advance", self.after)
                end = _look(process)
                losses += process.ask("advance", self.after)
                return _Truth(losses, start, saved, end)
        except Trouble as trouble:
            raise AuditError(f"{which} failed. {trouble}", trouble.detail) from None

    def _save(self, truth: _Truth, folder: Path) -> None:
        with self._child() as process:
            process.ask("make")
            self._require_same(truth, process.ask("advance", self.before), observed=False)
            process.ask("save", str(folder))
            process.kill()

    def _resume(self, truth: _Truth, folder: Path, held: _Held, second: Path) -> None:
        with self._child() as process:
            process.ask("resume", str(folder))
            self._add(findings=self._findings(_look(process), truth.saved, truth.start, held, LOST))
            found = process.ask("advance", self.after)
            self._add(found=found, first_step=_first(self.report.expected, found, self.before))
            if self.report.first_step is None:
                process.ask("save", str(second))
            process.kill()

    def _again(self, truth: _Truth, second: Path) -> None:
        held: _Held = {}
        with suppress(InspectError):
            held = _held(inspect(second))
        with self._child() as process:
            process.ask("resume", str(second))
            self._add(findings=self._findings(_look(process), truth.end, truth.start, held, BROKEN))
            found = process.ask("advance", self.after)
        done = self.before + self.after
        self._add(second_step=_first(truth.losses[done:], found, done))

    def _findings(
        self, seen: _Observation, right: _Observation, start: _Observation, held: _Held, lost: str
    ) -> list[Finding]:
        found = []
        for name in [*right, *(name for name in seen if name not in right)]:
            mine, expected = seen.get(name, {}), right.get(name, {})
            if not different(mine, expected):
                found.append(Finding(name, KEPT, in_file=_in_file(name, held)))
                continue
            new = start.get(name, {})
            effect = _effect(name, untouched(mine, expected, new))
            words = why(name, mine, expected, new)
            found.append(Finding(name, lost, words, _in_file(name, held), *effect))
        return found

    def _describe(self, folder: Path) -> _Held:
        """Note the checkpoint's size and writer; return what is said of each of its components."""
        files = [path for path in folder.rglob("*") if path.is_file()]
        self._add(bytes=sum(path.stat().st_size for path in files))
        if not files:
            self._add(notes=[_NO_FILE])
            return {}
        try:
            described = inspect(folder)
        except InspectError as error:
            self._add(notes=[f"`lastgood inspect` cannot say what the file holds: {error}"])
            return {}
        self._add(writer=described.writer)
        return _held(described)

    def _require_same(self, truth: _Truth, found: list[float], observed: bool) -> None:
        step = _first(truth.losses[: len(found)], found, 0)
        if step is None:
            return
        if not observed and truth.start and self._unobserved() == found:
            raise AuditError(_OBSERVE_CHANGES.format(step=step))
        raise AuditError(_UNLIKE.format(step=step, a=truth.losses[step], b=found[step]))

    def _unobserved(self) -> list[float]:
        with self._child() as process:
            process.ask("make")
            losses: list[float] = process.ask("advance", self.before)
        return losses

    def _tell_chance(self, truth: _Truth) -> None:
        """Where something differs: does it differ between two undisturbed runs, too?"""
        if not self.report.differs:
            return
        if self._unstable is None:
            self.on_stage("It differs. Another undisturbed run, to tell loss from chance …")
            self._unstable = self._compared(truth)
        self._add(findings=[
            Finding(finding.component, UNSTABLE, _UNSTABLE, finding.in_file)
            if finding.component in self._unstable else finding for finding in self.report.findings
        ])  # fmt: skip

    def _compared(self, truth: _Truth) -> set[str]:
        """The components that differ in another undisturbed run. Raises AuditError where a loss does."""
        other = self._undisturbed("A second undisturbed run")
        self._require_same(truth, other.losses, observed=True)
        looks = ((other.saved, truth.saved), (other.end, truth.end))
        return {
            name for mine, right in looks for name in right if different(mine.get(name, {}), right[name])
        }


_UNLIKE = (
    "Two undisturbed runs differ at step {step}: their losses are {a!r} and {b!r}. What is not deterministic "
    "cannot be compared bit for bit. Seed every generator in make, leave the clock out of training, and on a "
    "GPU call torch.use_deterministic_algorithms(True)."
)
_OBSERVE_CHANGES = (
    "observe changes the run: with it step {step} has another loss than without it. Does it "
    "draw random numbers, or take a batch that training then lacks?"
)
_UNSTABLE = (
    "It differs between two undisturbed runs, too, whose losses are the same: nothing can be said of it. "
    "Seed it in make, or leave it out of observe."
)
_NO_FILE = (
    "save left no file in the folder that it was given. If a thread writes it, wait for it in save; if it is "
    "written elsewhere, one of an earlier run may have been read."
)


def _first(expected: list[float], found: list[float], start: int) -> int | None:
    """The first step whose loss differs, counted from `start`. NaN is as good as NaN."""
    pairs = enumerate(zip(expected, found, strict=True), start)
    return next((step for step, (a, b) in pairs if repr(a) != repr(b)), None)


def _look(process: Child) -> _Observation:
    found: _Observation = process.ask("observe") if process.observes else {}
    return found


def _held(described: Described) -> _Held:
    """What `lastgood inspect` says of each of its components."""
    return {finding.component: finding.status for finding in described.findings}


def _effect(component: str, new: bool) -> tuple[str, str]:
    """What a resume without it does, and the lesson that says so; empty for what is the user's own.

    Also empty for what is said of a new run's, where it is that of a run some steps old.
    """
    if component in _AS_NEW and not new:
        return "", ""
    return EFFECTS.get(_PARTS.get(component, (component,))[0], ("", ""))


def _in_file(component: str, held: _Held) -> str:
    """What is said of the component's parts: missing if one of them is."""
    said = {held[part] for part in _PARTS.get(component, (component,)) if part in held}
    return next((status for status in ("missing", "held", "cannot be told") if status in said), "")
