"""Every link of the built pages, followed: to files and anchors of the site, never over the network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
_IMPORTED = re.compile(r"@import|url\(\s*['\"]?(?:https?:)?//", re.IGNORECASE)


class _Page(HTMLParser):
    """What a page links to, what it loads, and what it can be linked by."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.names.update(values[name] for name in ("id", "name") if values.get(name))
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if values.get(_LOADS.get(tag, "")):
            self.loads.append(values[_LOADS[tag]])


def faults(site: Path) -> list[str]:
    """A line for each link that leads nowhere, and for each thing that would be loaded over the network."""
    site = site.resolve()
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    found = [fault for path, page in pages.items() for fault in _faults(path, page, pages, site)]
    sheets = (
        path for path in sorted(site.rglob("*.css")) if _IMPORTED.search(path.read_text(encoding="utf-8"))
    )
    return found + [f"{path.relative_to(site)}: loads something from elsewhere" for path in sheets]


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    page.close()
    return page


def _faults(path: Path, page: _Page, pages: dict[Path, _Page], site: Path) -> Iterator[str]:
    here = path.relative_to(site)
    for address in page.loads:
        parts = urlsplit(address)
        if parts.scheme == "data":
            continue
        if parts.scheme or parts.netloc:
            yield f"{here}: loads {address} over the network"
        elif parts.path and not (path.parent / unquote(parts.path)).is_file():
            yield f"{here}: loads {address}, which is not there"
    for address in page.links:
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.is_relative_to(site) or not target.is_file():
            yield f"{here}: {address} leads to no file of the site"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
            yield f"{here}: {address} leads to no place on that page"
