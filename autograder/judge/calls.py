"""What a graded cell asks for: the check and what stands in its brackets, read from trusted text."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from nbformat import NotebookNode


@dataclass(frozen=True)
class Call:
    """A graded cell's one call, `check.causal_mask(causal_mask)`: the check, its arguments as source."""

    check: str
    arguments: str

    def at_the_kernel(self, lab: str, inputs: str) -> str:
        """Source that measures for this check with these inputs (base64) and shows the answer."""
        first = ", ".join(map(repr, (lab, self.check, inputs)))
        rest = f", {self.arguments}" if self.arguments else ""
        return f"__import__('lastgood.teaching.checks.far', fromlist=['answer']).answer({first}{rest})"


def call_of(cell: NotebookNode) -> Call | None:
    """The call in a graded code cell; None for any other cell, and for one that is no `check.…(…)` alone."""
    about = cell.metadata.get("nbgrader", {})
    if cell.cell_type != "code" or not about.get("grade") or about.get("solution"):
        return None
    try:
        body = ast.parse(cell.source).body
    except SyntaxError:  # a magic line: an instructor's own test, which is none of our checks
        return None
    match body:
        case [ast.Expr(ast.Call(ast.Attribute(ast.Name("check"), name), arguments, keywords))]:
            return Call(name, ", ".join(map(ast.unparse, (*arguments, *keywords))))
    return None
