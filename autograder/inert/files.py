"""Of what was handed in, regular files only are taken: a link would bring along whatever it points to.

A link could lead to what another student wrote, or to the master. What is graded is read by
`autograder.intake`, which follows none either.
"""

from __future__ import annotations

import functools
import stat
from collections.abc import Callable
from pathlib import Path


def regular_only(find: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """The search for files, `find`, with nothing but regular files among what it finds."""

    @functools.wraps(find)
    def found(*arguments: object, **named: object) -> list[str]:
        return [path for path in find(*arguments, **named) if stat.S_ISREG(Path(path).lstat().st_mode)]

    return found


def copy_regular_files_only() -> None:
    """Have nbgrader's steps in this process read and copy regular files only. Twice is no more than once."""
    from nbgrader.converters import base

    if not hasattr(base.find_all_files, "__wrapped__"):
        base.find_all_files = regular_only(base.find_all_files)
