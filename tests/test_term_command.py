"""The command `lastgood term`."""

import pytest
from typer.testing import CliRunner

from lastgood.cli import app


def term(*words):
    result = CliRunner().invoke(app, ["term", *words])
    return result.exit_code, " ".join(result.output.split())


@pytest.mark.parametrize("words", [("Atomic rename",), ("atomic", "rename"), ("swap",)])
def test_it_explains_a_term_by_any_of_its_names(cards, words):
    code, output = term(*words)
    assert code == 0
    assert output.startswith(
        "Atomic rename. Giving a file its name in one stroke. Also called: atomic replace, swap."
    )
    assert "More exactly. POSIX rename replaces the target." in output
    assert "os.replace in lab 18." in output
    assert "Used in. lesson 18, lab 18" in output
    assert "https://pubs.opengroup.org" in output


def test_a_misspelling_says_what_it_was_taken_for(cards):
    code, output = term("atomc", "renmae")
    assert code == 0
    assert output.startswith("No term is called “atomc renmae”. This is the nearest. Atomic rename.")


def test_one_that_may_be_several_asks_which(cards):
    glossary = cards / "glossary.md"
    glossary.write_text(glossary.read_text().replace("Mean time between failures (MTBF)", "Torn rename"))
    code, output = term("rename")
    assert code == 1
    assert output.endswith("Did you mean one of “Atomic rename”, “Torn rename”?")


def test_one_that_is_not_there_says_where_all_stand(cards):
    code, output = term("kubernetes")
    assert code == 1
    assert output == "There is no term “kubernetes” in the glossary. All terms stand in glossary.md."


def test_a_glossary_that_cannot_be_read_is_told_in_a_line(cards):
    (cards / "glossary.md").write_text("## No anchor\n")
    assert term("fsync") == (
        1,
        'glossary.md:1: “No anchor” has no anchor. Put <a id="…"></a> on the line above its heading.',
    )
