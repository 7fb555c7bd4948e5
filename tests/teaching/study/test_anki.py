"""The deck for Anki, read back as Anki reads it."""

import os
import sqlite3
import zipfile
from contextlib import closing

import pytest

from lastgood.teaching.study.anki import AnkiError, write
from lastgood.teaching.study.cards import cards as read
from lastgood.teaching.study.cards import ledger
from lastgood.teaching.study.identity import LEDGER, as_text


def notes(path):
    """Guid to fields of the notes in a deck."""
    with zipfile.ZipFile(path) as archive, closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(archive.read("collection.anki2"))
        rows = database.execute("SELECT guid, flds, tags, mid FROM notes").fetchall()
    return {guid: (*fields.split("\x1f"), tags.split(), model) for guid, fields, tags, model in rows}


def decks(path):
    with zipfile.ZipFile(path) as archive, closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(archive.read("collection.anki2"))
        return {row[0] for row in database.execute("SELECT DISTINCT did FROM cards")}


@pytest.fixture
def built(cards, tmp_path):
    """Builds the deck of the small course as it stands, and reads it back."""

    def built():
        write(read(cards), tmp_path / "deck.apkg")
        return notes(tmp_path / "deck.apkg")

    return built


def test_every_card_is_a_note(built, cards):
    found = built()
    assert len(found) == len(read(cards)) == 6
    fronts = [front for front, *_ in found.values()]
    assert any("<strong>A.</strong> The rename itself." in front for front in fronts)
    assert {tag for *_, tags, _ in found.values() for tag in tags} == {
        *("lesson18", "lesson20"),
        *("lesson", "questions", "glossary"),
    }


def test_text_is_escaped_and_math_is_ankis(built):
    [check] = [check for front, check, *_ in built().values() if "beside the weights" in front]
    assert check == r'<p>The rest: <span class="math inline">\(m_t\)</span> &lt; all.</p>'


def test_two_builds_have_the_same_notes_and_the_same_deck(built, tmp_path):
    first, deck = built(), decks(tmp_path / "deck.apkg")
    assert built() == first
    assert decks(tmp_path / "deck.apkg") == deck == {1_492_077_153}
    assert {model for *_, model in first.values()} == {1_735_206_481}


def test_a_small_edit_updates_its_note_and_a_large_one_makes_another(built, cards):
    first = built()
    (cards / LEDGER).write_text(as_text(ledger(cards)))
    path = cards / "course/questions/18.md"
    path.write_text(path.read_text().replace("the power fails", "power fails"))
    assert built().keys() == first.keys()
    assert built() != first
    path.write_text(
        path.read_text().replace("What makes a rename last, when power fails?", "Where is a name?")
    )
    assert len(built().keys() - first.keys()) == 1


def test_nothing_is_left_beside_the_deck_or_among_temporary_files(built, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    built()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["cards", "deck.apkg"]


def test_a_deck_that_cannot_be_written_leaves_the_one_before(built, cards, tmp_path, monkeypatch):
    built()
    before = (tmp_path / "deck.apkg").read_bytes()

    def refuse(*_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(AnkiError, match=r"deck\.apkg could not be written: No space left"):
        built()
    assert (tmp_path / "deck.apkg").read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["cards", "deck.apkg"]
