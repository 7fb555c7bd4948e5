"""Of what was handed in, regular files only are taken: a link would bring along whatever it points to.

A notebook that is a link could be another student's, or the master.
"""

from __future__ import annotations

import functools
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any


def regular_only(find: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """The search for files, `find`, with nothing but regular files among what it finds."""

    @functools.wraps(find)
    def found(*arguments: object, **named: object) -> list[str]:
        return [path for path in find(*arguments, **named) if stat.S_ISREG(Path(path).lstat().st_mode)]

    return found


def refuse_links(begin: Callable[..., Any]) -> Callable[..., Any]:
    """The first look at a notebook, `begin`, which raises where the notebook or its folder is a link."""

    @functools.wraps(begin)
    def looked(converter: Any, notebook: str) -> Any:
        from nbgrader.converters.base import NbGraderException

        path = Path(notebook)
        if not stat.S_ISREG(path.lstat().st_mode) or path.parent.is_symlink():
            raise NbGraderException(f"{notebook} is not read: it, or its folder, is a link and not a file")
        return begin(converter, notebook)

    return looked


def copy_regular_files_only() -> None:
    """Have nbgrader's steps in this process read and copy regular files only. Twice is no more than once."""
    from nbgrader.converters import Autograde, base

    if not hasattr(base.find_all_files, "__wrapped__"):
        base.find_all_files = regular_only(base.find_all_files)
        Autograde.init_single_notebook_resources = refuse_links(Autograde.init_single_notebook_resources)
