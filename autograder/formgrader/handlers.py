"""The addresses that the Formgrader's buttons post to, as nbgrader has them.

Its pages parse what comes back as JSON, whatever it says it is, and ask for `success`, `log` and `error`.
"""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from jupyter_server.utils import url_path_join
from nbgrader.server_extensions.formgrader.base import BaseApiHandler, check_notebook_dir, check_xsrf
from tornado import web
from tornado.iostream import StreamClosedError

from autograder.formgrader.actions import Actions
from autograder.formgrader.grading import Reply, failure

# Firefox gives up on an answer that has not begun after 300 s, many a proxy after 60.
SIGN_OF_LIFE_S: Final = 20.0

_Post = Callable[..., Awaitable[None] | None]


def _guarded(post: _Post) -> _Post:
    """Let in whom nbgrader's own handlers let in."""
    guarded: _Post = web.authenticated(check_xsrf(check_notebook_dir(post)))
    return guarded


class _Button(BaseApiHandler):  # type: ignore[misc]  # nbgrader has no types
    """Waits for an action, however long it takes."""

    def initialize(self, actions: Actions, method: str, alive: float = SIGN_OF_LIFE_S) -> None:
        """Take what to call, and the seconds between signs of life."""
        self.actions, self.method, self.alive = actions, method, alive

    @property
    def root(self) -> Path:
        """The course's folder, in which the child finds its settings."""
        return Path(self.coursedir.root)

    async def answer(self, action: Coroutine[Any, Any, Reply]) -> None:
        """Answer with what the action comes to. A page that was closed does not stop it."""
        task = asyncio.create_task(action)
        while not (await asyncio.wait({task}, timeout=self.alive))[0]:
            with suppress(StreamClosedError):
                self.write(" ")  # JSON may begin with any number of them
                await self.flush()
        try:
            reply = task.result()
        except Exception as error:  # the answer may have begun: too late for another status
            self.log.exception("The Formgrader's %s failed", self.method)
            reply = failure(f"{type(error).__name__}: {error}")
        with suppress(StreamClosedError):
            await self.finish(json.dumps(reply))


class CallHandler(_Button):
    """`POST formgrader/api/assignment/LAB/ACTION`, or `…/LAB/STUDENT/ACTION`."""

    @_guarded
    async def post(self, assignment_id: str, student_id: str | None = None) -> None:
        await self.answer(self.actions.call(self.root, self.method, assignment_id, student_id))


class AutogradeHandler(_Button):
    """`POST formgrader/api/submission/LAB/STUDENT/autograde`."""

    @_guarded
    async def post(self, assignment_id: str, student_id: str) -> None:
        directory = self.coursedir
        submitted = directory.format_path(directory.submitted_directory, student_id, assignment_id)
        if not os.path.isdir(submitted):  # the runner would refuse all that it is to grade together
            self.finish(json.dumps(failure(f"There is no submission of {assignment_id} by {student_id}.")))
            return
        await self.answer(self.actions.autograde(self.root, assignment_id, student_id))


_ONE: Final = "([^/]+)"
_OF_ASSIGNMENT: Final = {
    "assign": "generate_assignment",
    "release": "release_assignment",
    "unrelease": "unrelease",
    "collect": "collect",
}
_OF_BOTH: Final = ("generate_feedback", "release_feedback")


def add_handlers(web_app: web.Application, actions: Actions, alive: float = SIGN_OF_LIFE_S) -> None:
    """Serve these addresses.

    Tornado asks those first that were added first, and Jupyter's server loads its extensions in the order of
    their names: `autograder…` before `nbgrader…`.
    """
    calls = [
        *((f"assignment/{_ONE}/{action}", method) for action, method in _OF_ASSIGNMENT.items()),
        *((f"assignment/{_ONE}/{action}", action) for action in _OF_BOTH),
        *((f"assignment/{_ONE}/{_ONE}/{action}", action) for action in _OF_BOTH),
    ]
    handlers: list[tuple[str, type[_Button], str]] = [(path, CallHandler, method) for path, method in calls]
    handlers.append((f"submission/{_ONE}/{_ONE}/autograde", AutogradeHandler, "autograde"))
    base = url_path_join(web_app.settings["base_url"], "formgrader/api")
    web_app.add_handlers(
        ".*$",
        [
            (url_path_join(base, path), kind, {"actions": actions, "method": method, "alive": alive})
            for path, kind, method in handlers
        ],
    )
