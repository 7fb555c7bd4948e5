"""What an answer is told."""

import pytest

from lastgood.teaching.study.answers import Amount, AnswerError, Choice, Numeric

CHOICE = Choice({"A": "this", "B": "that"}, "B", {"A": "Not this, because.", "B": "That, because."})
NUMERIC = Numeric(
    Amount.read("9.0 GB"), 0.02, "Twelve bytes.", ((Amount.read("5.4 GB"), "Moments left out."),)
)
EXACT = Numeric(Amount.read("15"), 0.0, "Count.", ((Amount.read("10"), "The diagonal."),))


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("9", 9, ""),
        ("9.0 GB", 9, "GB"),
        (" 9,5h ", 9.5, "h"),
        ("1,024 MiB", 1024, "MiB"),
        ("1,234,567.5", 1234567.5, ""),
        ("0,125", 0.125, ""),
        ("-3", -3, ""),
        ("\u22123", -3, ""),
        ("1e9 bytes", 1e9, "bytes"),
        (".5", 0.5, ""),
        ("4 %", 4, "%"),
    ],
)
def test_numbers_are_read_as_people_write_them(text, number, unit):
    amount = Amount.read(text)
    assert (amount.number, amount.unit) == (number, unit)


@pytest.mark.parametrize("text", ["", "many", "GB", "1.2.3", "nan", "inf", "--3", "1,23,4"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(AnswerError, match="is not a number"):
        Amount.read(text)


@pytest.mark.parametrize("letter", ["B", "b", " b. "])
def test_the_right_option_is_told_why(letter):
    verdict = CHOICE.judge(letter)
    assert verdict.right
    assert verdict.words == "Right. **B.** That, because."


def test_a_wrong_option_is_told_why_not_before_it_is_told_which_is_right():
    verdict = CHOICE.judge("a")
    assert not verdict.right
    assert verdict.words == "Not A. Not this, because.\n\nRight is **B.** That, because."


@pytest.mark.parametrize("letter", ["C", "", "this"])
def test_an_option_that_is_not_offered_is_refused(letter):
    with pytest.raises(AnswerError, match="A, B"):
        CHOICE.judge(letter)


@pytest.mark.parametrize(
    ("text", "right"), [("9", True), ("9.18 GB", True), ("8.82", True), ("9.19", False), ("9 gb", True)]
)
def test_a_number_is_right_within_its_bound(text, right):
    assert NUMERIC.judge(text).right is right


@pytest.mark.parametrize(("text", "right"), [("15", True), ("15.0", True), ("15.1", False)])
def test_exactly_means_exactly(text, right):
    assert EXACT.judge(text).right is right


def test_a_number_that_a_misconception_gives_is_told_which_one():
    assert "Moments left out." in NUMERIC.judge("5.38 GB").words
    assert NUMERIC.judge("7").words == "Not 7.\n\nRight is **9.0 GB**, within 2 %. Twelve bytes."


@pytest.mark.parametrize(("text", "said"), [("9000 MB", "in another unit"), ("much", "not a number")])
def test_what_cannot_be_judged_says_what_to_type(text, said):
    with pytest.raises(AnswerError, match=f"{said}.*Answer with a number, in GB"):
        NUMERIC.judge(text)
