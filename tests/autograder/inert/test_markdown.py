"""A learner's Markdown can be read, and does nothing, whatever renders it next."""

import base64
import html
import re
from typing import Any

import pytest
from nbconvert.filters.markdown_mistune import markdown2html_mistune

from autograder.inert.markdown import inert_html

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\x00" * 8).decode()
HOSTILE = [
    "<script>alert(1)</script>",
    "a\n\n</div></div><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<style>* { display: none }</style>",
    "<form action=https://example.org><input name=x></form>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "[x](java&#115;cript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    r"\[x\](javascript:alert(1)) $$a$$",
    "`[x](javascript:alert(1))`",
    "<javascript:alert(1)>",
    '![x" onerror="alert(1)](attachment:x.png)',
    "![x](https://example.org/who-looks.png)",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    '[x](https://example.org/"onmouseover="alert(1))',
    '[x]: javascript:alert(1)\n\n[x] "title"',
    "$$<script>alert(1)</script>$$",
    "$</div><script>alert(1)</script>$",
    "```\n</code></pre><script>alert(1)</script>\n```",
    '```html" onclick=alert(1)\n<b>\n\n\n</b>\n```',
    "| <script> | b |\n|--|--|\n| <img src=x onerror=alert(1)> | 2 |",
    "\x00<script\x00>alert(1)</script>",
    "<!-- --><script>alert(1)</script>",
    "{{ 7 * 7 }} {% raw %}",
]
TAGS = re.compile(r"<(/?)([a-zA-Z!?][^\s>/]*)([^>]*)>")
ALLOWED = {
    *("div", "p", "code", "pre", "strong", "em", "table", "thead", "tbody", "tr", "th", "td", "a", "img"),
    *("h1", "ul", "ol", "li", "br", "hr", "s", "blockquote"),
}


def tags(page: str) -> list[tuple[str, str]]:
    return [(name.lower(), rest) for _, name, rest in TAGS.findall(page)]


@pytest.mark.parametrize("source", HOSTILE)
@pytest.mark.parametrize("render", [lambda text: text, markdown2html_mistune], ids=["as it is", "nbconvert"])
def test_nothing_of_it_is_more_than_text(source: str, render: Any) -> None:
    page = render(inert_html(source, {"x.png": {"image/png": PNG}}))
    for name, rest in tags(page):
        assert name in ALLOWED
        attributes = dict(re.findall(r'(\w+)="([^"]*)"', rest))
        assert not re.sub(r'\w+="[^"]*"', "", rest).strip(" /")
        assert set(attributes) <= {"href", "rel", "target", "alt", "src"}
        to = html.unescape(attributes.get("href", "https://"))
        assert to.startswith(("https://", "http://", "mailto:"))
        assert attributes.get("src", "data:image/png;base64,").startswith("data:image/png;base64,")


@pytest.mark.parametrize("source", HOSTILE)
def test_nbconvert_finds_no_markdown_in_it(source: str) -> None:
    written = inert_html(source)
    assert "\n" not in written
    assert markdown2html_mistune(written).strip() == written


def test_what_is_written_is_what_is_read() -> None:
    source = (
        "# An answer\n\nWith *two* moments, `x < y` and $a_1 < b_2$:\n\n- [a page](https://example.org/a?b=1)\n"
        "- 10 bytes\n\n```\nfor i in range(3):\n\n    pass\n```\n\n$$\\tau = \\sqrt{2 \\delta M}$$\n"
    )
    page = markdown2html_mistune(inert_html(source))
    names = [name for name, _ in tags(page)]
    for name in ("h1", "em", "code", "ul", "li", "a", "pre"):
        assert name in names
    text = html.unescape(re.sub(r"<[^>]*>", "", page))
    for piece in (
        "An answer",
        "x < y",
        "$a_1 < b_2$",
        "for i in range(3):\n\n    pass",
        r"$$\tau = \sqrt{2 \delta M}$$",
    ):
        assert piece in text
    assert 'href="https&#58;&#47;&#47;example&#46;org' in page


def test_a_picture_that_came_with_the_cell_is_shown_if_it_is_made_of_pixels() -> None:
    attachments = {
        "a.png": {"image/png": PNG},
        "b.png": {"image/png": base64.b64encode(b"<svg onload=alert(1)>").decode()},
        "c.svg": {"image/svg+xml": "<svg onload=alert(1)>"},
    }
    page = inert_html(
        "![one](attachment:a.png) ![two](attachment:b.png) ![three](attachment:c.svg)", attachments
    )
    assert page.count("<img") == 1
    assert f'src="data:image/png;base64,{PNG}"' in page
    assert "picture&#58; two" in page


@pytest.mark.parametrize("word", ["href{javascript:alert(1)}{x}", "require{html}", r"style{color:red}{x}"])
def test_what_tex_can_do_beyond_formulas_it_cannot_do(word: str) -> None:
    for source in (f"$\\{word}$", f"\\\\(\\\\{word}\\\\)", f"text \\{word}"):
        seen = html.unescape(re.sub(r"<[^>]*>", "", inert_html(source)))
        assert not re.search(r"\\(href|require|style)", seen)
    assert r"\sigma \hreflike" in html.unescape(inert_html(r"$\sigma \hreflike$"))
