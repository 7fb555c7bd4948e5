"""Questions with teeth: their form, their sums, their letters, and that each wrong answer hears why."""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.optim.lr_scheduler import LambdaLR

from lastgood.recovery import interval
from lastgood.teaching.study.answers import Amount, Choice, Numeric
from lastgood.teaching.study.questions import Question, in_file
from lastgood.training.schedule import Schedule

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "course/questions").glob("*.md"))
LESSONS = sorted((ROOT / "course/lessons").glob("[0-9][0-9]_*.md"))
LEDGER = ROOT / "tests/lesson_numbers.toml"
NUMBER = re.compile(r"(?<![\w.,/-])\d+(?:,\d{3})*(?:\.\d+)?")
NAMES = re.compile(r"(?i)\b(?:lesson|lab) \d+|<[^>]*>|`[^`]*`")

each = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)

SCHEDULE = Schedule(peak=1.0, warmup=30, horizon=600, floor=0.1)
THIRD = (220 - 30) / (600 - 30)  # of the decay, at step 220
NORMS = (0.6, 0.8, 2.4)
OPT = 992 * 1.7 / 1000  # TB of one checkpoint
YOUNG = float(interval.young(2, 6 * 60))

# File and number of a question → its answer, and the number that each misconception gives, in their order.
ANSWERS: dict[tuple[str, int], tuple[float, list[float]]] = {
    ("00", 2): (sum(range(1, 6)), [sum(range(5)), sum(min(t + 2, 5) for t in range(5)), 5 * 5]),
    ("00", 3): (math.log(32), [math.log2(32), 32, 1 / 32]),
    ("08", 1): (3 * (2 + 4 + 4 + 4), [3 * (2 + 4 + 2 + 4 + 4), 3 * (2 + 4 + 4), 3 * (2 + 4), 3 * 2]),
    ("08", 4): (0.6 * 2 * 4, [1.0 * 2 * 4, 0.6 * 4, 0.6 * 3 * 4]),
    ("17", 1): (
        SCHEDULE.lr(220),
        [
            Schedule(1.0, 30, 600, floor=0.0).lr(220),
            0.1 + Schedule(1.0, 30, 600, floor=0.0).lr(220),
            1.0 - 0.9 * THIRD,
            0.1 + 0.9 * (1 + math.cos(math.pi * 220 / 600)) / 2,
        ],
    ),
    ("17", 2): (2.4 / math.hypot(*NORMS), [1, 2.4 / sum(NORMS), 2.4 / sum(n**2 for n in NORMS), 0]),
    ("18", 3): (100 * 105 / 2 / 3600, [100 * 105 / 3600, 40 / 3600]),
    ("18", 5): (3 * OPT, [2 * OPT, OPT]),
    ("19", 1): (
        max({300, 350, 400} & {300, 350} & {300, 400}),
        [max({300, 350, 400}), min(max({300, 350, 400}), max({300, 350}), max({300, 400}))],
    ),
    ("19", 4): (8, [3, 6]),  # test_a_supervisor_gives_up_after_as_many_deaths counts them
    ("19", 5): (124 * (1 - 10 / 12), [1 - 10 / 12, 124 * (12 / 10 - 1), 1]),
    ("20", 1): (
        interval.job_mtbf(256, 14),
        [interval.job_mtbf(1, 14), interval.job_mtbf(256, 14) / 24, 14 * 256 / 1000, 24_000 / (14 * 256 * 8)],
    ),
    ("20", 2): (YOUNG, [math.sqrt(2 * 6 * 60), YOUNG + 2, math.sqrt(2 * 2 * 6)]),
    ("20", 4): (30 / 2, [30, 2 * 30, 50]),
}


def questions(path: Path) -> list[Question]:
    return in_file(path, ROOT)[1]


def choices() -> Iterator[tuple[str, Choice]]:
    for path in FILES:
        for number, question in enumerate(questions(path), start=1):
            if isinstance(question.form, Choice):
                yield f"{path.stem}, question {number}", question.form


def test_every_lesson_but_the_welcome_has_questions() -> None:
    assert {path.name[:2] for path in LESSONS} == {path.stem for path in FILES}


@each
def test_a_file_has_enough_questions_of_both_kinds(path: Path) -> None:
    forms = [question.form for question in questions(path)]
    assert len(forms) >= 4
    assert sum(isinstance(form, Choice) for form in forms) >= 2
    assert sum(isinstance(form, Numeric) for form in forms) >= 2
    assert all(len(form.options) >= 3 for form in forms if isinstance(form, Choice))


@each
def test_a_file_is_laid_out_as_the_others(path: Path) -> None:
    """So that it can be read as plain Markdown, and diffs show what was meant."""
    text = path.read_text(encoding="utf-8")
    head, *blocks = text.split("\n\n\n")
    stage = "lab" if path.stem == "00" else "lesson"
    assert re.fullmatch(rf"# Questions to {stage} {path.stem}\n\n[^\n]+\.", head)
    option, point = r"- \*\*[A-D]\.\*\* [^\n]+\n", r"- \*\*[^*\n]+\.\*\* [^\n]+\n"
    for block in blocks:
        whole = (
            rf"▢ [^\n]+(?:\?\n\n(?:{option}){{3,4}}|\? Answer (?:in [^\n]+|with a number)\.\n)"
            rf"\n<details><summary>Check</summary>\n\n\*\*[^\n]+\n\n(?:{point}){{2,}}\n</details>\n?"
        )
        assert re.fullmatch(whole, block), block


