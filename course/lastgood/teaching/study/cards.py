"""The cards of the course: a question of a lesson or lab, one of `course/questions`, or a term."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lastgood.teaching.study.answers import Choice, Numeric
from lastgood.teaching.study.identity import IdentityError, identify, known, words_of
from lastgood.teaching.study.markup import plain
from lastgood.teaching.study.outline import markdown_cells
from lastgood.teaching.study.questions import QUESTIONS, Question, in_file, in_lesson
from lastgood.teaching.study.terms import Term, terms
from lastgood.workspace import LABS, LESSONS, labs

TERM = "term:"


@dataclass(frozen=True)
class Card:
    """Something to be asked, again and again, at growing intervals.

    Attributes:
        id: what its history is filed under.
        lesson: the number of the lesson, or lab, that it belongs to.
        where: what it is from, in words.
        text: what is asked, in Markdown.
        check: what is revealed, in Markdown.
        form: what answers it; None for words of one's own.
    """

    id: str
    lesson: str
    where: str
    text: str
    check: str
    form: Choice | Numeric | None = None

    @property
    def key(self) -> str:
        """What is asked, in plain words on one line, as it is written down beside its history."""
        return plain(self.text)

    @property
    def whole(self) -> str:
        """What is asked, with the options that there are, in Markdown."""
        options = self.form.options if isinstance(self.form, Choice) else {}
        return "\n".join([self.text, "", *(f"- **{name}.** {text}" for name, text in options.items())])

    @property
    def is_term(self) -> bool:
        """Whether it asks for a term of the glossary."""
        return self.id.startswith(TERM)


def cards(root: Path) -> list[Card]:
    """Every card of the course at `root`, by lesson: its questions, its lab's, then the terms it brings.

    Raises OutlineError, QuestionError, TermError, IdentityError.
    """
    asked = list(_asked(root))
    _check_once([question for _, _, question in asked])
    ids = identify([question.text for _, _, question in asked], known(root))
    found = [
        Card(name, number, where, question.text, question.check, question.form)
        for name, (number, where, question) in zip(ids, asked, strict=True)
    ]
    found += [_of_term(term) for term in terms(root)]
    return sorted(found, key=lambda card: card.lesson)


def ledger(root: Path) -> dict[str, str]:
    """Id to text of the questions as they stand now: what the next release has to know. Raises as `cards`."""
    return {card.id: card.key for card in cards(root) if not card.is_term}


def _asked(root: Path) -> Iterator[tuple[str, str, Question]]:
    """Each question with the number of its lesson and what it is from."""
    for path in sorted((root / LESSONS).glob("[0-9][0-9]_*.ipynb")):
        yield from _in_notebook(path, root, path.name[:2], f"lesson {path.name[:2]}")
    for name in labs(root):
        number = name.removeprefix("lab")
        yield from _in_notebook(root / LABS / name / f"{name}.ipynb", root, number, f"lab {number}")
    for path in sorted((root / QUESTIONS).glob("[0-9][0-9].md")):
        stage, found = in_file(path, root)
        yield from ((path.stem, f"questions to {stage}", question) for question in found)


def _in_notebook(path: Path, root: Path, number: str, where: str) -> Iterator[tuple[str, str, Question]]:
    for cell, text in markdown_cells(path):
        place = partial("{}, cell {}, line {}".format, path.relative_to(root).as_posix(), cell)
        yield from ((number, where, question) for question in in_lesson(text, place))


def _check_once(questions: list[Question]) -> None:
    """Two questions in the same words would be one card."""
    seen: dict[tuple[str, ...], Question] = {}
    for question in questions:
        earlier = seen.setdefault(words_of(question.text), question)
        if earlier is not question:
            raise IdentityError(f"{question.place} asks the same as {earlier.place}: one of them is enough.")


def _of_term(term: Term) -> Card:
    check = "\n\n".join([term.plain, term.exactly, f"*Not to be confused with:* {term.confused}"])
    # It belongs where it is met first: a lesson, or else a lab.
    first = min(term.used_in, key=lambda name: (name.startswith("lab"), name), default="00")
    return Card(f"{TERM}{term.id}", first[-2:], "glossary", f"**{term.title}**: what does it mean?", check)
