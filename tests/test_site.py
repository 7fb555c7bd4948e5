"""The course as web pages: their sources, their links, and one whole build."""

import importlib.util
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath

import pytest

from docs.site import links, pages
from docs.site.pages import SiteError


def test_a_cell_that_needs_a_kernel_becomes_a_sentence():
    cells = [
        "from lastgood.teaching.views.memory import memory_explorer\n\nmemory_explorer()",
        'from lastgood.teaching.study import reps\n\nreps("08")',
        "print(1 + 1)",
    ]
    text = "---\njupyter: 1\n---\n\n# Lesson 08. What\n\n" + "\n\n".join(
        f"```python\n{cell}\n```" for cell in cells
    )
    page = pages.lesson(text)
    assert page.startswith("# Lesson 08. What")
    assert page.count("open lesson 08 in JupyterLab") == 2
    assert "explorer" not in page
    assert "```python\nprint(1 + 1)\n```" in page


MASTER = """\
# %% [markdown]
# # Lab 18. A lab

# %% nbgrader={"grade": false, "grade_id": "a", "solution": true}
def a():
    ### BEGIN SOLUTION
    return 1
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-a", "points": 1, "solution": false}
check.a(a)

# %% [markdown] nbgrader={"grade": true, "grade_id": "b", "solution": true}
# In words.
"""


def test_a_solution_is_folded_away_and_its_check_is_not():
    page = pages.lab(MASTER)
    folded = "<details><summary>{}</summary>\n\n{}\n\n</details>"
    assert folded.format("Solution", "```python\ndef a():\n    return 1\n```") in page
    assert folded.format("A good answer", "In words.") in page
    assert "\n\n```python\ncheck.a(a)\n```\n\n" in page


LESSON, GLOSSARY = PurePosixPath("course/lessons/18_a.md"), PurePosixPath("glossary.md")
WHERE = {
    LESSON: PurePosixPath("lessons/18_a.md"),
    LESSON.with_suffix(".ipynb"): PurePosixPath("lessons/18_a.md"),
    PurePosixPath("labs/lab18/lab18.ipynb"): PurePosixPath("labs/lab18.md"),
    GLOSSARY: PurePosixPath("glossary.md"),
}


@pytest.mark.parametrize(
    ("link", "becomes"),
    [
        ("18_a.ipynb", "18_a.md"),
        ("../../labs/lab18/lab18.ipynb", "../labs/lab18.md"),
        ("../../glossary.md", "../glossary.md"),
        ("../../glossary.md#mtbf", "#mtbf"),
        ("#mtbf", "#mtbf"),
        ("https://example.org/a#b", "https://example.org/a#b"),
    ],
)
def test_links_to_notebooks_lead_to_pages(link, becomes):
    text = f"See [it]({link}).\n\n```python\nshown[0](nowhere.ipynb)\n```\n"
    assert pages.relinked(text, LESSON, WHERE) == text.replace(link, becomes, 1)


def test_a_link_to_what_has_no_page_is_named():
    with pytest.raises(SiteError, match=r"course/lessons/18_a\.md: the link to 99\.ipynb leads to nothing"):
        pages.relinked("[x](99.ipynb)", LESSON, WHERE)


def test_anchors_of_the_glossary_are_targets():
    assert pages.glossary('<a id="mtbf"></a>\n## MTBF') == "(mtbf)=\n## MTBF"


PAGE = '<p id="here"></p><a href="{}">x</a><img src="{}">'


