"""Is this computer ready for the course, and if it is not, what will mend it?

The first cell of the first notebook asks.
"""

from __future__ import annotations

import importlib.metadata
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

from packaging.requirements import Requirement  # the kernel itself needs it, so it is there

from lastgood.teaching.machine import REOPEN, RESTART, Machine

OLDEST_PYTHON = (3, 11)
FREE_BYTES = 1_000_000_000  # the labs write far less; below this, other things begin to fail
# Imported for certain, because notebooks compute with them and a broken install shows only then. The others
# run in processes of their own, and take ten seconds to import: that they are there is enough.
LOADED = ("torch", "numpy", "matplotlib", "ipywidgets", "safetensors", "cloudpickle")
VALIDATE = Path("@jupyter/nbgrader/package.json")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: what is there and, where it is not right, what to do."""

    ok: bool
    found: str
    remedy: str = ""


@dataclass(frozen=True)
class Report:
    """All findings; a notebook shows it as a list, a terminal as lines of text."""

    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """True where nothing needs mending."""
        return all(finding.ok for finding in self.findings)

    def __repr__(self) -> str:
        lines = [self._summary()]
        for finding in self._worst_first():
            lines.append(f"  {'ok   ' if finding.ok else 'TO DO'}  {finding.found}")
            if not finding.ok:
                lines.append(f"         → {finding.remedy}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(_row(finding) for finding in self._worst_first())
        return f"<p><strong>{escape(self._summary())}</strong></p><ul style='list-style:none'>{rows}</ul>"

    def _summary(self) -> str:
        broken = sum(not finding.ok for finding in self.findings)
        if not broken:
            return "Everything is in place."
        return f"To mend before you begin: {broken}."

    def _worst_first(self) -> list[Finding]:
        return sorted(self.findings, key=lambda finding: finding.ok)


def _row(finding: Finding) -> str:
    # Sign and word, not colour alone, and no colour of our own: the theme may be light or dark.
    if finding.ok:
        return f"<li>✓ ok: {escape(finding.found)}</li>"
    return f"<li><strong>✗ to do:</strong> {escape(finding.found)}<br>→ {escape(finding.remedy)}</li>"


def check_environment(machine: Machine | None = None) -> Report:
    """Look at everything the course needs. Writes one temporary file, and raises nothing."""
    machine = machine or Machine()
    findings: list[Finding] = []
    for check in (_python, _course, _kernel, _packages, _validate, _writable, _disk):
        try:
            findings += check(machine)
        except Exception as error:  # whatever a check did not foresee must not stop the others
            name = check.__name__.strip("_")
            remedy = "please open an issue that quotes this line; the course may work all the same"
            findings.append(Finding(False, f"the check “{name}” itself failed: {error!r}", remedy))
    return Report(tuple(findings))


def _python(machine: Machine) -> Iterator[Finding]:
    found = "Python " + ".".join(map(str, machine.python))
    needed = ".".join(map(str, OLDEST_PYTHON))
    remedy = f"the course needs {needed} or later: make its environment anew, as the README says"
    yield Finding(machine.python >= OLDEST_PYTHON, found, remedy)


def _course(machine: Machine) -> Iterator[Finding]:
    """Is `lastgood` the one that belongs to the notebooks here, and not another clone's?"""
    root = _clone(machine.folder)
    if root is None or machine.package.is_relative_to(root / "course"):
        yield Finding(True, f"lastgood is read from {machine.package}")
        return
    found = f"these notebooks are of {root}, but lastgood is read from {machine.package}"
    yield Finding(False, found, machine.pip("-e", str(root)))


def _clone(folder: Path) -> Path | None:
    for candidate in (folder, *folder.parents):
        if (candidate / "course/lastgood/__init__.py").is_file():
            return candidate.resolve()
    return None


