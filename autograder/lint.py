"""What a text twin must keep to, so that grading works and no answer leaks: lists of what is wrong.

nbgrader finds some of this by itself, hours later and on a learner's notebook: a graded cell with a trailing
semicolon shows no result, which nbgrader reads as full credit; a stub in place of a whole `def` makes every
later check a NameError. Here each is one line with the cell's name, before anything is released.
"""

import ast
import builtins
import io
import re
import tokenize
from collections.abc import Iterator
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from autograder.notebooks import grade_id

MARKERS = ("SOLUTION", "HIDDEN TESTS", "MARK SCHEME")
SCHEMA_VERSION = 3  # of nbgrader 0.9
_CELL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_REQUIRED = ("grade", "grade_id", "locked", "schema_version", "solution")
_ALLOWED = {*_REQUIRED, "cell_type", "points", "task"}
# What may stand between the brackets of a check: names, values, plain collections of them. Nothing that runs
# code of its own or makes a name.
_PLAIN = (ast.Name, ast.Attribute, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.UnaryOp, ast.keyword)
_GRAMMAR = (ast.expr_context, ast.unaryop)


def lint_lesson(notebook: NotebookNode) -> list[str]:
    """What is wrong with a lesson's notebook."""
    found = _duplicates(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.source.lstrip().startswith("%%"):
            fence = cell.source.split()[0].lstrip("%")
            found.append(
                f"cell '{cell.id}': a ```{fence} fence becomes a code cell that runs; "
                "write ```console or ```text for what is only shown"
            )
        if cell.cell_type == "markdown" and cell.source.count("<details") != cell.source.count("</details>"):
            found.append(
                f"cell '{cell.id}': <details> opens and closes in different cells; "
                "it can hold neither a ```python fence nor two blank lines"
            )
        if "nbgrader" in cell.metadata:
            found.append(f"cell '{cell.id}': nbgrader metadata belongs in solutions/, not in a lesson")
    return found


def lint_master(notebook: NotebookNode) -> list[str]:
    """What is wrong with the notebook of a lab's master."""
    found = _duplicates(notebook)
    for cell in notebook.cells:
        faults = _metadata(cell) or _content(cell)
        found += [f"cell '{grade_id(cell) or cell.id}': {fault}" for fault in faults]
    return found


def lint_release(notebook: NotebookNode) -> list[str]:
    """What is wrong with a released lab: answers left in it, or a check that can only raise a NameError."""
    found, known = [], set[str]()
    for cell in notebook.cells:
        name = grade_id(cell) or cell.id
        for marker in MARKERS:
            if f"BEGIN {marker}" in cell.source or f"END {marker}" in cell.source:
                found.append(f"cell '{name}': {marker} is still there")
        if cell.cell_type != "code":
            continue
        if _is_check(cell):
            missing = sorted(_read_names(cell.source) - known)
            found += [
                f"cell '{name}': reads '{lost}', which the released notebook never defines; "
                "leave its def or a placeholder outside the solution region"
                for lost in missing
            ]
        else:
            known |= set(_bound_names(_parsed(cell.source)))
    return found


def lint_graded_cell(source: str) -> list[str]:
    """What is wrong with a graded code cell's source, which is one call `check.<name>(…)` and no more."""
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        return [f"a graded cell is plain Python: {error.msg} (line {error.lineno})"]
    if len(body) != 1 or not isinstance(body[0], ast.Expr) or not isinstance(body[0].value, ast.Call):
        return ["a graded cell holds one call, `check.<name>(…)`, and nothing else"]
    call = body[0].value
    faults = []
    if not (isinstance(call.func, ast.Attribute) and _named_check(call.func.value)):
        faults.append(f"a graded cell calls `check.<name>(…)`, not `{ast.unparse(call.func)}`")
    for argument in [*call.args, *call.keywords]:
        faults += [
            f"a check is given names and plain values, not `{ast.unparse(node)}`; compute it in a cell above"
            for node in ast.walk(argument)
            if not isinstance(node, (*_PLAIN, *_GRAMMAR))
        ][:1]
    if any(token.string == ";" for token in tokenize.generate_tokens(io.StringIO(source).readline)):
        faults.append("a semicolon hides the result, which nbgrader reads as full credit")
    return faults


def _metadata(cell: NotebookNode) -> list[str]:
    """What is wrong with a cell's nbgrader metadata, before its content is looked at."""
    meta: Any = cell.metadata.get("nbgrader")
    if meta is None:
        return []
    if not isinstance(meta, dict):
        return ["nbgrader metadata must be a JSON object"]
    missing = [key for key in _REQUIRED if key not in meta]
    graded = meta.get("grade") or meta.get("task")
    if graded and "points" not in meta:
        missing.append("points")
    faults = [f"nbgrader metadata lacks '{key}'" for key in missing]
    faults += [f"nbgrader metadata has no key '{key}'" for key in sorted(set(meta) - _ALLOWED)]
    if "points" in meta and not graded:
        faults.append("points on a cell that is neither graded nor a task")
    if meta.get("schema_version", SCHEMA_VERSION) != SCHEMA_VERSION:
        faults.append(f"nbgrader schema_version must be {SCHEMA_VERSION}, not {meta['schema_version']}")
    if "grade_id" in meta and not _CELL_ID.fullmatch(str(meta["grade_id"])):
        faults.append("a grade_id has 1 to 64 letters, digits, dashes and underscores")
    if meta.get("cell_type", cell.cell_type) != cell.cell_type:
        faults.append(f"cell_type says '{meta['cell_type']}' of a {cell.cell_type} cell")
    return faults


def _content(cell: NotebookNode) -> list[str]:
    """What is wrong with a cell whose metadata is complete."""
    meta = cell.metadata.get("nbgrader", {})
    grade, solution, task = (bool(meta.get(key)) for key in ("grade", "solution", "task"))
    code = cell.cell_type == "code"
    faults = _regions(cell.source, {"SOLUTION": solution, "HIDDEN TESTS": False, "MARK SCHEME": task})
    if code and solution and "BEGIN SOLUTION" not in cell.source:
        faults.append("a solution cell needs a BEGIN SOLUTION … END SOLUTION region; all of it would go")
    if code and task:
        faults.append("a task is a Markdown cell")
    if not code and not task and grade != solution:
        faults.append("a written answer is graded and a solution: both or neither")
    if not code and solution and not cell.source.strip():
        faults.append("a written answer needs a model answer")
    if code and grade and not solution:
        faults += lint_graded_cell(cell.source)
    return faults


def _regions(source: str, welcome: dict[str, bool]) -> list[str]:
    """Regions that stand where nbgrader would not take them out, or that do not close."""
    reasons = {
        "SOLUTION": "stands in a cell that is not a solution cell",
        "HIDDEN TESTS": "has no use here: a graded cell is one call, and checks are sound when read",
        "MARK SCHEME": "stands in a cell that is not a task cell",
    }
    faults = []
    for marker, allowed in welcome.items():
        edges = re.findall(rf"\b(BEGIN|END) {marker}\b", source)
        if edges and not allowed:
            faults.append(f"BEGIN {marker} {reasons[marker]}")
        elif edges != ["BEGIN", "END"] * (len(edges) // 2):
            faults.append(f"BEGIN {marker} and END {marker} do not pair up")
    return faults


def _duplicates(notebook: NotebookNode) -> list[str]:
    """Cell ids that stand twice: a duplicated grade_id, or one that looks like a heading's own id."""
    seen: set[str] = set()
    found = []
    for cell in notebook.cells:
        if cell.id in seen:
            found.append(f"cell '{cell.id}': duplicated grade_id or cell id")
        seen.add(cell.id)
    return found


def _is_check(cell: NotebookNode) -> bool:
    meta = cell.metadata.get("nbgrader", {})
    return bool(meta.get("grade")) and not meta.get("solution")


def _named_check(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "check"


def _parsed(source: str) -> ast.Module:
    """The code as IPython runs it: `%` and `!` lines become calls. A cell with an error counts as empty."""
    try:
        return ast.parse(TransformerManager().transform_cell(source))
    except SyntaxError:
        return ast.Module(body=[], type_ignores=[])


def _read_names(source: str) -> set[str]:
    names = {node.id for node in ast.walk(_parsed(source)) if isinstance(node, ast.Name)}
    return names - set(dir(builtins))


def _bound_names(node: ast.AST) -> Iterator[str]:
    """Names that the code binds at top level: what stands inside functions and classes does not count."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child.name
        elif isinstance(child, ast.alias):
            yield (child.asname or child.name).split(".")[0]
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        else:
            yield from _bound_names(child)
