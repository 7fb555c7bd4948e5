"""The course's Markdown where no notebook renders it."""

import pytest

from lastgood.teaching.study.markup import html, plain, unlinked


@pytest.mark.parametrize(
    ("markdown", "target", "said"),
    [
        ("**So** *it* is `x`.", "notebook", "<p><strong>So</strong> <em>it</em> is <code>x</code>.</p>"),
        ("$a < b$", "notebook", '<span class="math inline">$a &lt; b$</span>'),
        ("$a < b$", "anki", r'<span class="math inline">\(a &lt; b\)</span>'),
        ("$$m_t$$", "anki", r"\[m_t\]"),
        ("<script>alert(1)</script>", "anki", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ("{{Question}} & so", "notebook", "<p>{{Question}} &amp; so</p>"),
        ("[fsync](../../glossary.md#fsync), [s](#s)", "anki", "<p>fsync, s</p>"),
        (
            "[paper](https://arxiv.org/abs/2205.01068)",
            "notebook",
            '<p><a href="https://arxiv.org/abs/2205.01068" target="_blank" rel="noopener">paper</a></p>',
        ),
        ("![a curve](curve.svg)", "notebook", "<p>(picture: a curve)</p>"),
        ("[x](javascript:alert(1))", "notebook", "x"),
    ],
)
def test_it_becomes_html_in_which_every_tag_is_ours(markdown, target, said):
    assert said in html(markdown, target)
    assert "<script" not in html(markdown, target)


def test_labels_are_plain():
    assert plain("A *sync* of\nthe `folder` [now](x.md), $m$") == "A sync of the folder now, m"


def test_addresses_in_the_world_stay():
    assert unlinked("[a](https://x.org) [b](c.md)") == "[a](https://x.org) b"
