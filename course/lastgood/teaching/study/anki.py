"""The cards as a deck for Anki, which knows each of them again when a later release is imported."""

from __future__ import annotations

import sqlite3
import time
import zipfile
from collections.abc import Iterable
from contextlib import closing, suppress
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lastgood.recovery.disk import write_synced
from lastgood.teaching.study.cards import Card
from lastgood.teaching.study.markup import html

if TYPE_CHECKING:
    from genanki import Deck, Model

# Anki knows deck and kind of note by these: never change them.
_DECK: Final = 1_492_077_153
_MODEL: Final = 1_735_206_481
_CSS: Final = (
    ".card {font-family: sans-serif; font-size: 18px; line-height: 1.45; text-align: left;"
    " max-width: 42em; margin: 0 auto; padding: 0 12px}"
    " code {font-size: .9em} .where {opacity: .7; font-size: .8em}"
)


class AnkiError(Exception):
    """The deck could not be written; the message says why."""


def write(cards: Iterable[Card], out: Path) -> None:
    """Write a deck of these cards, whole or not at all. Raises AnkiError."""
    content = _packed(_deck(cards))
    partial = out.with_name(f".{out.name}.partial")
    try:
        write_synced(partial, content)
        partial.replace(out)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise AnkiError(f"{out} could not be written: {error.strerror or error}.") from error


def _packed(deck: Deck) -> bytes:
    """The deck as a file. Not by genanki's own `write_to_file`, which leaves its database in /tmp."""
    from genanki import Package

    content, moment = BytesIO(), time.time()  # it goes into the notes: Anki takes over what is newer
    with closing(sqlite3.connect(":memory:")) as database, zipfile.ZipFile(content, "w") as archive:
        Package(deck).write_to_db(database.cursor(), moment, count(int(moment * 1000)))
        database.commit()
        archive.writestr("collection.anki2", database.serialize(), zipfile.ZIP_DEFLATED)
        archive.writestr("media", "{}")
    return content.getvalue()


def _deck(cards: Iterable[Card]) -> Deck:
    from genanki import Deck, Note, guid_for

    deck, model = Deck(_DECK, "Lastgood"), _model()
    for card in cards:
        fields = [html(card.whole, "anki"), html(card.check, "anki"), html(card.where, "anki")]
        tags = [f"lesson{card.lesson}", card.where.split()[0]]
        deck.add_note(Note(model=model, fields=fields, tags=tags, guid=guid_for("lastgood", card.id)))
    return deck


def _model() -> Model:
    from genanki import Model

    sides: dict[str, Any] = {
        "name": "Card 1",
        "qfmt": '{{Question}}<div class="where">{{Where}}</div>',
        "afmt": "{{FrontSide}}<hr id=answer>{{Check}}",
    }
    fields = [{"name": name} for name in ("Question", "Check", "Where")]
    return Model(_MODEL, "Lastgood", fields=fields, templates=[sides], css=_CSS)
