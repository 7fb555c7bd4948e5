"""Short addresses at which the course is entered, one for learners and one for instructors.

JupyterLab is told where to begin in a query (`?reset&…`), to which Jupyter's server appends its token with a
second question mark: whoever pastes the address that it prints stands before a login page. So the server is
given one of these, which have no query, and they redirect.
"""

from pathlib import Path

from lastgood.workspace import WELCOME, WORK

LEARNER = "lastgood"
INSTRUCTOR = "lastgood/instructor"
DOORS = (LEARNER, INSTRUCTOR)


def page(door: str, root: Path) -> str:
    """Return the page behind a door, relative to the server's base. `reset` forgets last time's tabs."""
    if door == INSTRUCTOR:
        return "lab?reset&formgrader=true"
    opened = WELCOME if (root / WELCOME).is_file() else WORK
    return f"lab/workspaces/lastgood/tree/{opened.as_posix()}?reset&file-browser-path=/{WORK.as_posix()}"
