"""A learner's Markdown as HTML that can only be read: no tags of theirs, no scripts, nothing fetched.

The result is one block of HTML on one line, which Markdown passes through, and in which every character of
the learner's but letters, digits and spaces is an entity. So whichever program reads the notebook next, it
finds no Markdown, no math and no tag that is not ours; the page it makes shows the characters themselves, and
MathJax, which reads the page, still finds its dollars.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from functools import cache
from html.parser import HTMLParser
from typing import Any, Final

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from autograder.inert.pictures import as_link

_TAGS: Final = frozenset(
    [
        *(
            "p",
            "br",
            "hr",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "strong",
            "em",
            "s",
            "code",
            "pre",
            "blockquote",
        ),
        *("ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "a", "img"),
    ]
)
_EMPTY: Final = frozenset(("br", "hr", "img"))
# What MathJax's TeX can do beyond setting formulas: links, styles, more of itself. A space disarms it.
_POWERFUL: Final = re.compile(
    r"\\(href|style|class|cssId|data|require|toggle|mmlToken|texttip|unicode)(?![a-zA-Z])"
)
_SCHEMES: Final = ("https://", "http://", "mailto:")


def inert_html(source: str, attachments: Mapping[str, Any] | None = None) -> str:
    """One line of HTML for a Markdown cell. `attachments` are the cell's: name → MIME type → base64."""
    rendered = _reader().render(source)
    writer = _Writer(attachments or {})
    writer.feed(rendered)
    writer.close()
    return f"<div>{''.join(writer.written)}</div>"


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    reader.use(dollarmath_plugin, renderer=_math, allow_space=True, allow_digits=True)
    return reader


def _math(content: str, options: Mapping[str, Any]) -> str:
    """Math as MathJax finds it in a page."""
    mark = "$$" if options["display_mode"] else "$"
    return html.escape(f"{mark}{content}{mark}")


def escaped(text: str) -> str:
    """Text in which nothing but letters, digits and spaces is left to be read as anything."""
    return "".join(c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in text)


class _Writer(HTMLParser):
    """Writes anew what it reads: tags that it knows, with attributes of its own making, and text."""

    def __init__(self, attachments: Mapping[str, Any]) -> None:
        super().__init__(convert_charrefs=True)
        self.written: list[str] = []
        self._attachments = attachments
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _TAGS:
            return
        given = {name: value or "" for name, value in attrs}
        if tag == "img":
            self._picture(given)
            return
        self.written.append(f"<{tag}{self._link(given) if tag == 'a' else ''}>")
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while (last := self._open.pop()) != tag:
                self.written.append(f"</{last}>")
            self.written.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.written.append(escaped(_POWERFUL.sub(r"\\ \1", data)))

    def close(self) -> None:
        super().close()
        self.written += [f"</{tag}>" for tag in reversed(self._open)]

    def _link(self, given: Mapping[str, str]) -> str:
        to = given.get("href", "")
        if not to.lower().startswith(_SCHEMES):
            return ""
        return f' href="{escaped(to)}" rel="nofollow noopener noreferrer" target="&#95;blank"'

    def _picture(self, given: Mapping[str, str]) -> None:
        """A picture that came with the cell. Others are named: to fetch one tells its owner who looks."""
        name = given.get("src", "").removeprefix("attachment:")
        link = as_link(self._attachments.get(name, {}))
        what = escaped(given.get("alt") or name)
        self.written.append(f'<img alt="{what}" src="{link}">' if link else f"&#91;picture&#58; {what}&#93;")
