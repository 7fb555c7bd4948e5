r"""What may stand in a cell of a CSV file that goes to a spreadsheet or to a learning management system.

Two kinds of text, and opposite rules. What is *shown* (a name, a comment) may be changed: a cell that a
spreadsheet would compute (`=`, `+`, `-`, `@` first) gets an apostrophe, which makes it text. What *matches*
(an id, a heading) must arrive unchanged, so it is refused instead. A spreadsheet that was told another
separator than the file's splits inside quotes too: what follows `;` or `,` counts as the beginning of a cell.
See OWASP's page on CSV injection, which names the full-width signs too.
"""

import math
import re
import unicodedata

from autograder.export.errors import ExportError

PLACES = 5  # decimals of a score; Moodle keeps as many
_FORMULA = re.compile(r"(^|[;,])(\s*)(?=[=+\-@＝＋－＠])")  # noqa: RUF001 - the full-width signs are meant


def shown(text: str) -> str:
    """`text` on one line, without control characters, and nowhere the beginning of a formula."""
    clean = "".join(" " if _is_control(char) else char for char in text)
    return _FORMULA.sub(r"\1\2'", " ".join(clean.split()))


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may compute what stands here."""
    return bool(_FORMULA.search(text))


def fault_of_id(text: str, *, raw: bool = False) -> str:
    """Why `text` cannot be matched by an import, or is unsafe; empty where it can be and is not.

    `raw` lets formulas pass.
    """
    if not text.strip():
        return "is empty"
    if any(map(_is_control, text)):
        return "holds a line break, a tab or another control character"
    if text != text.strip():
        return "begins or ends with a space, which an import removes"
    if is_formula(text) and not raw:
        return "would be computed as a formula by a spreadsheet"
    return ""


def number(points: float, decimal: str = ".") -> str:
    """A score: up to 5 decimals, no exponent, no thousands separator. Raises ExportError for nan and inf."""
    if not math.isfinite(points):
        raise ExportError(f"a score in the gradebook is {points}: grade that submission again")
    digits = f"{points + 0.0:.{PLACES}f}".rstrip("0").rstrip(".")
    return ("0" if digits == "-0" else digits).replace(".", decimal)


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")
