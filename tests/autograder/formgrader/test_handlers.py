"""The Formgrader's buttons, asked over HTTP: others are answered meanwhile, and the page as nbgrader does."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from jupyter_server.auth import AllowAllAuthorizer, PasswordIdentityProvider
from nbgrader.coursedir import CourseDirectory
from nbgrader.server_extensions.formgrader import apihandlers
from tornado import web
from tornado.httpclient import AsyncHTTPClient, HTTPResponse
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port

from autograder.formgrader.actions import Actions
from autograder.formgrader.children import Children
from autograder.formgrader.handlers import add_handlers

from .conftest import Child

TOKEN = "a-token-for-tests"
API = "formgrader/api"
AUTOGRADE = f"{API}/submission/lab18/ada/autograde"
COLLECT = f"{API}/assignment/lab18/collect"


class Client:
    """Asks the server."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def ask(self, path: str, method: str = "POST", **settings: Any) -> HTTPResponse:
        return await AsyncHTTPClient().fetch(
            f"{self._url}/{path}",
            method=method,
            body="" if method == "POST" else None,
            raise_error=False,
            follow_redirects=False,
            request_timeout=60,
            **{"headers": {"Authorization": f"token {TOKEN}"}, **settings},
        )

    async def told(self, path: str) -> dict[str, Any]:
        answer = await self.ask(path)
        assert answer.code == 200
        found: dict[str, Any] = json.loads(answer.body)
        return found

    async def press(self, path: str) -> asyncio.StreamWriter:
        """Post, and read no answer."""
        parts = urlsplit(f"{self._url}/{path}")
        _, page = await asyncio.open_connection(parts.hostname, parts.port)
        head = f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nAuthorization: token {TOKEN}\r\n"
        page.write(f"{head}Content-Length: 0\r\n\r\n".encode())
        return page


def application(root: Path) -> web.Application:
    """What of Jupyter's server nbgrader's handlers need, with nbgrader's own formgrader API."""
    identity = PasswordIdentityProvider(token=TOKEN)
    app = web.Application(
        base_url="/base/",
        login_url="/base/login",
        cookie_secret="for tests",
        identity_provider=identity,
        authorizer=AllowAllAuthorizer(identity_provider=identity),
        nbgrader_bad_setup=False,
        nbgrader_formgrader=SimpleNamespace(coursedir=CourseDirectory(root=str(root))),
        nbgrader_jinja2_env=SimpleNamespace(
            get_template=lambda _: SimpleNamespace(render=lambda **_: "refused")
        ),
    )
    app.settings["allow_unauthenticated_access"] = True  # Jupyter's default: each handler looks after itself
    return app


def serve(child: Child, scene: Callable[[Client], Awaitable[None]], **settings: Any) -> None:
    """Play the scene with a server on the child's folder."""

    async def play() -> None:
        app = application(child.root)
        add_handlers(app, Actions(Children(child.command)), **settings)
        theirs = [(f"/base{path}", handler) for path, handler in apihandlers.default_handlers]
        app.add_handlers(".*$", theirs)
        socket, port = bind_unused_port()
        server = HTTPServer(app)
        server.add_sockets([socket])
        try:
            async with asyncio.timeout(60):
                await scene(Client(f"http://127.0.0.1:{port}/base"))
        finally:
            server.stop()
            await server.close_all_connections()

    asyncio.run(play())


@pytest.fixture
def submitted(child: Child) -> Child:
    (child.root / "submitted/ada/lab18").mkdir(parents=True)
    return child


@pytest.mark.parametrize("path", [AUTOGRADE, COLLECT])
def test_the_server_answers_others_while_a_button_is_at_work(submitted, path):
    async def scene(client: Client) -> None:
        async with submitted.held() as begun:
            pressed = asyncio.create_task(client.told(path))
            await begun()
            assert json.loads((await client.ask(f"{API}/status", "GET")).body) == {"status": True}
            assert not pressed.done()
        assert (await pressed)["success"]

    serve(submitted, scene)


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("submission/lab18/ada/autograde", "grade --students=ada --force --json -- lab18"),
        ("assignment/lab18/assign", "generate_assignment lab18"),
        ("assignment/lab18/release", "release_assignment lab18"),
        ("assignment/lab18/unrelease", "unrelease lab18"),
        ("assignment/lab18/collect", "collect lab18"),
        ("assignment/lab18/generate_feedback", "generate_feedback lab18"),
        ("assignment/lab18/release_feedback", "release_feedback lab18"),
        ("assignment/lab18/ada/generate_feedback", "generate_feedback lab18 ada"),
        ("assignment/lab%2018/ad%C3%A1/release_feedback", "release_feedback lab 18 adá"),
    ],
)
def test_each_button_has_a_child_do_it(submitted, path, asked):
    async def scene(client: Client) -> None:
        assert (await client.told(f"{API}/{path}"))["success"]
        assert submitted.asked() == [asked]

    serve(submitted, scene)


