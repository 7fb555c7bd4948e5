"""The Formgrader's slow buttons, answered by a server that goes on serving.

nbgrader's own handlers generate, collect, grade and release inside Jupyter's event loop: JupyterLab stands
still meanwhile, for everyone. These stand in their place, at the same addresses and with the same answers.

    handlers   the addresses
    actions    what a button does, and which of them wait for which
    grading    the Autograde button, by way of the class runner
    turns      who waits for whom
    children   child processes, waited for without blocking
    worker     the child

`lastgood lab --instructor` switches it on through `labconfig/`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "autograder.formgrader"}]


def _load_jupyter_server_extension(app: "ServerApp") -> None:
    # Imported here because the child imports this package too, and needs no server.
    from autograder.formgrader.actions import Actions
    from autograder.formgrader.handlers import add_handlers

    add_handlers(app.web_app, Actions())
