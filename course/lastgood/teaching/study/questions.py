"""Questions where the course asks them: a paragraph that begins with `▢`, and the Check under it.

Lessons and labs ask for words of one's own. The files `course/questions/NN.md` ask for an option or a number,
and say for each wrong answer what one believes who gives it. Whatever is malformed is an error that names the
place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from lastgood.teaching.study.answers import Amount, AnswerError, Choice, Numeric, close, unit_of

QUESTIONS: Final = Path("course/questions")
MARK: Final = "▢"
CHECK: Final = "<details><summary>Check</summary>"
END: Final = "</details>"

_TITLE: Final = re.compile(r"# Questions to (?P<stage>(?:lesson|lab) (?P<number>\d\d))")
_OPTION: Final = re.compile(r"- \*\*(?P<name>[A-Z])\.\*\* (?P<text>.+)", re.DOTALL)
_RIGHT_OPTION: Final = re.compile(r"\*\*(?P<name>[A-Z])\.\*\* (?P<text>.+)", re.DOTALL)
_ASKED: Final = re.compile(r"Answer (?:in (?P<unit>[^.?!]+)|with a number)\.$")
_AMOUNT: Final = re.compile(
    r"\*\*(?P<amount>[^*]+)\*\*, (?:within (?P<within>[\d.]+) ?%|exactly)\. (?P<why>.+)", re.DOTALL
)
_MISTAKE: Final = re.compile(r"- \*\*(?P<amount>[^*]+?)\.\*\* (?P<why>.+)", re.DOTALL)

Place = Callable[[int], str]


class QuestionError(Exception):
    """A question is not written as it should be; the message says where and what is wrong."""


@dataclass(frozen=True)
class Question:
    """A question as it stands.

    Attributes:
        text: what is asked, in Markdown, without its options.
        check: all that stands in its Check, in Markdown.
        place: where it stands, for people.
        form: what answers it; None for words of one's own.
    """

    text: str
    check: str
    place: str
    form: Choice | Numeric | None = None


@dataclass(frozen=True)
class _Raw:
    """A question's lines, before and inside its Check, each with its number."""

    line: int
    front: list[str]
    check: list[str]


def in_lesson(text: str, place: Place) -> list[Question]:
    """The questions in a lesson's or lab's Markdown. `place` names a line of it. Raises QuestionError."""
    return [_question(raw, place(raw.line)) for raw in _raw(text, place)]


def in_file(path: Path, root: Path) -> tuple[str, list[Question]]:
    """What a file `course/questions/NN.md` is for, "lesson 18", and its questions. Raises QuestionError."""
    name = path.relative_to(root).as_posix()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionError(f"{name} cannot be read: {error}. Get a fresh copy of the course.") from error

    def place(line: int) -> str:
        return f"{name}:{line}"

    title = _TITLE.fullmatch(text.partition("\n")[0].strip())
    if title is None or title["number"] != path.stem:
        raise QuestionError(f"{place(1)}: the first line should be “# Questions to lesson {path.stem}”.")
    _check_nothing_between(text.splitlines(), place)
    found = in_lesson(text, place)
    for question in found:
        if question.form is None:
            raise QuestionError(
                f"{question.place}: has neither options (- **A.** …) nor ends with “Answer in GB.”, in its "
                "unit, or “Answer with a number.”"
            )
    return title["stage"], found


def _raw(text: str, place: Place) -> Iterator[_Raw]:
    lines = text.splitlines()
    starts = [number for number in _outside_code(lines) if lines[number].startswith(MARK)]
    for start, end in pairwise([*starts, len(lines)]):
        block = lines[start:end]
        opened = block.index(CHECK) if CHECK in block else len(block)
        front = [block[0].removeprefix(MARK).strip(), *block[1:opened]]
        if opened == len(block) or any(line.startswith("#") for line in front):
            raise QuestionError(f"{place(start + 1)}: has no Check under it, a line “{CHECK}”.")
        inside = block[opened + 1 :]
        if END not in inside:
            raise QuestionError(f"{place(start + opened + 1)}: this Check is not closed by a line “{END}”.")
        yield _Raw(start + 1, front, inside[: inside.index(END)])


def _outside_code(lines: Sequence[str]) -> Iterator[int]:
    fenced = False
    for number, line in enumerate(lines):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number


