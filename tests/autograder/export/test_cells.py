"""What is shown may be changed, what matches may not, and neither is ever a formula."""

import itertools
import math
import unicodedata

import pytest

from autograder.export.cells import fault_of_id, is_formula, number, shown
from autograder.export.errors import ExportError

FORMULAS = [
    "=1+1",
    "+49 89 1",
    "-2+3",
    "@SUM(A1)",
    '=HYPERLINK("http://x","y")',
    "=cmd|' /C calc'!A0",
    "\t=1",
    "\r=1",
    "\n=1",
    "  =1",
    "\u00a0=1",
    "＝1",  # noqa: RUF001 - a full-width sign
    "Ada;=1",
    "Ada;  =1",
    'Ada",=1',
]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_becomes_text_where_it_is_shown_and_is_refused_as_an_id(text: str) -> None:
    assert not is_formula(shown(text))
    assert fault_of_id(text)


@pytest.mark.parametrize(
    "text", ["Ada", "O'Neill", "Łukasz Żółć", "李小龍", "نگار می‌خواند", 'Jim "J" Lee', "a-b", "x=y", "100%"]
)
def test_ordinary_names_stay_as_they_are(text: str) -> None:
    assert shown(text) == text
    assert fault_of_id(text) == ""


def test_no_mixture_of_nasty_pieces_leaves_a_control_character_or_a_formula() -> None:
    pieces = [
        "=",
        "+",
        "-",
        "@",
        "\t",
        "\r",
        "\n",
        " ",
        ";",
        ",",
        '"',
        "'",
        "a",
        "\0",
        "\x1b",
        "\u2028",
        "\ud800",
    ]
    for mixture in itertools.product(pieces, repeat=3):
        text = shown("".join(mixture))
        assert not is_formula(text), mixture
        assert not {unicodedata.category(char) for char in text} & {"Cc", "Cs", "Zl", "Zp"}, mixture
        assert text == text.strip()
        assert text == shown(text)


@pytest.mark.parametrize(
    ("name", "why"), [("", "empty"), (" ", "empty"), ("a\nb", "line break"), ("a ", "space")]
)
def test_an_id_that_no_import_can_match_is_refused_even_when_formulas_pass(name: str, why: str) -> None:
    assert why in fault_of_id(name, raw=True)


def test_raw_ids_may_be_formulas() -> None:
    assert fault_of_id("-7") != ""
    assert fault_of_id("-7", raw=True) == ""


@pytest.mark.parametrize(
    ("points", "said"),
    [(0, "0"), (-0.0, "0"), (24.0, "24"), (7.5, "7.5"), (1 / 3, "0.33333"), (1e-9, "0"), (12345.0, "12345")],
)
def test_scores_have_no_exponents_and_no_thousands(points: float, said: str) -> None:
    assert number(points) == said


def test_a_decimal_comma_is_only_a_comma() -> None:
    assert number(7.25, ",") == "7,25"


@pytest.mark.parametrize("points", [math.nan, math.inf])
def test_a_score_that_is_no_number_is_refused(points: float) -> None:
    with pytest.raises(ExportError, match="grade that submission again"):
        number(points)
