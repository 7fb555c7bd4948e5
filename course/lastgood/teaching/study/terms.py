"""The glossary as data, and a term found by whatever a person remembers of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from lastgood.teaching.study.markup import plain
from lastgood.workspace import GLOSSARY

_HEAD: Final = re.compile(r'^<a id="(?P<id>[^"]+)"></a>\n## (?P<title>.+)$', re.MULTILINE)
_HEADING: Final = re.compile(r"^## (?P<title>.+)$", re.MULTILINE)
_PART: Final = re.compile(r"^\*\*(?P<label>[A-Z][^*]*)\.\*\* (?P<text>.+)$", re.MULTILINE)
_NEEDED: Final = ("In plain words", "More exactly", "In this course", "Not to be confused with", "Used in")
_LINK: Final = re.compile(r"\[([^\]]+)\]\(#[^)]*\)")
_BRACKETS: Final = re.compile(r"\s*\(([^)]*)\)")

_LIKE: Final = 0.75  # a name this like what was typed may be meant
_SURELY: Final = 0.8  # and is, where it is this like it,
_AHEAD: Final = 0.1  # and no other term comes this close to it


class TermError(Exception):
    """The glossary cannot be read; the message says where and why."""


@dataclass(frozen=True)
class Term:
    """An entry of the glossary. Texts are Markdown, as they stand there.

    Attributes:
        id: its anchor.
        title: as its heading has it.
        plain: for somebody who has never met the word.
        exactly: as an engineer would put it.
        here: an example from the course.
        confused: what it is not to be confused with.
        see_also: titles of other terms.
        used_in: the notebooks that need it, such as "lesson 18" or "lab 00".
        source: where more stands, if anywhere.
        aliases: what it is also called.
        line: where its heading stands in the file.
    """

    id: str
    title: str
    plain: str
    exactly: str
    here: str
    confused: str
    see_also: tuple[str, ...]
    used_in: tuple[str, ...]
    source: str = ""
    aliases: tuple[str, ...] = ()
    line: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Whatever it goes by: title, aliases, its anchor, and the abbreviation in its title's brackets."""
        title = plain(self.title)
        short = [inner for inner in _BRACKETS.findall(title) if inner.isupper()]
        return (title, _BRACKETS.sub("", title), *self.aliases, *short, self.id)


@dataclass(frozen=True)
class Match:
    """What `find` found.

    Attributes:
        term: the one that is meant, if that is clear.
        exact: whether it was called by one of its names.
        near: where it is not clear, those that come close, best first.
    """

    term: Term | None
    exact: bool = False
    near: tuple[Term, ...] = ()


def terms(root: Path) -> list[Term]:
    """The terms of the course at `root`, in the glossary's order; none where it has no glossary.

    Raises TermError.
    """
    try:
        text = (root / GLOSSARY).read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise TermError(
            f"{root / GLOSSARY} cannot be read: {error}. Get a fresh copy of the course."
        ) from error
    heads = list(_HEAD.finditer(text))
    _check_headings(text, heads)
    ends = [*(head.start() for head in heads[1:]), len(text)]
    return [_term(text, head, end) for head, end in zip(heads, ends, strict=True)]


def _check_headings(text: str, heads: Sequence[re.Match[str]]) -> None:
    anchored = {head.start("title") for head in heads}
    for heading in _HEADING.finditer(text):
        if heading.start("title") not in anchored:
            raise TermError(
                f"{GLOSSARY}:{_line(text, heading.start())}: “{heading['title']}” has no anchor. "
                'Put <a id="…"></a> on the line above its heading.'
            )


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _term(text: str, head: re.Match[str], end: int) -> Term:
    parts = {part["label"]: part["text"].strip() for part in _PART.finditer(text, head.end(), end)}
    line = _line(text, head.start("title"))
    if missing := [label for label in _NEEDED if label not in parts]:
        raise TermError(f"{GLOSSARY}:{line}: “{head['title']}” has no line **{missing[0]}.**")
    return Term(
        id=head["id"],
        title=head["title"],
        plain=parts["In plain words"],
        exactly=parts["More exactly"],
        here=parts["In this course"],
        confused=parts["Not to be confused with"],
        see_also=tuple(_LINK.findall(parts.get("See also", ""))),
        used_in=tuple(part.strip(" .").lower() for part in parts["Used in"].split(",")),
        source=parts.get("Source", ""),
        aliases=tuple(
            plain(part).strip(" .") for part in parts.get("Also called", "").split(",") if part.strip()
        ),
        line=line,
    )


def find(word: str, among: Sequence[Term]) -> Match:
    """The term that `word` means: by a name of it, by a word of its name, or misspelled."""
    wanted = _bare(word)
    if not wanted:
        return Match(None)
    called = [term for term in among if wanted in map(_bare, term.names)]
    if called:
        # An alias may be shared; a title is not.
        titled = [term for term in called if wanted == _bare(term.title)] or called
        return Match(titled[0], True) if len(titled) == 1 else Match(None, near=tuple(titled))
    within = tuple(term for term in among if wanted in _words(term.names))
    if within:
        return Match(within[0]) if len(within) == 1 else Match(None, near=within)
    return _misspelled(wanted, among)


def _misspelled(wanted: str, among: Iterable[Term]) -> Match:
    scored = [(max(_likeness(wanted, _bare(name)) for name in term.names), term) for term in among]
    close = sorted((pair for pair in scored if pair[0] >= _LIKE), key=lambda pair: -pair[0])
    if not close:
        return Match(None)
    runner_up = close[1][0] if len(close) > 1 else 0.0
    if close[0][0] >= _SURELY and close[0][0] - runner_up >= _AHEAD:
        return Match(close[0][1])
    return Match(None, near=tuple(term for _, term in close[:3]))


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _bare(name: str) -> str:
    """Letters and digits alone, in the singular: `Data-loader positions` is `data loader position`."""
    letters = re.sub(r"[\W_]+", "", name.casefold())
    return letters.removesuffix("s") if len(letters) > 3 else letters


def _words(names: Iterable[str]) -> Iterator[str]:
    return (_bare(word) for name in names for word in re.split(r"[^\w]+", name) if word)
