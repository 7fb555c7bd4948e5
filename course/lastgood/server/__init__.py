"""JupyterLab for the course: how it starts, a Validate that blocks nothing, originals that stay as they are.

`lastgood lab` switches it on through `labconfig/`; a plain `jupyter lab` is left as it is.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "lastgood.server"}]


def _load_jupyter_server_extension(app: "ServerApp") -> None:
    # Imported here because `lastgood check` imports this package for its validator and needs no server.
    from lastgood.server.handlers import add_handlers

    add_handlers(app)
