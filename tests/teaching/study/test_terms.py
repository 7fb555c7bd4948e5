"""The glossary as data, and terms found by what a person remembers of them."""

import pytest

from lastgood.teaching.study.terms import TermError, find, terms


def test_an_entry_is_read_whole(cards):
    rename, mtbf = terms(cards)
    assert (rename.id, rename.title, rename.line) == ("atomic-rename", "Atomic rename", 4)
    assert rename.plain == "Giving a file its name in one stroke."
    assert rename.exactly == "POSIX `rename` replaces the target."
    assert rename.confused == "Copying."
    assert rename.aliases == ("atomic replace", "swap")
    assert rename.see_also == ("Mean time between failures (MTBF)",)
    assert rename.used_in == ("lesson 18", "lab 18")
    assert rename.source.startswith("POSIX, [rename](https://")
    assert (mtbf.aliases, mtbf.source) == ((), "")


def test_a_course_without_a_glossary_has_no_terms(tmp_path):
    assert terms(tmp_path) == []


def test_the_courses_own_glossary_is_read_to_the_last_entry(repository):
    found = terms(repository)
    text = (repository / "glossary.md").read_text(encoding="utf-8")
    assert [term.title for term in found] == [
        line[3:] for line in text.splitlines() if line.startswith("## ")
    ]
    assert all(find(name, found).term == term for term in found for name in (term.title, term.id))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("**More exactly.** Time", "Time", r"glossary\.md:23: “Mean .*” has no line \*\*More exactly\.\*\*"),
        ('<a id="mtbf"></a>\n', "", r"glossary\.md:22: “Mean .*” has no anchor"),
    ],
)
def test_an_entry_that_is_not_whole_is_named_with_its_line(cards, before, after, said):
    glossary = cards / "glossary.md"
    glossary.write_text(glossary.read_text().replace(before, after))
    with pytest.raises(TermError, match=said):
        terms(cards)


def test_a_glossary_that_is_no_text_is_named(cards):
    (cards / "glossary.md").write_bytes(b"\xff\xfe")
    with pytest.raises(TermError, match=r"glossary\.md cannot be read"):
        terms(cards)


@pytest.mark.parametrize(
    "word",
    [
        "Atomic rename",
        "atomic-rename",
        "ATOMIC RENAMES",
        " atomic  rename ",
        "atomicrename",
        "swap",
        "Atomic replace",
    ],
)
def test_a_term_is_found_by_its_names_however_written(cards, word):
    match = find(word, terms(cards))
    assert match.term.id == "atomic-rename"
    assert match.exact


@pytest.mark.parametrize(
    "word", ["MTBF", "mtbf", "mean time between failures", "Mean time between failures (MTBF)"]
)
def test_brackets_in_a_title_may_be_left_out_and_their_abbreviation_is_a_name(cards, word):
    assert find(word, terms(cards)).term.id == "mtbf"


@pytest.mark.parametrize(
    ("word", "found"), [("rename", "atomic-rename"), ("atomci renaem", "atomic-rename"), ("mtfb", "mtbf")]
)
def test_a_word_of_its_name_or_a_misspelling_finds_it_and_is_not_called_exact(cards, word, found):
    match = find(word, terms(cards))
    assert match.term is not None or [term.id for term in match.near] == [found]
    assert not match.exact


@pytest.mark.parametrize("word", ["", "?!", "quantum gravity", "kubernetes"])
def test_what_nothing_is_like_finds_nothing(cards, word):
    match = find(word, terms(cards))
    assert (match.term, match.near) == (None, ())


def test_a_word_that_several_terms_share_names_them_all(cards):
    glossary = cards / "glossary.md"
    glossary.write_text(glossary.read_text().replace("Mean time between failures (MTBF)", "Torn rename"))
    match = find("rename", terms(cards))
    assert match.term is None
    assert [term.title for term in match.near] == ["Atomic rename", "Torn rename"]
