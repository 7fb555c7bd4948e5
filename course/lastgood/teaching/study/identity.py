"""Which question is which, over edits: a small edit of its text leaves a question what it was.

`course/cards.json` names each question by an id and has the text that it had when the course was last built
(`autograder build`), so that a release knows the questions of the one before. It is derived: nobody writes it
by hand. Terms need none of this: a term is its anchor in the glossary.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import count
from pathlib import Path
from typing import Final

from lastgood.teaching.study.markup import plain

LEDGER: Final = Path("course/cards.json")
SMALL: Final = 0.8  # an edit that keeps four words of five, in their order


class IdentityError(Exception):
    """The ids of the questions cannot be read, or two questions are the same; the message says which."""


def known(root: Path) -> dict[str, str]:
    """Id to text of the questions when the course was last built. Raises IdentityError."""
    path = root / LEDGER
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise IdentityError(
            f"{path} cannot be read ({type(error).__name__}: {error}). "
            f"It says which card is which: `git checkout {LEDGER}` brings it back."
        ) from error
    if not isinstance(content, dict) or not all(isinstance(text, str) for text in content.values()):
        raise IdentityError(f"{path} should be an object of texts: `git checkout {LEDGER}` brings it back.")
    return content


def as_text(named: Mapping[str, str]) -> str:
    """What stands in the ledger for questions with these ids."""
    return json.dumps(named, indent=2, ensure_ascii=False) + "\n"


def identify(texts: Sequence[str], before: Mapping[str, str]) -> list[str]:
    """The id of each text: the one that it had before, though a little was edited; else a fresh one.

    A question that moved, or changed places with another, is known by its text. Of those whose text is new,
    and those that are gone, the most alike belong together, down to `SMALL`. No two texts may be the same.
    """
    words = [words_of(text) for text in texts]
    old = {name: words_of(text) for name, text in before.items()}
    named = dict(_unchanged(words, old))
    gone = {name: old[name] for name in old if name not in named.values()}
    fresh = [place for place in range(len(texts)) if place not in named]
    named |= _edited({place: words[place] for place in fresh}, gone)
    taken = {*before, *named.values()}
    for place in range(len(texts)):
        if place not in named:
            named[place] = _new(words[place], taken)
            taken.add(named[place])
    return [named[place] for place in range(len(texts))]


def small(one: str, other: str) -> bool:
    """Whether an edit from one text to the other leaves the question what it was."""
    return _likeness(words_of(one), words_of(other)) >= SMALL


def same(one: str, other: str) -> bool:
    """Whether two texts have the same words: case, marks and links aside."""
    return words_of(one) == words_of(other)


def _unchanged(
    words: Sequence[tuple[str, ...]], old: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[int, str]]:
    by_words = {text: name for name, text in old.items()}
    for place, text in enumerate(words):
        if text in by_words:
            yield place, by_words.pop(text)


def _edited(fresh: Mapping[int, tuple[str, ...]], gone: Mapping[str, tuple[str, ...]]) -> dict[int, str]:
    """Who belongs together, the most alike first."""
    pairs = [
        (likeness, place, name)
        for place, text in fresh.items()
        for name, before in gone.items()
        if (likeness := _likeness(before, text)) >= SMALL
    ]
    named: dict[int, str] = {}
    for _, place, name in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if place not in named and name not in named.values():
            named[place] = name
    return named


def _new(words: Sequence[str], taken: Collection[str]) -> str:
    """An id by the text, so that who has no ledger comes to the same one."""
    salted = (" ".join([*words, *([str(number)] if number else [])]) for number in count())
    names = (f"question:{hashlib.sha256(text.encode()).hexdigest()[:10]}" for text in salted)
    return next(name for name in names if name not in taken)


def _likeness(one: Sequence[str], other: Sequence[str]) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def words_of(text: str) -> tuple[str, ...]:
    """A text's words, by which it is known: without case, marks and links."""
    return tuple(re.findall(r"\w+", plain(text).casefold()))
