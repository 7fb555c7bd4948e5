"""A submission made of scripts, opened where an instructor and its author open it: nothing of it runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ..hostile.attacks.pages import PAGES
from ..hostile.classroom import LAB, Classroom
from .conftest import NO_MATH, Server, serving, watched_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.needs_bwrap,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),  # nbgrader's own, in this process
]
OWNED = "window.owned = () => { window.wasOwned = true }"
# Links and handlers that would run when somebody clicks or points there.
WAITING = """() => [...document.querySelectorAll("*")].flatMap(e => [...e.attributes]
    .filter(a => a.name.startsWith("on") && a.value.includes("owned")
        || /^\\s*(javascript|data:text)/i.test(a.value))
    .map(a => `${e.tagName} ${a.name}=${a.value}`))"""
ELSEWHERE = ("https://cdnjs.cloudflare.com/",)  # where nbconvert's pages have MathJax from


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Classroom:
    room = Classroom(tmp_path_factory.mktemp("pages") / "course", [a.check for a in PAGES.values()])
    room.hand_in("painter", list(PAGES.values()))
    assert room.grade("painter") == ""
    return room


@pytest.fixture(scope="module")
def formgrader(room: Classroom, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(room.root, tmp_path_factory.mktemp("jupyter"), instructor=True) as server:
        yield server


def opened(page: "Page", url: str, server: str) -> list[str]:
    """Open an address; returns what was asked of other machines, which is not reached."""
    asked: list[str] = []

    def answer(route: "Route") -> None:
        if route.request.url.startswith(("file:", "data:", "blob:", server)):
            route.continue_()
        else:
            asked.append(route.request.url)
            route.fulfill(status=200, body=NO_MATH, content_type="text/javascript")

    page.add_init_script(OWNED)
    page.on("dialog", lambda dialog: (asked.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.route("**/*", answer)
    page.goto(url)
    page.wait_for_load_state("networkidle")
    return asked


def untouched(page: "Page", asked: list[str]) -> None:
    assert page.locator("body").inner_text().count("owned()") > 5  # it is all there, to be read
    assert page.evaluate("window.wasOwned") is None
    assert page.evaluate(WAITING) == []
    assert [url for url in asked if not url.startswith(ELSEWHERE)] == []


def test_nothing_runs_in_the_formgrader(room: Classroom, formgrader: Server, browser: "Browser") -> None:
    with room.course.gradebook() as gradebook:
        (notebook,) = gradebook.find_submission(LAB, "painter").notebooks
        number = notebook.id
    with watched_page(browser) as page:
        url = f"{formgrader.url}formgrader/submissions/{number}/?token={formgrader.token}"
        untouched(page, opened(page, url, formgrader.url))


def test_nothing_runs_in_the_feedback(room: Classroom, browser: "Browser") -> None:
    feedback: Path = room.course.folder("feedback", LAB, "painter") / f"{LAB}.html"
    with watched_page(browser) as page:
        untouched(page, opened(page, feedback.as_uri(), feedback.as_uri()))
