"""The environment that a child process of ours gets."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def with_our_tools(base: Mapping[str, str]) -> dict[str, str]:
    """Return `base` with our interpreter's folder first on PATH.

    nbgrader and Jupyter start tools by name, and the course's environment need not be activated.
    """
    # Not resolved: a virtual environment's interpreter is a link to one that stands elsewhere.
    ours = str(Path(sys.executable).parent)
    others = [folder for folder in base.get("PATH", "").split(os.pathsep) if folder and folder != ours]
    return {**base, "PATH": os.pathsep.join([ours, *others])}