def test_no_button_of_nbgraders_is_left_that_would_block(child):
    app = application(child.root)
    add_handlers(app, Actions())
    ours = [rule for router in app.default_router.rules[:-1] for rule in router.target.rules]
    posts = [path for path, handler in apihandlers.default_handlers if "post" in vars(handler)]
    left = [
        path
        for path in posts
        if not any(rule.matcher.regex.pattern.rstrip("$") == f"/base{path}" for rule in ours)
    ]
    assert left == ["/formgrader/api/submitted_notebook/([^/]+)/flag"]  # a row in the gradebook, no more


@pytest.mark.parametrize(
    ("path", "error"),
    [(AUTOGRADE, "no course here\n\nit went wrong"), (COLLECT, "it went wrong")],
)
def test_a_child_that_fails_is_told_in_its_own_words(submitted, path, error):
    submitted.says("no course here\n")

    async def scene(client: Client) -> None:
        told = await client.told(path)
        assert not told["success"]
        assert f"{told['error']}\n{told.get('log', '')}".strip() == error

    serve(submitted, scene)


@pytest.mark.parametrize("path", ["lab18/bob", "lab19/ada", "lab18/*", "..%2Flab18/ada"])
def test_what_was_not_handed_in_is_told_and_holds_up_nobody(submitted, path):
    async def scene(client: Client) -> None:
        told = await client.told(f"{API}/submission/{path}/autograde")
        assert not told["success"]
        assert "There is no submission of" in told["error"]
        assert submitted.asked() == []

    serve(submitted, scene)


def test_an_answer_that_takes_long_shows_signs_of_life(submitted):
    async def scene(client: Client) -> None:
        chunks: asyncio.Queue[bytes] = asyncio.Queue()
        async with submitted.held():
            pressed = asyncio.create_task(client.ask(AUTOGRADE, streaming_callback=chunks.put_nowait))
            assert not (await chunks.get()).strip()
            assert not pressed.done()
        # nbgrader's page parses the text: had jQuery taken it for JSON, it would have done so before
        assert "json" not in (await pressed).headers["Content-Type"]
        rest = b"".join(chunks.get_nowait() for _ in range(chunks.qsize()))
        assert json.loads(rest)["success"]

    serve(submitted, scene, alive=0.001)


def test_a_page_that_is_closed_stops_nothing(submitted, caplog):
    async def scene(client: Client) -> None:
        async with submitted.held() as begun:
            page = await client.press(AUTOGRADE)
            await begun()
            page.close()
            await page.wait_closed()
            after = asyncio.create_task(client.told(f"{API}/assignment/lab18/ada/generate_feedback"))
        assert (await after)["success"]  # its turn came, so the first came to its end
        assert [line.split()[0] for line in submitted.asked()] == ["grade", "generate_feedback"]

    serve(submitted, scene, alive=0.001)
    assert not caplog.records


@pytest.mark.parametrize("path", [AUTOGRADE, COLLECT])
@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "token wrong"},
        {"Cookie": "_xsrf=abcd", "X-XSRFToken": "abcd"},  # from a page of the server's own, but logged out
    ],
    ids=["wrong token", "logged out"],
)
def test_strangers_are_refused(submitted, path, headers):
    async def scene(client: Client) -> None:
        assert (await client.ask(path, headers=headers)).code == 403
        assert submitted.asked() == []

    serve(submitted, scene)


def test_a_page_of_another_site_cannot_press_a_button(submitted):
    async def scene(client: Client) -> None:
        headers = {"Cookie": "_xsrf=abcd", "X-XSRFToken": "efef"}
        assert (await client.ask(AUTOGRADE, headers=headers)).code == 403
        assert submitted.asked() == []

    serve(submitted, scene)
