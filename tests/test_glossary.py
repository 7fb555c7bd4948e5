"""The glossary: every entry whole, every term linked where it first stands, every link alive, none unused."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
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
CELL = re.compile(r"^# %%(?P<head>.*)\n(?P<body>(?:(?!# %%).*\n?)*)", re.MULTILINE)
MARKING = re.compile(r"\s*# \*A point each")

# Words that are everyday language too, or a second term's: a link at each first use would help nobody.
AMBIGUOUS = {
    "Floor": "the entropy has one too",
    "Head (of attention)": "one answers in one's head, and a model's last layer is one",
    "Restart": "a verb as often as a noun",
    "Stall": "a verb as well",
    "Waste": "a verb as well",
}
# What is no prose of ours, or names a thing and not a term.
ASIDE = [
    r"^---\njupyter:.*?^---$",
    r"^```.*?^```",
    r"^#+ [^\n]*",
    r"\$\$.*?\$\$",
    r"(?P<kept>\[`[^`\n]*`\])|`[^`\n]*`",
    r"(?<!!)\[[^\]]*\]\((?![^)\s]*glossary\.md#)[^)\s]*\)",
]


@dataclass(frozen=True)
class Entry:
    id: str
    title: str
    body: str

    @property
    def parts(self) -> dict[str, str]:
        return {part["label"]: part["text"] for part in LABEL.finditer(self.body)}

    @property
    def name(self) -> str:
        return re.sub(r" \(.*", "", self.title)

    @property
    def aliases(self) -> list[str]:
        text = self.parts.get("Also called", "")
        return [alias.strip() for alias in text.split(",") if alias.strip()]


ENTRIES = [Entry(**match.groupdict()) for match in ENTRY.finditer(GLOSSARY.read_text(encoding="utf-8"))]
each = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
everywhere = pytest.mark.parametrize("notebook", [*LESSONS, *LABS], ids=lambda path: path.stem)


def linked(notebook: Path) -> set[str]:
    return {match["id"] for match in INTO.finditer(notebook.read_text(encoding="utf-8"))}


def unlinked(text: str, entries: Sequence[Entry], announced: int = 0) -> list[str]:
    """Terms that stand in the text before a link to them, or without one.

    A name inside a longer term's is that term's. Up to `announced` a text says what is to come: terms
    need no link there, and one is good for what follows.
    """
    for aside in ASIDE:
        text = re.sub(aside, _blank, text, flags=re.DOTALL | re.MULTILINE)
    by_name = {entry.name.casefold(): entry for entry in entries}
    longest_first = sorted(by_name, key=len, reverse=True)
    names = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in longest_first)
    used: dict[str, int] = {}
    for match in re.finditer(rf"(?i)(?<![\w-])(?P<name>{names})s?(?![\w-])", text):
        if match.start() >= announced:
            used.setdefault(" ".join(match["name"].split()).casefold(), match.start())
    late = []
    for name, first in used.items():
        entry = by_name[name]
        link = re.search(rf"\[[^\]]*\]\([^)\s]*glossary\.md#{entry.id}\)", text)
        if entry.title not in AMBIGUOUS and (link is None or link.start() > first):
            late.append(entry.title)
    return late


def _blank(found: re.Match[str]) -> str:
    """As long as what it replaces, so that places stay places."""
    return found.groupdict().get("kept") or " " * len(found[0])


def prose(notebook: Path) -> tuple[str, int]:
    """What a learner reads, and how much of it is the introduction; no model answer and no marking scheme."""
    text = notebook.read_text(encoding="utf-8")
    if notebook.suffix == ".md":
        return text, 0
    cells = [
        re.sub(r"^# ?", "", cell["body"], flags=re.MULTILINE)
        for cell in CELL.finditer(text)
        if "[markdown]" in cell["head"] and "nbgrader" not in cell["head"] and not MARKING.match(cell["body"])
    ]
    return "\n".join(cells), len(cells[0])


def test_there_are_enough_entries_and_every_heading_is_one() -> None:
    """An entry without its anchor, or with a blank line between them, would be reached by no link."""
    headings = re.findall(r"^## (.+)$", GLOSSARY.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert headings == [entry.title for entry in ENTRIES]
    assert len(ENTRIES) >= 90


def test_ids_are_unique_and_plain() -> None:
    ids = [entry.id for entry in ENTRIES]
    assert len(set(ids)) == len(ids)
    assert [one for one in ids if not re.fullmatch(r"[a-z][a-z0-9-]*", one)] == []


def test_entries_stand_in_alphabetical_order() -> None:
    titles = [entry.title.casefold() for entry in ENTRIES]
    assert titles == sorted(titles)


def test_a_name_leads_to_one_entry() -> None:
    names = [name.casefold() for entry in ENTRIES for name in (entry.name, *entry.aliases)]
    assert [name for name, times in Counter(names).items() if times > 1] == []


@each
def test_an_entry_has_all_its_parts_in_order(entry: Entry) -> None:
    labels = list(entry.parts)
    assert [label for label in labels if label not in ("Also called", "Source")] == REQUIRED
    assert "Also called" not in labels or labels[1] == "Also called"
    assert "Source" not in labels or labels[-1] == "Source"
    assert len(LABEL.findall(entry.body)) == len(labels), "a part stands twice"
    assert "https://" in entry.parts.get("Source", "https://")


@each
def test_the_plain_words_are_one_short_sentence_that_does_not_use_the_term(entry: Entry) -> None:
    plain = entry.parts["In plain words"]
    assert len(re.findall(r"[.!?](?:\s|$)", plain)) == 1
    assert len(plain.split()) <= 25
    assert entry.name.casefold() not in plain.casefold()


@each
def test_see_also_leads_to_other_entries_under_their_titles(entry: Entry) -> None:
    titles = {other.id: other.title for other in ENTRIES if other is not entry}
    links = re.findall(r"\[([^\]]+)\]\(#([^)]+)\)", entry.parts["See also"])
    assert links
    assert [(text, to) for text, to in links if titles.get(to) != text] == []


def test_no_anchor_is_dead() -> None:
    """Within the glossary, and from whatever else of the course leads into it."""
    ids = {entry.id for entry in ENTRIES}
    assert [to for to in re.findall(r"\]\(#([^)]*)\)", GLOSSARY.read_text("utf-8")) if to not in ids] == []
    texts = [*ROOT.glob("*.md"), *ROOT.glob("course/**/*.md"), *ROOT.glob("solutions/**/*.py")]
    dead = [(path.name, to["id"]) for path in texts for to in INTO.finditer(path.read_text("utf-8"))]
    assert [one for one in dead if one[1] not in ids and one[0] != "CONTRIBUTING.md"] == []


def named_in_checks() -> Iterator[str]:
    for path in sorted((ROOT / "course/lastgood/teaching/checks").rglob("*.py")):
        yield from re.findall(r"glossary, “([^”]+)”", path.read_text(encoding="utf-8"))


def test_a_check_that_says_to_reread_an_entry_names_one() -> None:
    assert set(named_in_checks()) <= {entry.title for entry in ENTRIES}
    assert set(named_in_checks())


@everywhere
def test_every_link_from_a_notebook_hits_an_entry(notebook: Path) -> None:
    assert sorted(linked(notebook) - {entry.id for entry in ENTRIES}) == []
    for match in INTO.finditer(notebook.read_text(encoding="utf-8")):
        assert (notebook.parent / match["file"]).resolve() == GLOSSARY


@each
def test_used_in_names_exactly_the_notebooks_that_link_to_the_entry(entry: Entry) -> None:
    """A term that neither a lesson nor a lab links to is defined for nobody."""
    lessons = [f"lesson {path.name[:2]}" for path in LESSONS if entry.id in linked(path)]
    labs = [f"lab {path.stem[3:]}" for path in LABS if entry.id in linked(path)]
    assert entry.parts["Used in"].casefold() == ", ".join([*lessons, *labs])
    assert lessons or labs


@everywhere
def test_a_term_is_linked_where_it_is_first_used(notebook: Path) -> None:
    text, introduction = prose(notebook)
    assert unlinked(text, ENTRIES, introduction) == []


def test_what_is_ambiguous_is_a_term() -> None:
    assert AMBIGUOUS.keys() <= {entry.title for entry in ENTRIES}


LINK = "[fsync](../../glossary.md#fsync)"


@pytest.mark.parametrize(
    ("text", "late"),
    [
        ("Then fsync it.", ["Fsync"]),
        (f"Then fsync it. See {LINK}.", ["Fsync"]),
        (f"Then {LINK} it, and fsync the folder.", []),
        ("Two fsyncs.", ["Fsync"]),
        ("`fsync` and\n\n```python\nfsync\n```\n\n## fsync\n", []),
        ("[On fsync](https://example.org) and the [fsync lab](../lab.ipynb).", []),
        ("[`fsync`](../../glossary.md#fsync) and `this`: fsync.", []),
        ("The global\nstep.", ["Global step"]),
        ("The cold restart of a fsyncer.", ["Cold restart"]),
        ("# Before\n\nThen fsync it.", ["Fsync"]),
        ("Restart it, in your head.", []),
    ],
)
def test_a_term_without_a_link_is_found(text: str, late: list[str]) -> None:
    assert unlinked(text, ENTRIES) == late


def test_an_introduction_may_announce_a_term_or_link_it() -> None:
    announced = "You will write fsync. "
    assert unlinked(announced + "Then fsync it.", ENTRIES, len(announced)) == ["Fsync"]
    assert unlinked(announced + f"Then {LINK} it.", ENTRIES, len(announced)) == []
    assert unlinked(announced + LINK + " it. Then fsync.", ENTRIES, len(announced)) == []
