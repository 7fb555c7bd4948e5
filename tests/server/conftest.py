"""What the tests of the server share: a JupyterLab that serves a course, and a browser that opens it."""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import Request, urlopen

import pytest

from lastgood.server.launch import Launch
from lastgood.workspace import start

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page


@dataclass(frozen=True)
class Server:
    """A JupyterLab that runs, started as `lastgood lab` starts it."""

    root: Path
    url: str
    token: str
    home: Path  # where progress is kept

    def ask(self, path: str, *, post: bool = False, timeout: float = 120) -> bytes:
        """Return the body of the answer; raises HTTPError."""
        request = Request(
            f"{self.url}{path}",
            headers={"Authorization": f"token {self.token}"},
            method="POST" if post else "GET",
        )
        with urlopen(request, timeout=timeout) as answer:
            body: bytes = answer.read()
            return body


class ServerDied(Exception):
    """JupyterLab ended, or did not come up in time; the message is its log."""


def wait_for_listener(port: int, process: "subprocess.Popen[bytes]", seconds: float = 120) -> None:
    """Return once something listens on the port."""
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
            break
    raise ServerDied


@contextlib.contextmanager
def serving(root: Path, home: Path, *, instructor: bool = False) -> Iterator[Server]:
    """A JupyterLab on the course at `root`, a learner's or an instructor's; its settings are in `home`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    launch = Launch(root, instructor=instructor, browser=False, port=port)
    own = {f"JUPYTER_{kind}_DIR": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
    own["LASTGOOD_HOME"] = str(home / "learner")
    token = "a-token-for-tests"
    with (
        (home / "log").open("w") as log,
        subprocess.Popen(
            [*launch.command(), "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"],
            cwd=root,
            env=launch.environment({**os.environ, **own}),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            wait_for_listener(port, process)
            yield Server(root, f"http://127.0.0.1:{port}/", token, home / "learner")
        except ServerDied as error:
            raise ServerDied((home / "log").read_text()) from error
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def jupyter(
    tmp_path_factory: pytest.TempPathFactory, make_course: Callable[[Path], Path]
) -> Iterator[Server]:
    """JupyterLab on the tiny course."""
    home = tmp_path_factory.mktemp("jupyter")
    with serving(make_course(home / "course"), home) as server:
        yield server


@pytest.fixture(scope="module")
def real_jupyter(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Iterator[Server]:
    """JupyterLab on a copy of what the course ships, with `work/` as `lastgood lab` makes it."""
    home = tmp_path_factory.mktemp("real-jupyter")
    root = home / "course"
    for shipped in ("course/lessons", "course/questions", "labs"):
        shutil.copytree(repository / shipped, root / shipped)
    for shipped in ("course/cards.json", "glossary.md", "nbgrader_config.py"):
        shutil.copy(repository / shipped, root / shipped)
    start(root)
    with serving(root, home) as server:
        yield server


PATIENCE = 120_000  # ms; a loaded machine takes many seconds to bring JupyterLab up
# Chromium needs no sandbox for our own pages, which root could not have, and has no business elsewhere.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


# MathJax, as far as a page asks it for anything: every part of it is a function that does nothing.
NO_MATH = "const any = new Proxy(function () {}, {get: () => any, apply: () => any}); window.MathJax = any"
TROUBLE = "[data-mime-type$='jupyter.error'], [data-mime-type$='jupyter.stderr']"
# JupyterLab takes cells out of the page that are not in sight, and new widths move all of them: scroll until
# the element stays where it is.
_BRING_UP = """(element, block) => new Promise((done, fail) => {
  let last, same = 0, looks = 0;
  const look = () => {
    element.scrollIntoView({ block });
    const { top } = element.getBoundingClientRect();
    same = element.isConnected && top === last ? same + 1 : 0;
    last = top;
    if (same === 3) done();
    else if (++looks === 100) fail(new Error("it keeps moving"));
    else setTimeout(look, 200);
  };
  look();
})"""


def bring_up(element: "Locator", block: str = "start") -> None:
    """Scroll until the element stands there: at the top, below the toolbar, or in the "center"."""
    element.evaluate(_BRING_UP, block)


def choose(page: "Page", menu: str, *items: str) -> None:
    """Choose from JupyterLab's menus."""
    page.get_by_role("menuitem", name=menu, exact=True).click()
    for item in items:
        page.locator(".lm-Menu").get_by_text(item, exact=True).click()


def put_on_theme(page: "Page", name: str, *, light: bool) -> None:
    """Change JupyterLab's theme, and wait until it is there."""
    choose(page, "Settings", "Theme", name)
    page.wait_for_function(f"document.body.dataset.jpThemeLight === '{str(light).lower()}'")


Shoot = Callable[["Page", str], None]


@pytest.fixture(scope="module")
def shoot(repository: Path) -> Shoot:
    """A function that keeps a picture of a page under a name in `screenshots/`."""
    folder = repository / "screenshots"
    folder.mkdir(exist_ok=True)

    def shot(page: "Page", name: str) -> None:
        page.screenshot(path=folder / f"{name}.png")

    return shot


@pytest.fixture(scope="module")  # a running Playwright would keep other modules from asyncio.run
def browser(chromium: str) -> Iterator["Browser"]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@contextlib.contextmanager
def watched_page(browser: "Browser") -> Iterator["Page"]:
    """A page in whose console no error may stand when it is closed."""
    errors: list[str] = []
    with browser.new_page(viewport={"width": 1300, "height": 850}) as page:
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        yield page
    assert errors == []


@pytest.fixture
def page(browser: "Browser") -> Iterator["Page"]:
    with watched_page(browser) as page:
        yield page


@pytest.fixture(scope="module")
def lasting_page(browser: "Browser") -> Iterator["Page"]:
    """One page for a whole module. Ask for its server first: what is asked for last goes first."""
    with watched_page(browser) as page:
        yield page


@pytest.fixture(scope="session")
def open_notebook() -> Callable[["Page", Server, str], "Locator"]:
    """A function that opens a page of a server, logged in, waits for its kernel, and returns the notebook."""

    def opened(page: "Page", server: Server, url: str) -> "Locator":
        from playwright.sync_api import expect

        page.goto(f"{server.url}{url}{'&' if '?' in url else '?'}token={server.token}")
        notebook = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        expect(notebook.locator(".jp-Cell").first).to_be_visible()
        expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
        return notebook

    return opened
