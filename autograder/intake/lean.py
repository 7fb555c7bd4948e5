"""A large notebook without what its cells put out, before it is parsed.

A number or an empty list of two characters takes tens of bytes once it is parsed, so a file of 100 MB could
take gigabytes. Outputs are nearly all of such a file and nobody needs them: cells are run anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

TOKENS: Final = 4_000_000  # strings and brackets of a file that are looked at: some seconds
# A string without an end reaches to the end of the file: else each of its quotes would be tried in turn.
_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_OUTPUTS: Final = b'"outputs"'
_COLON: Final = re.compile(rb"\s*:\s*")


class LeanError(Exception):
    """The file has more strings and brackets than are looked at."""


def without_outputs(raw: bytes) -> bytes:
    """The JSON text with an empty list for each `outputs`. Raises LeanError."""
    kept: list[bytes] = []
    begin = 0
    tokens = _tokens(raw)
    for start, end in tokens:
        if end - start != len(_OUTPUTS) or not raw.startswith(_OUTPUTS, start):
            continue
        colon = _COLON.match(raw, end)
        if colon is None or raw[colon.end() : colon.end() + 1] not in (b"[", b"{", b'"'):
            continue
        kept += [raw[begin : colon.end()], b"[]"]
        begin = _end_of_value(raw, tokens)
    return b"".join([*kept, raw[begin:]])


def _tokens(raw: bytes) -> Iterator[tuple[int, int]]:
    found = _TOKEN.finditer(raw)
    yield from (token.span() for token in islice(found, TOKENS))
    if next(found, None) is not None:
        raise LeanError


def _end_of_value(raw: bytes, tokens: Iterator[tuple[int, int]]) -> int:
    depth = 0
    for start, end in tokens:
        first = raw[start : start + 1]
        depth += (first in b"[{") - (first in b"]}")
        if depth <= 0:
            return end
    return len(raw)