def _kernel(machine: Machine) -> Iterator[Finding]:
    """Does the kernel's Python belong to the environment in which the course is installed?"""
    try:
        location = machine.location("lastgood")
    except importlib.metadata.PackageNotFoundError:
        remedy = machine.pip("-e", str(_clone(machine.folder) or machine.package.parent.parent))
        yield Finding(False, f"lastgood is not installed in the environment {machine.prefix}", remedy)
        return
    if not location.is_relative_to(machine.prefix):
        found = f"this kernel runs {machine.executable}, but lastgood is installed in {location}"
        yield Finding(False, found, f"activate the course's environment, {REOPEN}")
        return
    command = Path(machine.kernel_command())
    # A bare `python` means the Python of whoever starts the kernel. Not resolved: an environment's is a link.
    if command.is_absolute() and command.parent != machine.executable.parent:
        found = f"this kernel runs {machine.executable}, but new ones of that name run {command}"
        remedy = f"in a terminal: jupyter kernelspec remove python3; {REOPEN}"
        yield Finding(False, found, remedy)
        return
    yield Finding(True, f"the kernel runs {machine.executable}, where lastgood is installed")


def _packages(machine: Machine) -> Iterator[Finding]:
    try:
        lines = machine.requirements()
    except importlib.metadata.PackageNotFoundError:
        return  # `_kernel` says so
    good = []
    for requirement in _needed(lines):
        problem = _problem(machine, requirement)
        if problem is None:
            good.append(f"{requirement.name} {machine.version(requirement.name)}")
        else:
            yield problem
    if good:
        yield Finding(True, ", ".join(good))


def _needed(lines: Iterable[str]) -> Iterator[Requirement]:
    for requirement in map(Requirement, lines):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield requirement


def _problem(machine: Machine, requirement: Requirement) -> Finding | None:
    """What is wrong with a package, or None. The packages named here are imported under their own names."""
    name = requirement.name
    install = machine.pip(str(requirement))
    try:
        version = machine.version(name)
    except importlib.metadata.PackageNotFoundError:
        return Finding(False, f"{name} is not installed", install)
    if not requirement.specifier.contains(version, prereleases=True):
        return Finding(False, f"{name} {version}: the course needs {requirement.specifier}", install)
    origin = machine.origin(name)
    if origin is None:
        found = f"{name} {version} is installed but cannot be found by an import"
        return Finding(False, found, machine.pip("--force-reinstall", str(requirement)))
    if machine.folder in (origin.parent, origin.parent.parent):
        found = f"your own {origin.relative_to(machine.folder)} in this folder hides the package {name}"
        return Finding(False, found, f"rename or move it; {RESTART}")
    try:
        if name in LOADED:
            machine.load(name)
    except Exception as error:  # anything may come out of a broken package
        found = f"{name} {version} is installed but does not load: {error!r}"
        return Finding(False, found, machine.pip("--force-reinstall", str(requirement)))
    return None


def _validate(machine: Machine) -> Iterator[Finding]:
    present = any((folder / VALIDATE).is_file() for folder in machine.labextensions())
    missing = "the Validate button is missing: JupyterLab does not see nbgrader's extension"
    remedy = machine.pip("--force-reinstall", "--no-deps", "nbgrader", after=REOPEN)
    yield Finding(present, "the Validate button is there" if present else missing, remedy)


def _writable(machine: Machine) -> Iterator[Finding]:
    try:
        machine.try_to_write(machine.folder)
    except OSError as error:
        reason = error.strerror or str(error)
        found = f"nothing can be written in {machine.folder}: {reason}"
        yield Finding(False, found, "open the copies in work/; `lastgood lab` makes them and opens them")
    else:
        yield Finding(True, f"{machine.folder} can be written")


def _disk(machine: Machine) -> Iterator[Finding]:
    # Your answers are saved in the one, the checkpoints of a check in the other.
    folder = min(machine.folder, Path(tempfile.gettempdir()), key=machine.free)
    free = machine.free(folder)
    remedy = f"the labs need {FREE_BYTES / 1e9:.0f} GB there: delete what you no longer need"
    yield Finding(free >= FREE_BYTES, f"{free / 1e9:.1f} GB free in {folder}", remedy)
