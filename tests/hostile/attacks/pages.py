"""Scripts in whatever a page is made of: what a cell puts out, says of itself, or comes with.

Each calls `owned()`, so a page in which that word is more than text has been crossed. Some also ask a server
of the attacker's for a picture.
"""

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

from ..classroom import RIGHT, Attack
from .cheats import FORGE, UNDO

IMAGE = "<img src=x onerror=owned()>"
SCRIPT = "<script>owned()</script>"
LINK = "$\\href{javascript:owned()}{x}$ $$\\bbox[background:url(http://127.0.0.1:9/owned)]{x}$$"
EVERYTHING = IMAGE + SCRIPT + LINK
_PNG = "iVBORw0KGgo="
MARKDOWN = f"""
{IMAGE}

{SCRIPT}

<svg onload=owned()></svg> <a href="javascript:owned()">here</a> [there](javascript:owned())

<iframe srcdoc="{SCRIPT}">

![seen](http://127.0.0.1:9/owned.png) ![mine](attachment:mine.svg) ![x](attachment:x"onerror="owned())

[x](data:text/html,{SCRIPT}) [y](https://example.org/"onmouseover="owned()) `{IMAGE}` {LINK}

<details ontoggle=owned() open>x</details>
"""


def _metadata(notebook: NotebookNode) -> None:
    notebook.metadata["title"] = EVERYTHING
    notebook.metadata["language_info"] = {"name": f"x'>{IMAGE}", "mimetype": IMAGE, "pygments_lexer": IMAGE}
    notebook.metadata["widgets"] = {
        "application/vnd.jupyter.widget-state+json": {"state": {"x": {"model_name": f"</script>{SCRIPT}"}}}
    }
    notebook.metadata["kernelspec"] = {"name": IMAGE, "display_name": EVERYTHING, "language": IMAGE}
    for cell in notebook.cells[:2]:
        cell.metadata["tags"] = [f'x">{IMAGE}']


def _markdown() -> NotebookNode:
    cell = new_markdown_cell(MARKDOWN)
    cell["attachments"] = {
        "mine.svg": {"image/svg+xml": "<svg xmlns='http://www.w3.org/2000/svg' onload='owned()'/>"},
        'x"onerror="owned()': {'image/png" onerror="owned()': _PNG, "text/html": SCRIPT},
    }
    return cell


def _ours_with_theirs() -> NotebookNode:
    """The instructor's own words, with attachments that are not."""
    cell = new_markdown_cell("## A. **Slots**")
    cell["attachments"] = {"x": {"text/html": SCRIPT}}
    return cell


def shown(tries: str, source: str, after: str = "") -> Attack:
    return Attack(
        tries, f"{RIGHT['causal_mask']}\n{FORGE}\nbad = {EVERYTHING!r}\n{source}", earns=2.0, after=after
    )


COUNTS = """
for content in ({'execution_count': bad, 'code': ''}, ):
    send('execute_input', content)
"""
IN_THE_CHECK = """
def mask(n):
    print(bad)
    send('execute_input', {'execution_count': bad, 'code': ''})
    display({'text/html': bad}, raw=True)
    return torch.ones(n, n, dtype=torch.bool).tril()
"""
PAGES: dict[str, Attack] = {
    "outputs": shown(
        "HTML, SVG, JavaScript, LaTeX, Markdown and widgets as outputs",
        "for kind in ('text/html', 'image/svg+xml', 'application/javascript', 'text/latex', 'text/markdown',"
        " 'application/vnd.jupyter.widget-view+json', 'application/pdf', 'text/plain',"
        " 'x\\\" onerror=owned()'):\n"
        "    display({kind: bad}, raw=True)\n"
        "display({'image/png': 'x\\\" onerror=\\\"owned()', 'image/jpeg': bad}, raw=True)\n"
        "print(bad)",
    ),
    "output's metadata": shown(
        "sizes of a picture that are more than numbers",
        f"display({{'image/png': '{_PNG}', 'text/plain': 'x'}}, raw=True, metadata={{'image/png': "
        "{'width': '1\" onerror=\"owned()', 'height': bad, 'alt': bad}, 'isolated': bad})",
    ),
    "execution count": shown("a number of the cell that is HTML", COUNTS),
    "count of a graded cell": shown("the same, while a check runs", IN_THE_CHECK),
    "names of streams and errors": shown(
        "streams and errors with names of their own",
        "send('stream', {'name': bad, 'text': bad})\n"
        "trace = [bad, '\\x1b[31;\\\"onload=owned()m' + bad]\n"
        "send('error', {'ename': bad, 'evalue': bad, 'traceback': trace})",
    ),
    "a forged report": shown(
        "HTML that looks like the judge's",
        "far.answer = lambda *a, **k: [send('execute_result', {'data': {'text/plain': '2', 'text/html': bad},"
        " 'metadata': {}, 'execution_count': 2}), answer(*a, **k)]",
        after=UNDO,
    ),
    "reasons": Attack(
        "an exception whose name and words are HTML and math",
        f"def mask(n):\n    raise type({EVERYTHING!r}, (Exception,), {{}})({EVERYTHING!r})",
    ),
    "cells": Attack(
        "Markdown, raw cells, attachments and metadata",
        RIGHT["causal_mask"],
        earns=2.0,
        cells=(
            _markdown(),
            new_raw_cell(EVERYTHING),
            _ours_with_theirs(),
            new_code_cell(f"'''{EVERYTHING}'''"),
        ),
        change=_metadata,
    ),
    # the last: no kernel sends that, and with it the notebook is over
    "count of a result": Attack(
        "a number of the result that is HTML",
        f"{FORGE}\nbad = {EVERYTHING!r}\n"
        "send('execute_result', {'data': {'text/plain': 'x'}, 'metadata': {}, 'execution_count': bad})",
    ),
}
