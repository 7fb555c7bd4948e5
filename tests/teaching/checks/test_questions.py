"""Questions with a number or a letter: right within 1 percent, and a foreseen mistake gets its sentence."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from lastgood.teaching.checks.questions import choice, digest, numeric

DOUBLE = numeric(
    "double",
    "D1 Twice",
    lambda n: 2 * n,
    lambda source: [source.randrange(10, 1000)],
    {"That is the number itself.": lambda n: n, "That is its square.": lambda n: n * n},
    worth=2,
    reread="lesson 1, “Numbers”",
)
WHICH = choice("which", "D2 Which", "test/which/", digest("test/which/", "b"), {"a": "Not a.", "c": "Not c."})


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda n: 2 * n, ""),
        (lambda n: 2.009 * n, ""),
        (lambda n: np.float32(2 * n), ""),
        (lambda n: torch.tensor(2 * n), ""),
        (lambda n: 2.03 * n, "which is not it"),
        (lambda n: n, "That is the number itself."),
        (lambda n: n * n, "That is its square."),
        (lambda n: float("nan"), "which is not it"),
        (lambda n: None, "Is a `return` missing?"),
        (lambda n: [n], "a number or a letter is wanted"),
        (lambda n: str(n), "a number is wanted"),
        (lambda n: n / 0, "raised ZeroDivisionError"),
        (lambda: 3, "raised TypeError"),
    ],
)
def test_a_number_is_right_or_its_mistake_is_named(answer: Callable[..., Any], said: str) -> None:
    for seed in range(5):
        report = DOUBLE.run((answer,), seed=seed)
        assert (report.points, report.worth) == (0 if said else 2, 2)
        assert said in " ".join(report.text().split())


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("b", ""),
        (" (B). ", ""),
        ("a", "Not a."),
        ("C)", "Not c."),
        ("d", "one of the letters a, b and c, as text"),
        ("the second", "one of the letters"),
        (2, "one of the letters"),
    ],
)
def test_a_letter_is_right_or_hears_what_speaks_against_it(answer: object, said: str) -> None:
    report = WHICH.run((lambda: answer,))
    assert report.passed is not bool(said)
    assert said in report.text()


def test_only_a_wrong_answer_is_sent_back_to_a_passage() -> None:
    assert "Reread: lesson 1" in DOUBLE.run((lambda n: n,)).text()
    assert "Reread" not in DOUBLE.run((lambda n: 1 / 0,)).text()