def _check_nothing_between(lines: Sequence[str], place: Place) -> None:
    """Between questions stands nothing: what does is a question whose mark was forgotten."""
    within, begun = False, False
    for number, line in enumerate(lines, start=1):
        if line.startswith(MARK):
            within = begun = True
        elif line == END:
            within = False
        elif line.strip() and not within and (begun or line == CHECK):
            raise QuestionError(f"{place(number)}: stands in no question. A question begins with “{MARK} ”.")


def _question(raw: _Raw, place: str) -> Question:
    front, check = _blocks(raw.front), _blocks(raw.check)
    if not front or not front[0] or not check:
        raise QuestionError(f"{place}: the {'Check' if front and front[0] else 'question'} is empty.")
    options = [block for block in front if _OPTION.fullmatch(block)]
    text = "\n\n".join(block for block in front if block not in options)
    whole = "\n".join(raw.check).strip()
    if options:
        return Question(text, whole, place, _choice(options, check, place))
    if asked := _ASKED.search(text):
        return Question(text, whole, place, _numeric((asked["unit"] or "").strip(), check, place))
    return Question(text, whole, place)


def _blocks(lines: Sequence[str]) -> list[str]:
    """Paragraphs and points of a list, each as one text."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if not line.strip() or line.startswith("- "):
            blocks.append([])
        if line.strip():
            blocks[-1].append(line)
    return ["\n".join(block).strip() for block in blocks if block]


def _choice(options: Sequence[str], check: Sequence[str], place: str) -> Choice:
    offered = _named(options, place, "option")
    if list(offered) != [chr(ord("A") + number) for number in range(len(offered))] or len(offered) < 2:
        raise QuestionError(
            f"{place}: options should be A, B, C and so on, at least two; here {', '.join(offered)}."
        )
    right = _RIGHT_OPTION.fullmatch(_answer(check))
    if right is None or right["name"] not in offered:
        raise QuestionError(
            f"{place}: its Check should begin with the right option, such as “**{[*offered][-1]}.** Why …”."
        )
    wrong = _named(_points(check), place, "explanation")
    if wrong.keys() != offered.keys() - {right["name"]}:
        needed = ", ".join(sorted(offered.keys() - {right["name"]}))
        raise QuestionError(
            f"{place}: its Check should explain each wrong option ({needed}) and no other; "
            f"here {', '.join(wrong) or 'none'}."
        )
    return Choice(offered, right["name"], {**wrong, right["name"]: right["text"]})


def _named(points: Sequence[str], place: str, what: str) -> dict[str, str]:
    named: dict[str, str] = {}
    for point in points:
        match = _OPTION.fullmatch(point)
        if match is None or match["name"] in named:
            fault = "stands twice" if match else "should be “- **A.** …”"
            raise QuestionError(f"{place}: the {what} “{point.splitlines()[0]}” {fault}.")
        named[match["name"]] = match["text"]
    return named


def _numeric(unit: str, check: Sequence[str], place: str) -> Numeric:
    match = _AMOUNT.fullmatch(_answer(check))
    if match is None:
        raise QuestionError(
            f"{place}: its Check should begin with “**9.0 GB**, within 2 %. Why …”, or “**9**, exactly. …”."
        )
    right = _amount(match["amount"], unit, place)
    within = float(match["within"]) / 100 if match["within"] else 0.0
    mistakes: list[tuple[Amount, str]] = []
    for point in _points(check):
        mistake = _MISTAKE.fullmatch(point)
        if mistake is None:
            raise QuestionError(
                f"{place}: “{point.splitlines()[0]}” should be “- **5.4 GB.** What was left out.”"
            )
        wrong = _amount(mistake["amount"], unit, place)
        if close(wrong.number, right.number, within):
            raise QuestionError(
                f"{place}: {wrong.text} is called a mistake, and is near enough to {right.text}."
            )
        mistakes.append((wrong, mistake["why"]))
    if not mistakes:
        raise QuestionError(f"{place}: its Check names no mistake, “- **5.4 GB.** What was left out.”")
    return Numeric(right, within, match["why"], tuple(mistakes))


def _amount(text: str, unit: str, place: str) -> Amount:
    try:
        amount = Amount.read(text)
    except AnswerError as error:
        raise QuestionError(f"{place}: {error}") from error
    if unit_of(amount.unit) != unit_of(unit):
        raise QuestionError(
            f"{place}: asks for {unit or 'a bare number'}, and its Check has {amount.text!r}."
        )
    return amount


def _answer(check: Sequence[str]) -> str:
    return "\n\n".join(block for block in check if not block.startswith("- "))


def _points(check: Sequence[str]) -> list[str]:
    return [block for block in check if block.startswith("- ")]
