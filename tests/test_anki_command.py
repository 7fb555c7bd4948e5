"""The command `lastgood anki`."""

import zipfile

from typer.testing import CliRunner

from lastgood.cli import app


def anki(*arguments):
    return CliRunner().invoke(app, ["anki", *arguments])


def test_it_writes_a_deck_into_the_current_folder(cards):
    result = anki()
    assert result.exit_code == 0
    assert "Wrote 6 cards to lastgood.apkg. In Anki: File, Import." in result.output
    assert zipfile.ZipFile(cards / "lastgood.apkg").testzip() is None


def test_it_writes_where_it_is_told_to_and_again(cards, tmp_path):
    assert anki("--out", str(tmp_path / "a.apkg")).exit_code == 0
    assert anki("--out", str(tmp_path / "a.apkg")).exit_code == 0
    assert not (cards / "lastgood.apkg").exists()


def test_a_folder_that_is_not_there_is_told(cards):
    result = anki("--out", "none/a.apkg")
    assert result.exit_code == 1
    assert result.output == "none/a.apkg could not be written: No such file or directory.\n"


def test_a_malformed_question_is_told_with_its_place(cards):
    (cards / "course/questions/18.md").write_text("# Questions\n")
    result = anki()
    assert result.exit_code == 1
    assert result.output.startswith("course/questions/18.md:1: the first line should be")
