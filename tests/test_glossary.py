"""The glossary: every entry whole, every link into it alive, every term used where it says so."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = ROOT / "glossary.md"
LESSONS = sorted((ROOT / "course/lessons").glob("[0-9][0-9]_*.md"))
LABS = sorted((ROOT / "solutions").glob("lab[0-9][0-9]/lab[0-9][0-9].py"))

REQUIRED = [
    "In plain words",
    "More exactly",
    "In this course",
    "Not to be confused with",
    "See also",
    "Used in",
]
ENTRY = re.compile(
    r'^<a id="(?P<id>[^"]*)"></a>\n## (?P<title>.+)\n(?P<body>(?:(?!^<a id=).*\n?)*)', re.MULTILINE
)
LABEL = re.compile(r"^\*\*(?P<label>[A-Z][^*]*)\.\*\* (?P<text>.+)$", re.MULTILINE)
INTO = re.compile(r"\]\((?P<file>[^)\s]*glossary\.md)#(?P<id>[^)\s]*)\)")


@dataclass(frozen=True)
class Entry:
    id: str
    title: str
    body: str

    @property
    def parts(self) -> dict[str, str]:
        return {part["label"]: part["text"] for part in LABEL.finditer(self.body)}


ENTRIES = [Entry(**match.groupdict()) for match in ENTRY.finditer(GLOSSARY.read_text(encoding="utf-8"))]
each = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)


def linked(lesson: Path) -> set[str]:
    return {match["id"] for match in INTO.finditer(lesson.read_text(encoding="utf-8"))}


def number(lesson: Path) -> str:
    return lesson.name[:2]


def test_every_heading_is_an_entry() -> None:
    """An entry without its anchor, or with a blank line between them, would be reached by no link."""
    headings = re.findall(r"^## (.+)$", GLOSSARY.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert headings == [entry.title for entry in ENTRIES]
    assert len(ENTRIES) >= 25


def test_ids_are_unique_and_plain() -> None:
    ids = [entry.id for entry in ENTRIES]
    assert len(set(ids)) == len(ids)
    assert [one for one in ids if not re.fullmatch(r"[a-z][a-z0-9-]*", one)] == []


def test_entries_stand_in_alphabetical_order() -> None:
    titles = [entry.title.casefold() for entry in ENTRIES]
    assert titles == sorted(titles)


@each
def test_an_entry_has_all_its_parts_in_order(entry: Entry) -> None:
    labels = list(entry.parts)
    assert labels in (REQUIRED, [*REQUIRED, "Source"])
    assert len(LABEL.findall(entry.body)) == len(labels), "a part stands twice"
    assert "https://" in entry.parts.get("Source", "https://")


@each
def test_the_plain_words_are_one_short_sentence_that_does_not_use_the_term(entry: Entry) -> None:
    plain = entry.parts["In plain words"]
    assert len(re.findall(r"[.!?](?:\s|$)", plain)) == 1
    assert len(plain.split()) <= 25
    assert re.sub(r" \(.*", "", entry.title).casefold() not in plain.casefold()


@each
def test_see_also_leads_to_other_entries_under_their_titles(entry: Entry) -> None:
    titles = {other.id: other.title for other in ENTRIES if other is not entry}
    links = re.findall(r"\[([^\]]+)\]\(#([^)]+)\)", entry.parts["See also"])
    assert links
    assert [(text, to) for text, to in links if titles.get(to) != text] == []


@pytest.mark.parametrize("lesson", [*LESSONS, *LABS], ids=lambda path: path.stem)
def test_every_link_from_a_lesson_hits_an_entry(lesson: Path) -> None:
    assert sorted(linked(lesson) - {entry.id for entry in ENTRIES}) == []
    for match in INTO.finditer(lesson.read_text(encoding="utf-8")):
        assert (lesson.parent / match["file"]).resolve() == GLOSSARY


@each
def test_used_in_names_exactly_the_lessons_that_link_to_the_entry(entry: Entry) -> None:
    """A term that neither a lesson nor a lab links to is defined for nobody."""
    named = re.findall(r"(?i)lesson (\d\d)", entry.parts["Used in"])
    assert named == [number(lesson) for lesson in LESSONS if entry.id in linked(lesson)]
    labs = {lab.stem for lab in LABS if entry.id in linked(lab)}
    assert labs <= {f"lab{nn}" for nn in re.findall(r"(?i)\blab (\d\d)", entry.parts["Used in"])}
    assert named or labs  # lab 00 has no lesson of its own, and links the terms itself


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_term_is_linked_where_it_first_stands(lesson: Path) -> None:
    """For terms of two words or more, which cannot be ordinary language by accident."""
    text = re.sub(r"^```.*?^```", "", lesson.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
    late = []
    for entry in ENTRIES:
        name = re.sub(r" \(.*", "", entry.title)
        first = re.search(rf"(?i)\b{re.escape(name)}\b", text)
        if " " in name and first and entry.id in linked(lesson):
            link = re.search(rf"\[[^\]]*\]\([^)]*glossary\.md#{entry.id}\)", text)
            if link is None or link.start() > first.start():
                late.append(entry.title)
    assert late == []
