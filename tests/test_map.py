"""The maps of the course, in the welcome and in README.md: complete, in order, minutes as each part says."""

import re
from pathlib import Path

import pytest

from lastgood.teaching.study.outline import Stage, outline

ROOT = Path(__file__).resolve().parent.parent
WELCOME_ROW = re.compile(
    r"^\| \*\*(Lesson|Lab) (\d\d)\*\* \| \[[^\]]+\]\(([^)]+)\)[^|]* \| ([^|]+) \|", re.MULTILINE
)
README_ROW = re.compile(r"^\| \d\d \|.*\|$", re.MULTILINE)
LINK = re.compile(r"\[(?P<title>[^\]]+)\]\((?P<target>[^)]+)\)")


@pytest.fixture(scope="module")
def stages() -> list[Stage]:
    """What the course has, in its order."""
    return outline(ROOT)


def test_the_way_is_the_one_that_the_lessons_build_on(stages: list[Stage]) -> None:
    lessons = [f"{kind} {number}" for number in ("08", "17", "18", "19", "20") for kind in ("lesson", "lab")]
    assert [stage.name for stage in stages] == ["lab 00", *lessons]


def test_the_welcome_has_each_lesson_and_lab_in_order_with_its_own_minutes(stages: list[Stage]) -> None:
    welcome = ROOT / "course/lessons/00_welcome.md"
    rows = [
        (f"{kind.lower()} {number}", (welcome.parent / link).resolve().relative_to(ROOT), minutes)
        for kind, number, link, minutes in WELCOME_ROW.findall(welcome.read_text(encoding="utf-8"))
    ]
    assert rows == [(stage.name, stage.notebook, stage.minutes) for stage in stages]


def test_the_readme_has_each_lesson_and_lab_in_order_with_its_own_minutes(stages: list[Stage]) -> None:
    rows = []
    for row in README_ROW.findall((ROOT / "README.md").read_text(encoding="utf-8")):
        number, lesson, reading, lab, working = (cell.strip() for cell in row.strip("|").split("|"))
        for kind, words, minutes in (("lesson", lesson, reading), ("lab", lab, working)):
            if link := LINK.fullmatch(words):
                rows.append((f"{kind} {number}", link["title"], Path(link["target"]), minutes))
    assert rows == [(stage.name, stage.title, stage.notebook, stage.minutes) for stage in stages]


def test_both_maps_say_where_to_begin() -> None:
    for text in (ROOT / "README.md", ROOT / "course/lessons/00_welcome.md"):
        assert "if a GPT is a black box to you" in text.read_text(encoding="utf-8")
