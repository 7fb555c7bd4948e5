"""How JupyterLab is started for the course: its command line and its environment."""

import os
import sys
import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lastgood.server.doors import INSTRUCTOR, LEARNER
from lastgood.server.environment import with_our_tools

CONFIG = Path(__file__).resolve().parent.parent / "labconfig"


@dataclass(frozen=True)
class Launch:
    """A JupyterLab to be started.

    Attributes:
        root: the course's root, which the server serves.
        instructor: show nbgrader's own panels and open the Formgrader; else open the first lesson.
        browser: open a browser window; else the server prints the address to open.
        port: the first port to try; None leaves the choice to JupyterLab.
    """

    root: Path
    instructor: bool = False
    browser: bool = True
    port: int | None = None

    def command(self) -> list[str]:
        """Return the command line."""
        command = [
            sys.executable,
            "-m",
            "jupyterlab",
            f"--ServerApp.root_dir={self.root}",
            f"--LabApp.default_url=/{INSTRUCTOR if self.instructor else LEARNER}",
            # Among a hundred lines of log nobody finds the address to open, which is printed all the same.
            "--log-level=WARN",
        ]
        if not self.browser:
            command.append("--no-browser")
        if self.port is not None:
            command.append(f"--port={self.port}")
        # JupyterLab refuses to run as root, which in a container is who one is.
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--allow-root")
        return command

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """Return `base` with the course's settings before the user's own and our tools on PATH."""
        # The first folder wins where two set the same thing.
        own = "instructor" if self.instructor else "learner"
        folders = [str(CONFIG / own), str(CONFIG / "everyone")]
        folders.extend(filter(None, [base.get("JUPYTER_CONFIG_PATH")]))
        return {**with_our_tools(base), "JUPYTER_CONFIG_PATH": os.pathsep.join(folders)}


def can_open_browser() -> bool:
    """Tell whether a person sits at this terminal, with a display to open a window on."""
    if not sys.stdout.isatty():
        return False
    display = sys.platform != "linux" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return display