@pytest.mark.parametrize(
    ("link", "image", "said"),
    [
        ("#here", "a.svg", ""),
        ("sub/b.html#there", "a.svg", ""),
        ("https://example.org", "data:image/png;base64,AA", ""),
        ("#gone", "a.svg", "#gone leads to no place on that page"),
        ("sub/b.html#here", "a.svg", "sub/b.html#here leads to no place"),
        ("c.html", "a.svg", "c.html leads to no file"),
        ("../outside.html", "a.svg", "leads to no file of the site"),
        ("#here", "b.svg", "loads b.svg, which is not there"),
        ("#here", "https://example.org/a.svg", "over the network"),
        ("#here", "//example.org/a.svg", "over the network"),
    ],
)
def test_a_link_that_leads_nowhere_is_named(tmp_path, link, image, said):
    site = tmp_path / "site"
    (site / "sub").mkdir(parents=True)
    (site / "a.svg").touch()
    (tmp_path / "outside.html").touch()
    (site / "a.html").write_text(PAGE.format(link, image))
    (site / "sub/b.html").write_text('<a name="there" href="../a.html#here">x</a>')
    found = links.faults(site)
    assert [fault.startswith("a.html: ") and said in fault for fault in found] == [True] * bool(said)


def test_a_style_that_loads_a_font_from_elsewhere_is_named(tmp_path):
    (tmp_path / "a.css").write_text("@font-face { src: url('https://example.org/a.woff') }")
    assert links.faults(tmp_path) == ["a.css: loads something from elsewhere"]


class Details(HTMLParser):
    """How many answers are folded away, and which of them stand open."""

    closed = opened = 0

    def handle_starttag(self, tag, attrs):
        if tag == "details":
            self.opened += "open" in dict(attrs)
            self.closed += "open" not in dict(attrs)


@pytest.fixture(scope="module")
def site(repository, tmp_path_factory):
    if importlib.util.find_spec("sphinx") is None:
        pytest.skip("Sphinx is not installed; `make site` installs it")
    out = tmp_path_factory.mktemp("pages") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "docs.site", str(out)], cwd=repository, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return out


@pytest.mark.slow
class TestTheBuiltPages:
    def test_there_is_one_for_each_lesson_lab_and_list_of_questions(self, site, repository):
        twins = [
            *(f"lessons/{path.stem}" for path in repository.glob("course/lessons/*.md")),
            *(f"questions/{path.stem}" for path in repository.glob("course/questions/[0-9]*.md")),
            *(f"labs/{path.stem}" for path in repository.glob("solutions/*/lab*.py")),
            "glossary",
            "index",
            "search",
        ]
        assert sorted(f"{twin}.html" for twin in twins) == sorted(
            str(path.relative_to(site)) for path in site.rglob("*.html") if "_static" not in path.parts
        )

    def test_every_term_can_be_linked_by_the_anchor_that_the_glossary_gives_it(self, site, repository):
        anchors = re.findall(r'<a id="([^"]+)"></a>', (repository / "glossary.md").read_text())
        page = (site / "glossary.html").read_text()
        assert len(anchors) > 70
        assert [anchor for anchor in anchors if f'id="{anchor}"' not in page] == []

    def test_answers_are_closed_until_they_are_opened(self, site, repository):
        for name, twin in [
            (
                "lessons/18_what_a_checkpoint_has_to_hold",
                "course/lessons/18_what_a_checkpoint_has_to_hold.md",
            ),
            ("labs/lab18", "solutions/lab18/lab18.py"),
        ]:
            details = Details()
            details.feed((site / f"{name}.html").read_text())
            assert details.opened == 0
            assert details.closed >= (repository / twin).read_text().count("<details>")

    def test_search_finds_a_word_without_a_server(self, site):
        index = (site / "searchindex.js").read_text()
        assert index.startswith("Search.setIndex(")
        assert "sigkil" in index  # the word's stem
        options = (site / "_static/documentation_options.js").read_text()
        assert "SHOW_SEARCH_SUMMARY: false" in options  # a summary would be fetched

    def test_formulas_are_drawn_by_the_browser(self, site):
        page = (site / "lessons/20_how_often_to_save.html").read_text()
        assert page.count("<math") > 30
        assert not re.search(r"<script[^>]*mathjax", page, re.IGNORECASE)

    def test_there_is_a_light_and_a_dark_theme(self, site):
        page = (site / "index.html").read_text()
        assert "theme-toggle" in page
        assert "prefers-color-scheme: dark" in page
        assert "static" not in [path.name for path in Path(site).iterdir()]
