"""From the course's text twins to the sources of its web pages, which are MyST Markdown."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

import jupytext

from lastgood.exercises import SOLUTION_MARKER

HERE = Path(__file__).resolve().parent

_FRONT_MATTER = re.compile(r"\A---\n.*?^---\n+", re.DOTALL | re.MULTILINE)
_FENCED = re.compile(r"^```(?P<language>[^\n]*)\n(?P<code>.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()(?P<path>[^)\s#]*)(?:#(?P<anchor>[^)\s]+))?(?=\))")
_SCHEME = re.compile(r"[a-z]+:")
_ANCHOR = re.compile(r'^<a id="(?P<name>[^"]+)"></a>$', re.MULTILINE)
_LIVE = re.compile(r"^from lastgood\.teaching\.(?:views|study|environment)\b", re.MULTILINE)
_TITLE = re.compile(r"^# (?P<kind>Lesson|Lab) (?P<number>\d\d)\.", re.MULTILINE)


class SiteError(Exception):
    """A page cannot be made; the message names the file and what is wrong in it."""


def stage(root: Path, target: Path) -> None:
    """Write the sources of all pages of the course at `root` into the folder `target`. Raises SiteError."""
    made = dict(_pages(root))
    where = {source: page for source, (page, _) in made.items()}
    # A link to a notebook means the page of its text twin; one to a released lab that of its master.
    where |= {source.with_suffix(".ipynb"): page for source, page in where.items()}
    where |= {
        PurePosixPath("labs", page.stem, f"{page.stem}.ipynb"): page
        for page in where.values()
        if page.parts[0] == "labs"
    }
    for source, (page, write) in made.items():
        text = write((root / source).read_text(encoding="utf-8"))
        file = target / page
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(relinked(text, source, where), encoding="utf-8")
    (target / "index.md").write_text((HERE / "index.md").read_text(encoding="utf-8"), encoding="utf-8")


def _pages(root: Path) -> Iterator[tuple[PurePosixPath, tuple[PurePosixPath, Callable[[str], str]]]]:
    """Yield what each page is made from, where it goes, and what makes it; paths are relative."""
    for folder, write in (("lessons", lesson), ("questions", lesson)):
        for file in sorted((root / "course" / folder).glob("[0-9][0-9]*.md")):
            yield PurePosixPath("course", folder, file.name), (PurePosixPath(folder, file.name), write)
    for file in sorted((root / "solutions").glob("lab*/lab*.py")):
        yield (
            PurePosixPath("solutions", file.stem, file.name),
            (PurePosixPath("labs", f"{file.stem}.md"), lab),
        )
    yield PurePosixPath("glossary.md"), (PurePosixPath("glossary.md"), glossary)


def lesson(text: str) -> str:
    """A lesson's page: cells that only show something in a kernel become a sentence that says so."""
    text = _FRONT_MATTER.sub("", text)
    title = _TITLE.search(text)
    where = f"{title['kind'].lower()} {title['number']}" if title else "the lesson"

    def cell(fenced: re.Match[str]) -> str:
        if fenced["language"] != "python" or not _LIVE.search(fenced["code"]):
            return fenced[0]
        sentence = f"Here the notebook shows what only a kernel can: open {where} in JupyterLab (`make lab`)."
        return f"```{{note}}\n{sentence}\n```"

    return _FENCED.sub(cell, text)


def glossary(text: str) -> str:
    """The glossary's page: its anchors become targets that Sphinx knows, and misses."""
    return _ANCHOR.sub(r"(\g<name>)=", text)


def lab(text: str) -> str:
    """A lab's page, from its master: what is asked, then the solution, closed."""
    parts = []
    for cell in jupytext.reads(text, fmt="py:percent").cells:
        marks = cell.metadata.get("nbgrader", {})
        source = SOLUTION_MARKER.sub("", cell.source).strip()
        shown = source if cell.cell_type == "markdown" else f"```python\n{source}\n```"
        if marks.get("solution"):
            name = "Solution" if cell.cell_type == "code" else "A good answer"
            shown = f"<details><summary>{name}</summary>\n\n{shown}\n\n</details>"
        parts.append(shown)
    return "\n\n".join(parts) + "\n"


def relinked(text: str, source: PurePosixPath, where: Mapping[PurePosixPath, PurePosixPath]) -> str:
    """The text of a page with its links to files of the course leading to their pages. Raises SiteError."""

    def link(found: re.Match[str]) -> str:
        path, anchor = found["path"], found["anchor"]
        if _SCHEME.match(path):
            return found[0]
        if path:
            there = PurePosixPath(os.path.normpath(source.parent / path))
            if there not in where:
                raise SiteError(f"{source}: the link to {path} leads to nothing that has a page.")
            path = os.path.relpath(where[there], where[source].parent)
        # Targets are known by name wherever they stand, and Sphinx says where one is missing.
        return f"#{anchor}" if anchor else path

    pieces, end = [], 0
    for fenced in _FENCED.finditer(text):
        pieces += [_LINK.sub(link, text[end : fenced.start()]), fenced[0]]
        end = fenced.end()
    return "".join([*pieces, _LINK.sub(link, text[end:])])
