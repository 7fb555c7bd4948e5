"""The cells of a file that says it is a notebook, whatever it holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from autograder.intake.words import mended

CODE, MARKDOWN, RAW = "code", "markdown", "raw"
SOURCE_CHARACTERS: Final = 100_000  # of a cell; a longer one is not taken
_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # as nbformat 4.5 has it
_TAG: Final = re.compile(r"[^,]{1,100}")
_KINDS: Final = {kind: kind for kind in (CODE, MARKDOWN, RAW)} | {"heading": MARKDOWN, "html": MARKDOWN}


@dataclass(frozen=True)
class Cell:
    """A cell as it stands in a file. `id` and `claim`, its grade_id, are empty where it has none."""

    kind: str
    source: str
    id: str = ""
    claim: str = ""
    tags: tuple[str, ...] = ()
    attachments: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)  # all of it, as it was parsed
    too_long: bool = False  # its source was not taken

    @property
    def marks(self) -> Mapping[str, Any]:
        """What it says of itself to nbgrader."""
        return _mapping(self.metadata.get("nbgrader"))

    @property
    def words(self) -> str:
        """Its source, whatever its white space."""
        return " ".join(self.source.split())


def cells_in(top: Mapping[str, Any]) -> Iterator[Cell | None]:
    """The cells of a parsed notebook of any format; None for what is no cell."""
    for given in _given(top):
        yield _cell(given) if isinstance(given, dict) else None


def holds_cells(top: object) -> bool:
    """Whether this could be a notebook."""
    return isinstance(top, dict) and isinstance(top.get("cells", top.get("worksheets")), list)


def _given(top: Mapping[str, Any]) -> Iterator[Any]:
    if isinstance(top.get("cells"), list):
        yield from top["cells"]
        return
    for sheet in top["worksheets"]:  # before nbformat 4
        given = _mapping(sheet).get("cells")
        if isinstance(given, list):
            yield from given


def _cell(given: Mapping[str, Any]) -> Cell | None:
    kind = given.get("cell_type")
    kind = kind if isinstance(kind, str) and kind in _KINDS else RAW
    metadata = _mapping(given.get("metadata"))
    source = _text(given.get("source", given.get("input")))
    if kind == "heading":
        level = given.get("level")
        source = f"{'#' * (level if isinstance(level, int) and 0 < level < 7 else 1)} {source}"
    name, claim = given.get("id"), _mapping(metadata.get("nbgrader")).get("grade_id")
    long = len(source) > SOURCE_CHARACTERS
    return Cell(
        _KINDS[kind],
        "" if long else source,
        name if isinstance(name, str) and _ID.fullmatch(name) else "",
        claim if isinstance(claim, str) else "",
        _tags(metadata.get("tags")),
        _attachments(given.get("attachments")),
        metadata,
        long,
    )


def _text(value: object) -> str:
    if isinstance(value, list):
        value = "".join(part for part in value if isinstance(part, str))
    return mended(value) if isinstance(value, str) else ""


def _tags(value: object) -> tuple[str, ...]:
    tags = value if isinstance(value, list) else []
    return tuple(dict.fromkeys(mended(tag) for tag in tags if isinstance(tag, str) and _TAG.fullmatch(tag)))


def _attachments(value: object) -> dict[str, dict[str, str]]:
    """Pictures that were pasted into a cell: name → MIME type → base64."""
    return {
        mended(name): {mended(kind): _text(data) for kind, data in bundle.items()}
        for name, bundle in _mapping(value).items()
        if isinstance(bundle, dict)
    }


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
