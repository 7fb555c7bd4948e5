"""Named wrong solutions, and right ones written differently: each a small patch of a lab's master.

They prove the checks. A mutant must lose exactly the points that it names and hear the words that it names;
a right solution must lose nothing, however it is written.
"""

from __future__ import annotations

import ast
import importlib
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import jupytext
from nbformat import NotebookNode

from lastgood.teaching.checks.report import Report


class VariantError(ValueError):
    """A patch that does not fit the master."""


@dataclass(frozen=True)
class Variant:
    """A patched master. `edits` are (text of the master, what stands there instead)."""

    name: str
    says: str  # what whoever wrote it believed
    edits: tuple[tuple[str, str], ...]
    loses: dict[str, float] = field(default_factory=dict)  # grade_id of the checking cell: points lost
    hears: tuple[str, ...] = ()  # words that the report must hold
    slow: bool = False  # another of its kind is run by the quick tests


def labs() -> tuple[str, ...]:
    """The labs that have variants: the folders beside this file."""
    return tuple(sorted(path.parent.name for path in Path(__file__).parent.glob("*/__init__.py")))


def variants(lab: str) -> tuple[Variant, ...]:
    """All variants of a lab, mutants first. Raises VariantError where there is no such lab."""
    if lab not in labs():
        raise VariantError(f"no lab {lab!r} here; those with variants are {', '.join(labs())}")
    module = importlib.import_module(f"autograder.mutants.{lab}")
    return (*module.MUTANTS, *module.RIGHT)


def patched(master: str, variant: Variant) -> str:
    """The master's text with the variant's edits. Raises VariantError where one does not fit exactly once."""
    for old, new in variant.edits:
        if master.count(old) != 1:
            raise VariantError(f"{variant.name}: this stands {master.count(old)} times in the master:\n{old}")
        master = master.replace(old, new)
    return master


def function(master: str, name: str) -> str:
    """The source of a top-level function of the master, for patches that replace it whole."""
    for node in ast.parse(master).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return "\n".join(master.splitlines()[node.lineno - 1 : node.end_lineno])
    raise VariantError(f"the master has no function {name}")


def master_text(root: Path, lab: str) -> str:
    """The lab's master in py:percent form."""
    return (root / "solutions" / lab / f"{lab}.py").read_text(encoding="utf-8")


def affected(master: str, text: str) -> set[str]:
    """The grade_ids of the checks whose functions, or whatever those use, read differently in the two texts.

    A patch cannot change what the others come to, so a gallery of variants need not run them.
    """
    before, after = _definitions(master), _definitions(text)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    for _ in range(len(after)):  # whatever uses something that changed has changed
        users = {name for name, source in after.items() if changed & set(re.findall(r"\w+", source))}
        if users <= changed:
            break
        changed |= users
    return {
        name
        for name, cell in checking_cells(text).items()
        if changed & set(re.findall(r"\w+", cell.source.partition("(")[2]))
    }


def _definitions(text: str) -> dict[str, str]:
    """Source of each top-level statement, under the names that it binds."""
    found: dict[str, str] = {}
    for node in ast.parse(text).body:
        for name in _bound(node):
            found[name] = found.get(name, "") + ast.unparse(node)
    return found


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def checking_cells(text: str, fmt: str = "py:percent") -> dict[str, NotebookNode]:
    """A lab's automatically graded cells, in order, by their grade_id; `text` is a master or a notebook."""
    return {cell.metadata["nbgrader"]["grade_id"]: cell for cell in code_cells(text, fmt) if _graded(cell)}


def run_checks(text: str, only: set[str] | None = None, fmt: str = "py:percent") -> dict[str, Report]:
    """Run a lab's code as far as checks depend on it, then its checking cells; a report for each grade_id.

    What runs is the first code cell (the imports), every solution cell and every locked one. Demonstrations
    between them are left out. `fmt` is jupytext's name of the text's format: py:percent for masters, ipynb
    for a released notebook.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    reports = {}
    for number, cell in enumerate(code_cells(text, fmt)):
        about = cell.metadata.get("nbgrader", {})
        if _graded(cell):
            if only is None or about["grade_id"] in only:
                reports[about["grade_id"]] = eval(cell.source, namespace)
        elif number == 0 or about.get("solution") or about.get("locked"):
            exec(compile(cell.source, f"<cell {number}>", "exec"), namespace)
    return reports


@lru_cache(maxsize=8)  # a variant's text is read three times, its master's for each variant
def code_cells(text: str, fmt: str = "py:percent") -> tuple[NotebookNode, ...]:
    """A text's code cells, to be read and not changed."""
    return tuple(cell for cell in jupytext.reads(text, fmt=fmt).cells if cell.cell_type == "code")


def _graded(cell: NotebookNode) -> bool:
    about = cell.metadata.get("nbgrader", {})
    return bool(about.get("grade")) and not about.get("solution")
