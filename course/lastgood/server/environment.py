"""The environment that a child process of ours gets."""

import os
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path


def with_our_tools(base: Mapping[str, str]) -> dict[str, str]:
    """Return `base` with the folders of our commands and of our interpreter first on PATH.

    nbgrader and Jupyter start tools by name, and the course's environment need not be activated.
    """
    # Not resolved: a virtual environment's interpreter is a link to one that stands elsewhere.
    ours = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    others = filter(None, base.get("PATH", "").split(os.pathsep))
    return {**base, "PATH": os.pathsep.join(dict.fromkeys([*ours, *others]))}


def import_nbformat_quickly() -> None:
    """Spare this process an import that nothing here has a use for. To be called before nbformat's.

    jsonschema, which reads notebooks, compiles a grammar of web addresses when it finds this package. That
    takes seconds, more than the rest of nbgrader's imports together, and no schema of a notebook asks for it.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # None: not to be imported
