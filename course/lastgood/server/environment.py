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
