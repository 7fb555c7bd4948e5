"""Questions as lessons and the files of questions have them."""

import pytest

from lastgood.teaching.study.answers import Choice, Numeric
from lastgood.teaching.study.questions import QuestionError, in_file, in_lesson


def from_lesson(text):
    return in_lesson(text, "lesson:{}".format)


def from_file(root):
    return in_file(root / "course/questions/18.md", root)


def edited(root, before, after):
    path = root / "course/questions/18.md"
    text = path.read_text()
    assert text.count(before) >= 1
    path.write_text(text.replace(before, after, 1))


def test_a_lessons_question_asks_for_words_and_keeps_its_check_whole():
    [one] = from_lesson(
        "Some text.\n\n▢ Why?\n\n<details><summary>Check</summary>\n\nBecause.\n\n- so\n\n</details>\n\n## On"
    )
    assert (one.text, one.check, one.place, one.form) == ("Why?", "Because.\n\n- so", "lesson:3", None)


def test_a_mark_within_a_sentence_or_in_code_asks_nothing():
    assert from_lesson("Paragraphs that begin with ▢ are questions.\n\n```\n▢ no\n```\n") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("▢ Why?\n\nBecause.", "lesson:1: has no Check under it"),
        (
            "▢ Why?\n\n## Next\n\n<details><summary>Check</summary>\n\nSo.\n\n</details>",
            "lesson:1: has no Check",
        ),
        (
            "\n▢ Why?\n\n▢ How?\n\n<details><summary>Check</summary>\n\nSo.\n\n</details>",
            "lesson:2: has no Check",
        ),
        ("▢ Why?\n\n<details><summary>Check</summary>\n\nSo.", "lesson:3: this Check is not closed"),
        ("▢ Why?\n\n<details><summary>Check</summary>\n\n</details>", "lesson:1: the Check is empty"),
        ("▢\n\n<details><summary>Check</summary>\n\nSo.\n\n</details>", "lesson:1: the question is empty"),
    ],
)
def test_a_question_that_is_not_whole_is_an_error_with_its_place(text, said):
    with pytest.raises(QuestionError, match=said):
        from_lesson(text)


def test_a_file_has_numbers_and_options(cards):
    stage, (amount, option) = from_file(cards)
    assert stage == "lesson 18"
    assert amount.text.endswith("How much is written? Answer in GB.")
    assert isinstance(amount.form, Numeric)
    assert (amount.form.right.number, amount.form.right.unit, amount.form.within) == (80.4, "GB", 0.02)
    assert [(wrong.number, why) for wrong, why in amount.form.mistakes] == [
        (13.4, "The moments were left out.")
    ]
    assert option.text == "What makes a rename last, when the power fails?"
    assert isinstance(option.form, Choice)
    assert option.form.options == {"A": "The rename itself.", "B": "A sync of the *folder*."}
    assert option.form.right == "B"
    assert option.form.reasons["A"] == "It is atomic, and that is another thing."
    assert (amount.place, option.place) == ("course/questions/18.md:6", "course/questions/18.md:17")


def test_numbers_may_be_exact_and_bare(cards):
    edited(cards, "Answer in GB.", "Answer with a number.")
    edited(cards, "**80.4 GB**, within 2 %.", "**80**, exactly.")
    edited(cards, "**13.4 GB.**", "**13.**")
    form = from_file(cards)[1][0].form
    assert (form.right.number, form.right.unit, form.within) == (80, "", 0)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("lesson 18", "lesson 19", "18.md:1: the first line should be “# Questions to lesson 18”"),
        ("▢ What makes", "What makes", "18.md:17: stands in no question"),
        ("- **B.** A sync", "- **C.** A sync", "18.md:17: options should be A, B, C and so on"),
        ("- **B.** A sync", "- **A.** A sync", "18.md:17: the option .* stands twice"),
        ("**B.** The name", "**C.** The name", "18.md:17: its Check should begin with the right option"),
        ("**B.** The name", "The name", "18.md:17: its Check should begin with the right option"),
        ("- **A.** It is", "- **B.** It is", r"18.md:17: its Check should explain each wrong option \(A\)"),
        ("- **A.** It is", "- A. It is", "18.md:17: the explanation .* should be"),
        ("Answer in GB.", "Answer me.", "18.md:6: has neither options"),
        ("Answer in GB.", "Answer in TB.", "18.md:6: asks for TB, and its Check has '80.4 GB'"),
        ("**80.4 GB**", "**much**", "18.md:6: 'much' is not a number"),
        (", within 2 %.", ", or so.", "18.md:6: its Check should begin with “.*9.0 GB"),
        ("- **13.4 GB.** The", "- 13.4 GB. The", "18.md:6: .* should be “- .*5.4 GB"),
        ("- **13.4 GB.** The moments were left out.\n", "", "18.md:6: its Check names no mistake"),
        ("13.4 GB", "81 GB", "18.md:6: 81 GB is called a mistake, and is near enough to 80.4 GB"),
    ],
)
def test_a_malformed_question_is_an_error_with_file_and_line(cards, before, after, said):
    edited(cards, before, after)
    with pytest.raises(QuestionError, match=f"^course/questions/{said}"):
        from_file(cards)
