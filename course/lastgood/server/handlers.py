"""The addresses that the course adds to JupyterLab's server.

Two are those that nbgrader's Validate button asks, answered without blocking the server. The button asks
`nbgrader_version` first, then posts the notebook's path to `assignments/validate`. It shows what it gets in a
dialog: `{"success": true, "value": {...}}` as results, with each failed cell's `error` taken for HTML;
`{"success": false, "value": text}` as an error.

The others are doors to the page where one begins: `doors.py`.
"""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import nbgrader
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join
from tornado import web

from lastgood.server.doors import DOORS, page
from lastgood.server.points import record
from lastgood.server.validation import Result, ValidationError, validate


class _Handler(APIHandler):
    auth_resource = "contents"

    def initialize(self, root: Path) -> None:  # tornado has no __init__ of one's own
        """Take the server's root, to which paths are relative."""
        self.root = root


class ValidateHandler(_Handler):
    """`POST assignments/validate?path=…`: validate a saved notebook."""

    _run: asyncio.Task[Result] | None = None

    @web.authenticated
    @authorized
    async def post(self) -> None:
        notebook = self._notebook()
        self._run = asyncio.create_task(validate(notebook, self.root))
        try:
            result = await self._run
        except ValidationError as error:
            self.log.warning("Validating %s: %s", notebook, error)
            answer: dict[str, Any] = {"success": False, "value": str(error)}
        except asyncio.CancelledError:
            return  # nobody is there to be told
        else:
            answer = {"success": True, "value": as_nbgrader(result)}
            for note in await asyncio.to_thread(record, result, notebook, self.root):
                self.log.warning("Progress: %s", note)  # the dialog has no room for it; the panel says it too
        self.finish(json.dumps(answer))

    def on_connection_close(self) -> None:
        """Stop the run of a learner who closed the page."""
        if self._run is not None:
            self._run.cancel()
        super().on_connection_close()

    def _notebook(self) -> Path:
        """Return the file asked for."""
        path = self.get_argument("path", None) or (self.get_json_body() or {}).get("path")
        if not isinstance(path, str) or not path.endswith(".ipynb"):
            raise web.HTTPError(400, f"Name a notebook as `path`, relative to {self.root}; got {path!r}.")
        parts = path.strip("/").split("/")
        if ".." in parts:
            raise web.HTTPError(403, f"{path!r} leads out of {self.root}.")
        return self.root.joinpath(*parts)


class VersionHandler(_Handler):
    """`GET nbgrader_version?version=…`: does the button belong to the nbgrader that is installed?"""

    @web.authenticated
    @authorized
    def get(self) -> None:
        button, installed = self.get_argument("version"), nbgrader.__version__
        answer: dict[str, Any] = {"success": button == installed}
        if button != installed:
            answer["message"] = (
                f"This page's Validate button is of nbgrader {button}, but {installed} is installed. "
                "Reload the page; if that does not help, run `make lab` again in a terminal."
            )
        self.finish(json.dumps(answer))


class DoorHandler(JupyterHandler):
    """`GET lastgood`, `GET lastgood/instructor`: on to JupyterLab, once logged in."""

    def initialize(self, root: Path, door: str) -> None:
        """Take the server's root, and which door this is."""
        self.root = root
        self.door = door

    @web.authenticated
    def get(self) -> None:
        self.redirect(url_path_join(self.base_url, page(self.door, self.root)))


def as_nbgrader(result: Result) -> dict[str, Any]:
    """Return a result as nbgrader's button reads it: it takes the first of these keys, none being success."""
    if result.type_changed:
        return {"type_changed": result.type_changed}
    if result.changed:
        return {"changed": [{"source": source} for source in result.changed]}
    if result.failed:
        cells = [asdict(cell) for cell in result.failed]
        return {"failed": [{**cell, "raw_error": cell.pop("text")} for cell in cells]}
    return {}


def add_handlers(app: ServerApp) -> None:
    """Serve these addresses, and those at which the course is entered."""
    web_app = app.web_app
    arguments = {"root": Path(app.root_dir)}
    base = web_app.settings["base_url"]
    web_app.add_handlers(
        ".*$",
        [
            (url_path_join(base, "assignments/validate"), ValidateHandler, arguments),
            (url_path_join(base, "nbgrader_version"), VersionHandler, arguments),
            *((url_path_join(base, door), DoorHandler, {**arguments, "door": door}) for door in DOORS),
        ],
    )
