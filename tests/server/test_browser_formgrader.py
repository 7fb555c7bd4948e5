"""An instructor presses the Formgrader's buttons in JupyterLab, which goes on answering."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ..autograder.sandbox.conftest import small_class
from .conftest import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.needs_bwrap]


@pytest.fixture(scope="module")
def formgrader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root = small_class(tmp_path_factory.mktemp("pressed") / "course", {"ada": "y = 1"})
    with serving(root, tmp_path_factory.mktemp("jupyter"), instructor=True) as server:
        yield server


def test_autograde_and_feedback_at_the_press_of_a_button(formgrader: Server, page: "Page") -> None:
    from playwright.sync_api import expect

    page.goto(f"{formgrader.url}lastgood/instructor?token={formgrader.token}")
    pages = page.frame_locator("iframe")
    pages.locator(".num-submissions a").click()
    ada = pages.locator("tr", has_text="ada")
    ada.locator(".autograde a").click()
    expect(pages.get_by_text("Please wait...")).to_be_visible()
    formgrader.ask("api/status")
    assert not (formgrader.root / "autograded/ada/lab").exists(), "the server answered no sooner"
    expect(pages.locator("#success-modal")).to_contain_text("Successfully autograded 'lab' for student 'ada'")
    expect(ada.locator(".score")).to_have_text("2 / 3")

    pages.locator("#success-modal .btn").click()
    ada.locator(".generate-feedback a").click()
    expect(pages.locator("#success-modal")).to_contain_text("Successfully generated feedback")
    feedback: Path = formgrader.root / "feedback/ada/lab/lab.html"
    assert "AssertionError" in feedback.read_text(encoding="utf-8")