def test_every_answer_and_every_misconceptions_number_comes_out() -> None:
    found: dict[tuple[str, int], tuple[Amount, list[Amount]]] = {}
    for path in FILES:
        for number, question in enumerate(questions(path), start=1):
            if isinstance(question.form, Numeric):
                mistakes = [amount for amount, _ in question.form.mistakes]
                found[path.stem, number] = (question.form.right, mistakes)
    assert found.keys() == ANSWERS.keys()
    for place, (right, mistakes) in found.items():
        computed, wrong = ANSWERS[place]
        assert printed(right) == as_printed(computed, right), place
        expected = [as_printed(value, said) for said, value in zip(mistakes, wrong, strict=True)]
        assert [printed(said) for said in mistakes] == expected, place


def printed(amount: Amount) -> str:
    return str(NUMBER.findall(amount.text)[0]).replace(",", "")


def as_printed(value: float, like: Amount) -> str:
    return f"{value:.{len(printed(like).partition('.')[2])}f}"


def test_a_supervisor_gives_up_after_as_many_deaths() -> None:
    """Lesson 19, question 4: by the furthest step so far, with every death counted, and never anew."""
    deaths = (120, 180, 150, 180, 210, 190, 200, 210)
    assert [stops(deaths, anew=True), 3, stops(deaths, anew=False)] == [8, 3, 6]


def stops(deaths: tuple[int, ...], *, anew: bool) -> int:
    furthest = without = 0
    for number, step in enumerate(deaths, start=1):
        without = (0 if anew else without) if step > furthest else without + 1
        furthest = max(furthest, step)
        if without == 3:
            return number
    raise AssertionError("it never stops")


def test_right_letters_are_spread_evenly() -> None:
    letters = Counter(form.right for _, form in choices())
    assert set(letters) >= {"A", "B", "C"}
    assert max(letters[letter] for letter in "ABC") - min(letters[letter] for letter in "ABC") <= 2
    for path in FILES:
        in_one = {form.right for place, form in choices() if place.startswith(path.stem)}
        assert len(in_one) >= 2, path.name


def test_the_right_option_is_not_to_be_told_by_its_length() -> None:
    longest, shortest = [], []
    for place, form in choices():
        lengths = {letter: len(text) for letter, text in form.options.items()}
        right = lengths.pop(form.right)
        if right >= max(lengths.values()):
            longest.append(place)
        if right <= min(lengths.values()):
            shortest.append(place)
    assert longest == []
    assert len(shortest) <= len(list(choices())) / 2, shortest


@each
def test_every_answer_hears_why(path: Path) -> None:
    for question in questions(path):
        form = question.form
        assert isinstance(form, (Choice, Numeric))
        if isinstance(form, Choice):
            reasons = list(form.reasons.values())
        else:
            reasons = [form.why, *(why for _, why in form.mistakes)]
        assert [reason for reason in reasons if len(reason.split()) < 8] == []


def test_nothing_stands_twice() -> None:
    """Neither between files, nor in a lesson: a card that comes twice is no second question."""
    seen = Counter(
        text
        for path in [*FILES, *LESSONS]
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"▢ |- \*\*", line)
        for text in [re.sub(r"^- \*\*[^*]+\*\* |^▢ ", "", line)]
    )
    assert [text for text, times in seen.items() if times > 1] == []


@each
def test_every_number_has_an_origin(path: Path) -> None:
    """That of the lesson, or one of its own; a sum is worked out."""
    ledger = tomllib.loads(LEDGER.read_text(encoding="utf-8"))
    lesson = next(lesson.name for lesson in LESSONS if lesson.name.startswith(path.stem))
    own = ledger[f"questions/{path.name}"]
    numbers = set(NUMBER.findall(NAMES.sub("", path.read_text(encoding="utf-8"))))
    assert sorted(numbers - own.keys() - ledger[lesson].keys()) == [], f"give their origin in {LEDGER.name}"
    assert sorted(own.keys() - numbers) == [], f"no longer printed: take them out of {LEDGER.name}"
    assert sorted(own.keys() & ledger[lesson].keys()) == [], f"the lesson's will do: {LEDGER.name}"
    for number, origin in own.items():
        for text in origin if isinstance(origin, list) else [origin]:
            if text.startswith("="):
                value = eval(text.removeprefix("="), {"math": math, "interval": interval})
                digits = len(number.partition(".")[2])
                assert f"{value:{',' if ',' in number else ''}.{digits}f}" == number, text


def test_torch_does_what_the_questions_say_of_a_scheduler_that_is_built_late() -> None:
    """Lesson 17, question 5: the first rate is that of step 0, the next ones are right."""

    def begin() -> torch.optim.AdamW:
        return torch.optim.AdamW([torch.nn.Parameter(torch.zeros(1))], lr=1.0)

    def rate(step: int) -> float:
        return 1.0 / (step + 1)

    optimizer = begin()
    scheduler = LambdaLR(optimizer, rate)
    for _ in range(5):
        optimizer.step()
        scheduler.step()
    resumed = begin()
    resumed.load_state_dict(optimizer.state_dict())
    late = LambdaLR(resumed, rate)
    late.load_state_dict(scheduler.state_dict())
    first = resumed.param_groups[0]["lr"]
    resumed.step()
    late.step()
    assert [first, resumed.param_groups[0]["lr"]] == [rate(0), rate(6)]


def test_torch_counts_the_updates_of_each_tensor_by_itself() -> None:
    """Lesson 08, questions 4 and 5: a frozen one has no state, and later counts from its own first update."""
    frozen, trained = (torch.nn.Parameter(torch.ones(2), requires_grad=free) for free in (False, True))
    optimizer = torch.optim.AdamW([frozen, trained])
    for _ in range(3):
        trained.sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    assert list(optimizer.state) == [trained]
    frozen.requires_grad_(True)
    (frozen.sum() + trained.sum()).backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    assert [optimizer.state[one]["step"].item() for one in (frozen, trained)] == [1, 4]
