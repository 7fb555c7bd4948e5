"""The course's Markdown where no notebook renders it: as HTML on a card or in Anki, and as plain words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

Target = Literal["notebook", "anki"]

_PICTURE: Final = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
# Leads to a file of the course, or within the page: nowhere, on a card.
_LOCAL: Final = re.compile(r"\[([^\]]*)\]\((?!https?://)[^)\s]*\)")
_LINK: Final = re.compile(r"\[([^\]]*)\]\([^)\s]*\)")
_MARKS: Final = re.compile(r"[*`$]")
# How MathJax finds a formula there: (within a line, on a line of its own).
_MATH: Final[dict[Target, tuple[tuple[str, str], tuple[str, str]]]] = {
    "notebook": (("$", "$"), ("$$", "$$")),
    "anki": ((r"\(", r"\)"), (r"\[", r"\]")),
}


def unlinked(markdown: str) -> str:
    """The same without links that lead into the course, and with pictures named: a card stands elsewhere."""
    return _LOCAL.sub(r"\1", _PICTURE.sub(r"(picture: \1)", markdown))


def plain(markdown: str) -> str:
    """One line of words without marks, as for a label."""
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", _PICTURE.sub(r"\1", markdown))).split())


def html(markdown: str, target: Target = "notebook") -> str:
    """HTML in which every tag is ours: what looks like one in the text is shown as it stands."""
    rendered: str = _reader(target).render(unlinked(markdown))
    return rendered.strip()


@cache
def _reader(target: Target) -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    def math(content: str, options: Mapping[str, Any]) -> str:
        opening, closing = _MATH[target][1 if options["display_mode"] else 0]
        return escape(f"{opening}{content.strip()}{closing}")

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.use(dollarmath_plugin, renderer=math, allow_space=True, allow_digits=True)
    reader.add_render_rule("link_open", _open_link)
    return reader


def _open_link(renderer: Any, tokens: Any, place: int, options: Any, env: Any) -> str:
    """A link opens beside the notebook, not in its place."""
    tokens[place].attrSet("target", "_blank")
    tokens[place].attrSet("rel", "noopener")
    return str(renderer.renderToken(tokens, place, options, env))
