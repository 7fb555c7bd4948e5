"""Nothing that a learner wrote is more than text in the pages that are made of it."""

from html.parser import HTMLParser

import nbformat
import pytest

from .attacks.pages import PAGES
from .classroom import LAB, Classroom

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs_bwrap,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),  # nbgrader's own, in this process
]


class Owned(HTMLParser):
    """Finds the places of a page in which `owned` is more than text."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._within: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._within.append(tag)
        for name, value in attrs:
            # a link may lead to an address of theirs; it may not run, nor fetch anything by itself
            harmless = name == "href" and (value or "").startswith("https://")
            if "owned" in f"{name}={value}" and not harmless:
                self.found.append(f"{tag} {name}={value}")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._within:
            while self._within.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if "owned" in data and {"script", "style"} & set(self._within):
            self.found.append(data)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Classroom:
    room = Classroom(tmp_path_factory.mktemp("pages") / "course", [a.check for a in PAGES.values()])
    room.hand_in("painter", list(PAGES.values()))
    assert room.grade("painter") == ""
    return room


@pytest.mark.parametrize("name", PAGES)
def test_points_are_what_was_earned(room: Classroom, name: str) -> None:
    assert room.points("painter")[list(PAGES).index(name)] == PAGES[name].earns


def test_nothing_in_the_feedback_is_more_than_text(room: Classroom) -> None:
    page = Owned()
    page.feed(room.page("painter"))
    assert page.found == []
    assert "owned" in room.feedback("painter")


def test_the_graded_notebook_is_one(room: Classroom) -> None:
    path = room.course.folder("autograded", LAB, "painter") / f"{LAB}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert all(count is None or isinstance(count, int) for count in counts)
